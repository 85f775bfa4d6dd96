"""Changes laid over a store without writing them: what a recall would find if they were saved."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Final

import numpy as np

from recollect.domain.change import ChangeSet, Committed
from recollect.domain.embedding import EmbeddingModel
from recollect.domain.filters import Filter
from recollect.domain.hit import Standing
from recollect.domain.page import Cursor
from recollect.domain.record import Record, Version
from recollect.domain.relation import Link
from recollect.domain.scope import Scope
from recollect.domain.stats import IndexStats, StoreCounts
from recollect.domain.times import to_micros
from recollect.domain.turn import Turn
from recollect.domain.unit import RECORD, UNIT_OWNERS, OwnerUnits, Unit
from recollect.ports.runtime import Clock
from recollect.ports.store import Store
from recollect.ports.units import (
    KnownTerms,
    Matches,
    MoreUnits,
    Nearest,
    Terms,
    UnitIndex,
    UnitRows,
    Vector,
    VectorIndex,
)

# Above the number of every stored unit; each tried owner has room for this many.
_FIRST_UNIT: Final = 1 << 61
_UNITS_PER_OWNER: Final = 1 << 20
_KIND: Final = UNIT_OWNERS.index(RECORD)
_DAY_MICROS: Final = 86_400_000_000


class Tried:
    """The changes that are tried: records as they would be, and their units."""

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}
        self.units: dict[str, OwnerUnits] = {}
        self.model: EmbeddingModel | None = None

    def take(self, changes: ChangeSet, now: datetime) -> None:
        """Take the records and units of a change set instead of writing it."""
        for change in changes.records:
            self.records[change.record.id] = change.record.evolve(recorded_at=now)
        self.units |= {owner.owner_id: owner for owner in changes.units}
        self.model = changes.model or self.model

    def among(self, scopes: Sequence[Scope]) -> list[Record]:
        """Return the tried records of these scopes."""
        return [record for record in self.records.values() if record.scope in scopes]

    def standing(self, record: Record, own: Scope) -> Standing:
        """Return what scoring needs of a tried record."""
        return Standing(
            observed_at=record.observed_at,
            load=partial(_itself, record),
            kind=record.kind,
            category=record.category,
            source=record.source,
            confidence=record.confidence,
            helped=record.helped,
            rejected=record.rejected,
            accessed=record.access_count,
            is_of_others=record.scope.agent not in (None, own.agent),
        )

    def numbered(
        self, scopes: Sequence[Scope], now: datetime, within: Filter | None = None
    ) -> list[_Numbered]:
        """Return the units of the tried records that a search in these scopes may find."""
        return [
            _Numbered(_FIRST_UNIT + place * _UNITS_PER_OWNER + unit.ordinal, owner, unit)
            for place, owner in enumerate(self.units.values())
            if owner.scope in scopes and self._is_wanted(owner.owner_id, now, within)
            for unit in owner.units
        ]

    def terms_of(self, numbers: Collection[int]) -> dict[int, frozenset[int]]:
        """Return the terms of those of these units that are tried ones."""
        owners = list(self.units.values())
        found: dict[int, frozenset[int]] = {}
        for number in numbers:
            place, ordinal = divmod(number - _FIRST_UNIT, _UNITS_PER_OWNER)
            if 0 <= place < len(owners):
                found[number] = frozenset(owners[place].units[ordinal].terms)
        return found

    def _is_wanted(self, record_id: str, now: datetime, within: Filter | None) -> bool:
        record = self.records.get(record_id)
        return record is not None and (within or Filter()).accepts_record(record, now)


@dataclass(frozen=True, slots=True)
class _Numbered:
    """A tried unit with a number of its own."""

    number: int
    owner: OwnerUnits
    unit: Unit

    @property
    def row(self) -> tuple[int, ...]:
        """Return it in the order of `ports.units.COLUMNS`."""
        setting, unit = self.owner.setting, self.unit
        return (
            *(self.number, _KIND, unit.ordinal, unit.start, unit.end),
            *(to_micros(self.owner.observed_at), setting.cluster, setting.place),
            *(setting.speaker, int(setting.traits), setting.size, setting.variety),
        )


def _rows(units: Sequence[_Numbered]) -> UnitRows:
    return UnitRows.of([it.row for it in units], [it.owner.owner_id for it in units])


def _itself(record: Record) -> Record:
    return record


class TriedStore:
    """A `Store` as it would be with the changes; a commit adds to them and writes nothing."""

    def __init__(self, store: Store, tried: Tried, clock: Clock) -> None:
        self._store = store
        self._tried = tried
        self._clock = clock

    async def commit(self, changes: ChangeSet) -> Committed:
        now = self._clock.now()
        self._tried.take(changes, now)
        return Committed(recorded_at=now, versions={})

    async def records(
        self,
        scopes: Sequence[Scope],
        where: Filter,
        *,
        now: datetime,
        ids: Sequence[str] | None = None,
        after: Cursor | None = None,
        limit: int | None = None,
    ) -> list[Record]:
        tried = self._tried.records
        wanted = None if limit is None else limit + len(tried)
        found = await self._store.records(
            scopes, where, now=now, ids=ids, after=after, limit=wanted
        )
        mine = [
            record
            for record in self._tried.among(scopes)
            if where.accepts_record(record, now) and (ids is None or record.id in ids)
        ]
        if not tried:
            return found
        both = [*mine, *(record for record in found if record.id not in tried)]
        both.sort(key=lambda record: (record.observed_at, record.id), reverse=True)
        return both[:limit]

    async def turns(
        self,
        scopes: Sequence[Scope],
        where: Filter,
        *,
        ids: Sequence[str] | None = None,
        after: Cursor | None = None,
        limit: int | None = None,
    ) -> list[Turn]:
        return await self._store.turns(scopes, where, ids=ids, after=after, limit=limit)

    async def standings(
        self,
        scopes: Sequence[Scope],
        where: Filter,
        *,
        now: datetime,
        records: Sequence[str],
        turns: Sequence[str],
        whole: int,
    ) -> dict[str, Standing]:
        tried = self._tried.records
        stored = [name for name in records if name not in tried]
        found = await self._store.standings(
            scopes, where, now=now, records=stored, turns=turns, whole=whole
        )
        mine = (tried[name] for name in records if name in tried)
        return found | {
            record.id: self._tried.standing(record, scopes[0])
            for record in mine
            if record.scope in scopes and where.accepts_record(record, now)
        }

    async def links(self, scopes: Sequence[Scope], ids: Sequence[str]) -> list[Link]:
        return await self._store.links(scopes, ids)

    async def history(self, scopes: Sequence[Scope], record_id: str) -> list[Version]:
        return await self._store.history(scopes, record_id)

    async def versions(self, scopes: Sequence[Scope]) -> tuple[int, ...]:
        return await self._store.versions(scopes)

    async def counts(self, scopes: Sequence[Scope]) -> StoreCounts:
        return await self._store.counts(scopes)

    async def close(self) -> None: ...


class TriedUnits:
    """A `UnitIndex` as it would be with the changes."""

    def __init__(self, units: UnitIndex, tried: Tried) -> None:
        self._units = units
        self._tried = tried

    async def search(
        self,
        scopes: Sequence[Scope],
        terms: Sequence[int],
        limit: int,
        *,
        now: datetime,
        within: Filter | None = None,
        slight: Collection[int] = (),
        more: MoreUnits | None = None,
    ) -> Matches:
        units = self._tried.numbered(scopes, now, within)
        added = MoreUnits(_rows(units), [it.unit.terms for it in units]) if units else more
        found = await self._units.search(
            scopes,
            terms,
            # What is changed takes places from which it is removed.
            limit + _room(self._tried),
            now=now,
            within=within,
            slight=slight,
            more=added,
        )
        return _cut(_without_changed(found, self._tried), limit)

    async def expect_many(self, scopes: Sequence[Scope]) -> None:
        await self._units.expect_many(scopes)

    async def recent(
        self, scopes: Sequence[Scope], since: datetime, limit: int, *, until: datetime
    ) -> Matches:
        found = await self._units.recent(scopes, since, limit + _room(self._tried), until=until)
        units = [
            it
            for it in self._tried.numbered(scopes, until)
            if it.unit.ordinal == 0 and since <= it.owner.observed_at < until
        ]
        last, reach = to_micros(until), max((until - since).days, 1)
        raw = np.array([to_micros(it.owner.observed_at) for it in units], np.float64)
        age = (last - raw) // _DAY_MICROS
        mine = Matches(rows=_rows(units), raw=raw, scores=np.clip(1 - age / reach, 0.0, 1.0))
        return _without_changed(found, self._tried).with_others(mine, limit)

    async def terms_of(self, units: Sequence[int]) -> dict[int, frozenset[int]]:
        return await self._units.terms_of(units) | self._tried.terms_of(units)

    async def known_terms(self, owners: Sequence[str], analyzer: str) -> KnownTerms:
        stored = [owner for owner in owners if owner not in self._tried.records]
        return await self._units.known_terms(stored, analyzer)

    async def rank(self, terms: Sequence[int], texts: Sequence[Terms]) -> list[float]:
        return await self._units.rank(terms, texts)

    def stats(self) -> IndexStats:
        return self._units.stats()


class TriedVectors:
    """A `VectorIndex` as it would be with the changes."""

    def __init__(self, vectors: VectorIndex, tried: Tried) -> None:
        self._vectors = vectors
        self._tried = tried

    async def search(
        self,
        scopes: Sequence[Scope],
        question: Mapping[EmbeddingModel, Vector],
        limit: int,
        *,
        now: datetime,
        within: Filter | None = None,
    ) -> Nearest:
        nearest = await self._vectors.search(
            scopes, question, limit + _room(self._tried), now=now, within=within
        )
        found = _cut(_without_changed(nearest.matches, self._tried), limit)
        model = self._tried.model
        units = [it for it in self._tried.numbered(scopes, now, within) if it.unit.vector]
        if model is None or not units or (nearest.models and model not in nearest.models):
            return replace(nearest, matches=found)
        models = nearest.models | {model}
        if model not in question:
            return replace(nearest, matches=found, models=models)
        cosines = np.array([*_cosines(question[model], units)], np.float64)
        mine = Matches(rows=_rows(units), raw=cosines, scores=np.clip(cosines, 0.0, 1.0))
        return replace(nearest, matches=found.with_others(mine, limit), models=models)

    def stats(self) -> IndexStats:
        return self._vectors.stats()


def _cosines(question: Vector, units: Sequence[_Numbered]) -> Iterator[float]:
    for it in units:
        vector = np.frombuffer(it.unit.vector or b"", "<f2").astype(np.float32)
        length = float(np.linalg.norm(vector) * np.linalg.norm(question))
        yield float(vector @ question) / length if length else 0.0


def _room(tried: Tried) -> int:
    return sum(len(owner.units) + 1 for owner in tried.units.values())


def _without_changed(matches: Matches, tried: Tried) -> Matches:
    """Return the matches without the stored units of what has new ones."""
    if not tried.units or not len(matches):
        return matches
    is_stored = matches.column("unit") < _FIRST_UNIT
    is_changed = np.isin(matches.column("owner"), list(tried.units))
    return matches.at(np.flatnonzero(~(is_stored & is_changed)))


def _cut(matches: Matches, limit: int) -> Matches:
    return matches.at(np.arange(min(limit, len(matches))))
