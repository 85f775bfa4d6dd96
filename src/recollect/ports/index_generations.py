"""Units that a newer analyzer makes of a whole scope, beside those that answer meanwhile.

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
    """The next owners of a scope whose units are to be made: after this unit, up to that."""

    owners: Sequence[Record | Turn | Archive | Document]
    after: int
    up_to: int


class Editions(Protocol):
    """The book of which units answer in which scope, and of those beside them."""

    async def is_current(self, analyzer: str) -> bool:
        """Whether only units of this analyzer answer, and none are beside."""
        ...

    async def stale(self, analyzer: str) -> Scope | None:
        """A scope in which units of another analyzer answer, one that is begun before others."""
        ...

    async def count_stale(self, analyzer: str) -> int:
        """How many units of other analyzers answer."""
        ...

    async def left(self, scope: Scope, analyzer: str, *, limit: int) -> Left | None:
        """The next owners that are not beside yet, also those written meanwhile.

        None too when this analyzer has nothing to do there.
        """
        ...

    async def add(
        self, scope: Scope, analyzer: str, left: Left, units: Sequence[OwnerUnits]
    ) -> None:
        """Put the units of those owners beside the others, with the vectors that these have.

        An owner of whom none are given keeps the ones it has. One that has changed or is gone
        by now is passed over, and so is all of it when another worker has done it already.
        """
        ...

    async def switch(self, scope: Scope, analyzer: str) -> bool:
        """Let this analyzer's units answer from now on, in one step that all readers see.

        Not if any owner is left: then nothing changes.
        """
        ...

    async def discard(self, analyzer: str, *, limit: int) -> int:
        """Remove some units that were replaced, or that another analyzer had begun; how many."""
        ...
