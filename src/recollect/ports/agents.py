"""Settings of agents in the database, which override the settings file."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol


class AgentOverlays(Protocol):
    """Overrides of the settings of agents, by name."""

    async def put(self, name: str, settings: Mapping[str, Any], now: datetime) -> None: ...

    async def delete(self, name: str) -> bool:
        """Remove the overrides of an agent; return whether there were any."""
        ...

    async def names(self) -> frozenset[str]:
        """Return the agents that have overrides."""
        ...

    async def has_memory(self, name: str) -> bool:
        """Return whether this store holds records or turns of an agent."""
        ...
