"""Keyword search over units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from recollect.domain.filters import Filter, OwnerKind
from recollect.domain.scope import Scope
from recollect.domain.stats import IndexStats


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitMatch:
    """A unit that matched: raw score, calibrated similarity in [0, 1], and its own terms.

    `terms` are the keys of all its terms as they are stored, 8 bytes each: only the few units that
    are shown are looked into.
    """

    unit: int
    owner_kind: OwnerKind
    owner_id: str
    ordinal: int
    span: tuple[int, int]
    raw: float
    score: float
    terms: bytes


class UnitIndex(Protocol):
    """BM25 over the units of the given scopes, never over anybody else's."""

    async def search(
        self,
        scopes: Sequence[Scope],
        terms: Sequence[int],
        limit: int,
        *,
        now: datetime,
        within: Filter | None = None,
    ) -> list[UnitMatch]:
        """The best units for these term keys, best first; with `within`, only owners it accepts."""
        ...

    async def recent(
        self, scopes: Sequence[Scope], since: datetime, limit: int, *, now: datetime
    ) -> list[UnitMatch]:
        """What happened last, newest first; the score falls from 1 now to 0 at `since`."""
        ...

    async def rank(self, terms: Sequence[int], texts: Sequence[Sequence[int]]) -> list[float]:
        """Calibrated scores of texts that are not in the index, ranked among themselves."""
        ...

    def stats(self) -> IndexStats: ...
