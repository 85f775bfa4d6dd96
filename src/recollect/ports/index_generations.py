"""Index generations: units of a newer analyzer, built beside those that are in use.

For a background job, across all scopes. Never reachable from a caller's scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from recollect.domain.archive import Archive
from recollect.domain.document import Document
from recollect.domain.record import Record
from recollect.domain.scope import Scope
from recollect.domain.turn import Turn
from recollect.domain.unit import OwnerUnits


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """The next owners of a scope whose units are to be built, after one unit and up to another."""

    owners: Sequence[Record | Turn | Archive | Document]
    after: int
    up_to: int


class Editions(Protocol):
    """Keeps track of which units are in use in each scope, and which are being built."""

    async def is_current(self, analyzer: str) -> bool:
        """Return whether only units of this analyzer exist."""
        ...

    async def stale(self, analyzer: str) -> Scope | None:
        """Return a scope that uses units of another analyzer, preferring one that is begun."""
        ...

    async def count_stale(self, analyzer: str) -> int:
        """Return the number of units of other analyzers that are in use."""
        ...

    async def left(self, scope: Scope, analyzer: str, *, limit: int) -> Left | None:
        """Return the next owners without new units, including those written meanwhile.

        Return None also if this analyzer has nothing to do there.
        """
        ...

    async def add(
        self, scope: Scope, analyzer: str, left: Left, units: Sequence[OwnerUnits]
    ) -> None:
        """Add new units of these owners, with the vectors of the old ones.

        An owner without new units keeps its old ones. An owner that was changed or removed
        meanwhile is skipped, and so is everything if another worker was faster.
        """
        ...

    async def switch(self, scope: Scope, analyzer: str) -> bool:
        """Use this analyzer's units from now on, in one step that all readers see.

        If any owner is left, nothing changes.
        """
        ...

    async def discard(self, analyzer: str, *, limit: int) -> int:
        """Remove some units that were replaced or left by another analyzer; return how many."""
        ...
