"""What upkeep reads: records by their state and age, what they are worth, conflicts, figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from recollect.domain.conflict import Conflict
from recollect.domain.health import HealthFigures
from recollect.domain.record import Record
from recollect.domain.scope import Scope
from recollect.domain.upkeep import Selection, Worth


class UpkeepReader(Protocol):
    """Only reads. What a selection without scopes asks for is everybody's: for sweeps alone."""

    async def select(
        self, selection: Selection, *, after: str = "", limit: int | None = None
    ) -> list[Record]:
        """Records by id, from the first one after `after`."""
        ...

    async def crowded(
        self, scopes: Sequence[Scope] | None, more_than: int, *, now: datetime
    ) -> Mapping[Scope, int]:
        """The scopes with more active records than that, and how many they have."""
        ...

    async def worths(self, scope: Scope, *, now: datetime) -> list[Worth]:
        """What tells how much each active record of a scope is worth."""
        ...

    async def conflicts(
        self, scopes: Sequence[Scope], *, ids: Sequence[str] | None = None
    ) -> list[Conflict]:
        """Open conflicts between active records, the latest first; with ids those, open or not."""
        ...

    async def figures(self, scopes: Sequence[Scope], *, now: datetime) -> HealthFigures:
        """What is counted in these scopes."""
        ...
