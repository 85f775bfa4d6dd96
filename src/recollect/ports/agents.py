"""Where the settings of agents are kept that go before the settings file."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol


class AgentOverlays(Protocol):
    """What was set for agents, by their names."""

    async def put(self, name: str, settings: Mapping[str, Any], now: datetime) -> None: ...

    async def delete(self, name: str) -> bool:
        """Remove what was set for an agent; return whether there was something."""
        ...

    async def names(self) -> frozenset[str]:
        """Return the agents for which something was set."""
        ...

    async def has_memory(self, name: str) -> bool:
        """Return whether this store holds records or turns of an agent."""
        ...
