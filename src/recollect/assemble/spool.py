"""Settings → the spool for writes that cannot reach the database server."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, select

from recollect.backends.sql import schema
from recollect.domain.filters import Filter
from recollect.domain.forgetting import FORGET
from recollect.domain.record import Status
from recollect.domain.times import from_micros, to_micros
from recollect.errors import StorageBusy, StorageError
from recollect.spool.entries import SpoolEntry
from recollect.spool.service import Spool

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.assemble.container import Wiring
    from recollect.backends.sql.forget_ledger import Entry
    from recollect.domain.change import ChangeSet
    from recollect.domain.scope import Scope
    from recollect.settings import Settings

_MEGABYTE: Final = 1 << 20
_STONES: Final = schema.tombstones.c


def place_of(settings: Settings) -> Path:
    """Return the folder with the spools of all processes on this machine."""
    return settings.database.parent / "spool"


def spool_of(common: Wiring) -> Spool:
    """Return the spool of a memory; what it keeps goes to the store that holds its scope."""
    stores = _Stores(common)
    spool = Spool(
        place_of(common.settings),
        max_bytes=common.settings.storage.spool_mb * _MEGABYTE,
        is_away=stores.is_away,
        away_seconds=lambda: max(
            (it.database.outage.seconds for it in common.router.opened if it.database.outage),
            default=0.0,
        ),
        forgotten=stores.forgotten,
        stored=stores.stored,
        store=stores.store,
        meter=common.meter,
    )
    if common.database.outage is not None:
        common.database.outage.on_return(spool.call)
    return spool


class _Stores:
    """What a spool asks the stores of a memory."""

    def __init__(self, common: Wiring) -> None:
        self._common = common

    def is_away(self, scope: Scope) -> bool:
        try:
            outage = self._common.router.holding(scope).database.outage
        except StorageError:
            # Whoever writes there is told why.
            return False
        return outage is not None and outage.is_away

    async def store(self, entries: Sequence[SpoolEntry]) -> bool:
        caller = entries[0].caller
        parts = self._common.router.of_agent(caller.scope.agent)
        said = [entry for entry in entries if entry.turns]
        saved = [entry for entry in entries if entry.records]
        turns = await parts.observer.changes_of(said) if said else None
        records = await parts.saver.changes_of(saved) if saved else None
        for changes in _together(turns, records):
            committed = await parts.store.commit(changes)
            if committed.replayed is not None:
                return False
            if turns is not None and changes.turns:
                await parts.observer.stored(caller, turns, committed)
        return True

    async def stored(self, entries: Sequence[SpoolEntry]) -> Collection[str]:
        store, now = self._common.store, self._common.clock.now()
        scopes = sorted({it for entry in entries for it in entry.scopes}, key=lambda it: it.key)
        every = Filter(statuses=frozenset(Status))
        found: set[str] = set()
        if ids := [record.id for entry in entries for record in entry.records]:
            found |= {it.id for it in await store.records(scopes, every, now=now, ids=ids)}
        if ids := [turn.id for entry in entries for turn in entry.turns]:
            found |= {it.id for it in await store.turns(scopes, Filter(), ids=ids)}
        return {entry.id for entry in entries if not found.isdisjoint(entry.ids)}

    async def forgotten(
        self, since: datetime, scopes: Collection[Scope]
    ) -> Sequence[tuple[datetime, Entry]]:
        """Return what was forgotten since a time in the stores that hold these scopes."""
        router = self._common.router
        found: list[tuple[datetime, Entry]] = []
        for parts in dict.fromkeys([router.common, *map(router.holding, scopes)]):
            times = await parts.database.read(lambda it: _forgotten_since(it, since))
            if not times:
                continue
            entries = await asyncio.to_thread(parts.database.ledger.read, times)
            if len(entries) < len(times):
                raise StorageBusy("A forgetting has begun and is not noted yet")
            found += [(times[entry.forget_id], entry) for entry in entries]
        return found


def _together(turns: ChangeSet | None, records: ChangeSet | None) -> list[ChangeSet]:
    """Return one change set with both, unless different models make their vectors."""
    if turns is None or records is None or turns.model != records.model:
        return [it for it in (turns, records) if it is not None]
    both = replace(
        turns,
        records=records.records,
        units=(*turns.units, *records.units),
        jobs=(*turns.jobs, *records.jobs),
        audit=(*turns.audit, *records.audit),
        idempotency=(*turns.idempotency, *records.idempotency),
    )
    return [both]


def _forgotten_since(connection: Connection, since: datetime) -> dict[str, datetime]:
    its = (_STONES.kind == FORGET, _STONES.forgotten_at >= to_micros(since))
    rows = connection.execute(select(_STONES.id, _STONES.forgotten_at).where(*its))
    return {row.id: from_micros(row.forgotten_at) for row in rows}
