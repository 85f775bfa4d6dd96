"""How well a memory is: figures from the database, and records that seem to say the same.

Only so many records, the latest ones, are compared, each with the few that share most words with
it: looking at every pair would take longer than anybody waits for a panel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Final

from recollect.domain.filters import Filter
from recollect.domain.health import DuplicatePair, Health, HealthFigures
from recollect.domain.record import Record
from recollect.domain.scope import Scope
from recollect.ports.clock import Clock
from recollect.ports.store import Store
from recollect.ports.units import KINDS, UnitIndex
from recollect.ports.upkeep import UpkeepReader
from recollect.text.analysis import term_keys, terms
from recollect.writing.reconcile import relate

_COMPARED: Final = 200
_MANY: Final = 50
_NEIGHBOURS: Final = 3
# Turns that say the same stand beside the records made of them, and are passed over.
_LOOKED_AT: Final = 50
_RECORD: Final = KINDS.index("record")
# A claim shows in its beginning what it is about.
_READ: Final = 300
_ONLY_RECORDS: Final = Filter(owners=frozenset({"record"}))


class HealthCheck:
    """Looks at what a caller may see."""

    def __init__(
        self,
        store: Store,
        reader: UpkeepReader,
        units: UnitIndex,
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
        """The figures of these scopes."""
        now = self._clock.now()
        figures = await self._reader.figures(scopes, now=now)
        latest = await self._store.records(scopes, _ONLY_RECORDS, now=now, limit=_COMPARED)
        pairs = await self._alike(latest, now)
        return Health(
            **{field.name: getattr(figures, field.name) for field in fields(HealthFigures)},
            suspected_duplicates=len(pairs),
            duplicates=tuple(pairs),
            compared=len(latest),
            capacity=self._capacity,
        )

    async def _alike(self, latest: Sequence[Record], now: datetime) -> list[DuplicatePair]:
        """Pairs that reconciling would take for the same."""
        pairs: dict[tuple[str, str], None] = {}
        if len(latest) >= _MANY:
            await self._units.expect_many(list({record.scope for record in latest}))
        for record in latest:
            for other in await self._neighbours(record, now):
                pairs[min(record.id, other), max(record.id, other)] = None
        records = await self._with_others(latest, pairs, now)
        found = (
            _judged(records[one], records[other])
            for one, other in pairs
            if one in records and other in records
        )
        return [pair for pair in found if pair is not None]

    async def _neighbours(self, record: Record, now: datetime) -> list[str]:
        """The records of the same scope that share most words with it."""
        keys = list(term_keys(terms(record.content[:_READ])))
        found = await self._units.search([record.scope], keys, _LOOKED_AT, now=now)
        owners = found.column("owner")[found.column("kind") == _RECORD].tolist()
        return [owner for owner in dict.fromkeys(owners) if owner != record.id][:_NEIGHBOURS]

    async def _with_others(
        self, latest: Sequence[Record], pairs: Mapping[tuple[str, str], None], now: datetime
    ) -> dict[str, Record]:
        records = {record.id: record for record in latest}
        missing = {one for pair in pairs for one in pair if one not in records}
        scopes = list({record.scope for record in latest})
        more = await self._store.records(scopes, _ONLY_RECORDS, now=now, ids=sorted(missing))
        return records | {record.id: record for record in more}


def _judged(one: Record, other: Record) -> DuplicatePair | None:
    judgement = relate(
        one.content,
        other.content,
        cosine=None,
        new_at=one.last_confirmed,
        old_at=other.last_confirmed,
    )
    if judgement.relation != "same":
        return None
    return DuplicatePair(first=one.id, second=other.id, similarity=judgement.similarity)
