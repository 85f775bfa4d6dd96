"""What upkeep reads, from several stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain

from recollect.backends.split.reading import read_each, summed
from recollect.domain.record import Record
from recollect.domain.relation import Conflict
from recollect.domain.scope import Holding, Scope, split
from recollect.domain.stats import HealthFigures
from recollect.domain.times import to_micros
from recollect.domain.upkeep import Selection, Worth
from recollect.ports.upkeep import UpkeepReader


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitUpkeep:
    """Reads every scope from the store that holds it; what names no scopes is read at home."""

    home: UpkeepReader
    holding: Holding[UpkeepReader]

    async def select(
        self, selection: Selection, *, after: str = "", limit: int | None = None
    ) -> list[Record]:
        if selection.scopes is None:
            return await self.home.select(selection, after=after, limit=limit)
        found = [
            await reader.select(replace(selection, scopes=some), after=after, limit=limit)
            for reader, some in split(selection.scopes, self.holding)
        ]
        if len(found) == 1:
            return found[0]
        return sorted(chain(*found), key=lambda record: record.id)[:limit]

    async def crowded(
        self, scopes: Sequence[Scope] | None, more_than: int, *, now: datetime
    ) -> Mapping[Scope, int]:
        if scopes is None:
            return await self.home.crowded(None, more_than, now=now)
        crowded: dict[Scope, int] = {}
        for reader, some in split(scopes, self.holding):
            crowded |= await reader.crowded(some, more_than, now=now)
        return crowded

    async def worths(self, scope: Scope, *, now: datetime) -> list[Worth]:
        return await self.holding(scope).worths(scope, now=now)

    async def conflicts(
        self, scopes: Sequence[Scope], *, ids: Sequence[str] | None = None
    ) -> list[Conflict]:
        found = await read_each(
            scopes, ids, self.holding, lambda reader, some: reader.conflicts(some, ids=ids)
        )
        if len(found) == 1:
            return found[0]
        return sorted(chain(*found), key=_latest, reverse=True)

    async def figures(self, scopes: Sequence[Scope], *, now: datetime) -> HealthFigures:
        places = split(scopes, self.holding)
        return _together([await reader.figures(some, now=now) for reader, some in places])


def _together(figures: Sequence[HealthFigures]) -> HealthFigures:
    if len(figures) == 1:
        return figures[0]
    total = sum(it.total for it in figures)
    confidence = sum(it.total * (it.mean_confidence or 0) for it in figures)
    return HealthFigures(
        total=total,
        mean_confidence=confidence / total if total else None,
        by_kind=summed(it.by_kind for it in figures),
        buffered=sum(it.buffered for it in figures),
        quarantined=sum(it.quarantined for it in figures),
        expired=sum(it.expired for it in figures),
        expired_by=summed(it.expired_by for it in figures),
        conflicts=sum(it.conflicts for it in figures),
        fullest=max((it.fullest for it in figures), default=0),
    )


def _latest(conflict: Conflict) -> tuple[int, str]:
    return to_micros(conflict.created_at), conflict.id
