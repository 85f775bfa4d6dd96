"""The health of a memory: figures from the database, and suspected duplicates.

Only the latest records are compared, each with the few that share most words with it: comparing
every pair would take too long.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Final

from recollect.domain.filters import Filter
from recollect.domain.record import Record
from recollect.domain.scope import Holding, Scope, split
from recollect.domain.stats import DuplicatePair, Health, HealthFigures
from recollect.domain.unit import RECORD, UNIT_OWNERS
from recollect.language.analysis import term_keys, terms
from recollect.ports.judge import Statement
from recollect.ports.runtime import Clock
from recollect.ports.store import Store
from recollect.ports.units import UnitIndex
from recollect.ports.upkeep import UpkeepReader
from recollect.writing.judge_rules import certainly_same

_MAX_COMPARED: Final = 200
_MANY_RECORDS: Final = 50
_MAX_NEIGHBOURS: Final = 3
# Turns are also found beside the records that were extracted from them, and are skipped.
_MAX_UNITS: Final = 50
_RECORD: Final = UNIT_OWNERS.index(RECORD)
# A claim shows in its beginning what it is about.
_READ_CHARS: Final = 300
_ONLY_RECORDS: Final = Filter(owners=frozenset({"record"}))


class HealthCheck:
    """Examines what a caller may read."""

    def __init__(
        self,
        store: Store,
        reader: UpkeepReader,
        units: Holding[UnitIndex],
        clock: Clock,
        *,
        capacity: int | None,
    ) -> None:
        self._store = store
        self._reader = reader
        self._units = units
        self._clock = clock
        self._capacity = capacity

    async def health(self, scopes: Sequence[Scope]) -> Health:
        """Return the health of these scopes."""
        now = self._clock.now()
        figures = await self._reader.figures(scopes, now=now)
        latest = await self._store.records(scopes, _ONLY_RECORDS, now=now, limit=_MAX_COMPARED)
        pairs = await self._alike(latest, now)
        return Health(
            **{field.name: getattr(figures, field.name) for field in fields(HealthFigures)},
            suspected_duplicates=len(pairs),
            duplicates=tuple(pairs),
            compared=len(latest),
            capacity=self._capacity,
        )

    async def _alike(self, latest: Sequence[Record], now: datetime) -> list[DuplicatePair]:
        """Return pairs with the same words and pairs judged to say the same."""
        pairs: dict[tuple[str, str], None] = {}
        if len(latest) >= _MANY_RECORDS:
            for units, some in split({record.scope for record in latest}, self._units):
                await units.expect_many(some)
        for record in latest:
            for other in await self._neighbours(record, now):
                pairs[min(record.id, other), max(record.id, other)] = None
        linked = await self._linked(latest)
        records = await self._with_others(latest, [*pairs, *linked], now)
        alike = {
            pair: 1.0
            for pair in pairs
            if all(record_id in records for record_id in pair)
            and certainly_same(*(_comparable_text(records[record_id]) for record_id in pair))
        }
        alike |= {
            pair: probability
            for pair, probability in linked.items()
            if all(one in records for one in pair)
        }
        return [
            DuplicatePair(first=one, second=other, probability=likely)
            for (one, other), likely in alike.items()
        ]

    async def _linked(self, latest: Sequence[Record]) -> dict[tuple[str, str], float]:
        """Return the pairs that a judge linked as the same, with their probability."""
        scopes = list({record.scope for record in latest})
        links = await self._store.links(scopes, [record.id for record in latest])
        return {
            (min(link.ends), max(link.ends)): link.probability
            for link in links
            if link.relation == "same"
        }

    async def _neighbours(self, record: Record, now: datetime) -> list[str]:
        """Return the records of the same scope that share most words with it."""
        keys = list(term_keys(terms(record.content[:_READ_CHARS])))
        found = await self._units(record.scope).search([record.scope], keys, _MAX_UNITS, now=now)
        owners = found.column("owner")[found.column("kind") == _RECORD].tolist()
        return [owner for owner in dict.fromkeys(owners) if owner != record.id][:_MAX_NEIGHBOURS]

    async def _with_others(
        self, latest: Sequence[Record], pairs: Iterable[tuple[str, str]], now: datetime
    ) -> dict[str, Record]:
        records = {record.id: record for record in latest}
        missing = {one for pair in pairs for one in pair if one not in records}
        scopes = list({record.scope for record in latest})
        more = await self._store.records(scopes, _ONLY_RECORDS, now=now, ids=sorted(missing))
        return records | {record.id: record for record in more}


def _comparable_text(record: Record) -> Statement:
    return Statement(text=record.content, said_at=record.last_confirmed)
