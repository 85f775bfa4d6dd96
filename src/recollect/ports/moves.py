"""Moving the memory of an agent from one store to another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from recollect.domain.access import AgentMove
from recollect.domain.job import Progress
from recollect.domain.scope import Caller


class AgentMoves(Protocol):
    """Moves agents between stores, while they are in use.

    A `place` holds the settings of an agent that say where its store is.
    """

    async def move(
        self, caller: Caller, agent: str, place: Mapping[str, Any], progress: Progress | None
    ) -> AgentMove:
        """Copy the memory, compare both sides, and let the new store serve."""
        ...

    async def begin(self, caller: Caller, agent: str, place: Mapping[str, Any]) -> None:
        """Have a background job do the same."""
        ...

    async def try_store(self, agent: str, place: Mapping[str, Any]) -> None:
        """Open the store of a place once; raise what is wrong with it."""
        ...

    async def purge(self, caller: Caller, agent: str) -> int:
        """Erase the copies that do not serve; return how many rows."""
        ...

    async def known(self) -> Mapping[str, AgentMove]:
        """Return the moves that are going on, and those whose old copy is kept, by agent."""
        ...

    async def follow(self) -> None:
        """Learn what other processes have set for agents, and where they have moved them."""
        ...
