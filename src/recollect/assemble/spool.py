"""Settings → the spool for writes that cannot reach the database server."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, select

from recollect.backends.sql import schema
from recollect.domain.filters import Filter
from recollect.domain.forgetting import FORGET
from recollect.domain.record import Status
from recollect.domain.times import to_micros
from recollect.errors import StorageBusy, StorageError
from recollect.spool.entries import SpoolEntry
from recollect.spool.service import Outcome, Spool

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.assemble.container import Wiring
    from recollect.backends.sql.forget_ledger import Entry
    from recollect.domain.scope import Scope
    from recollect.settings import Settings

_MEGABYTE: Final = 1 << 20
_STONES: Final = schema.tombstones.c


def place_of(settings: Settings) -> Path:
    """Return the folder with the spools of all processes on this machine."""
    return settings.database.parent / "spool"


def spool_of(common: Wiring) -> Spool:
    """Return the spool of a memory; what it keeps goes to the store that holds its scope."""

    def is_away(scope: Scope) -> bool:
        try:
            outage = common.router.holding(scope).database.outage
        except StorageError:
            # Whoever writes there is told why.
            return False
        return outage is not None and outage.is_away

    async def store(entry: SpoolEntry) -> Outcome:
        parts = common.router.of_agent(entry.caller.scope.agent)
        return await (parts.saver if entry.records else parts.observer).store(entry)

    async def is_stored(entry: SpoolEntry) -> bool:
        scopes, ids = sorted(entry.scopes, key=lambda it: it.key), sorted(entry.ids)
        every = Filter(statuses=frozenset(Status))
        now = common.clock.now()
        if entry.records:
            return bool(await common.store.records(scopes, every, now=now, ids=ids))
        return bool(await common.store.turns(scopes, Filter(), ids=ids))

    async def forgotten(since: datetime) -> list[Entry]:
        """Return what was forgotten since a time in any of the stores."""
        found: list[Entry] = []
        for parts in common.router.opened:
            ids = await parts.database.read(lambda it: _forgotten_since(it, since))
            if not ids:
                continue
            entries = await asyncio.to_thread(parts.database.ledger.read, ids)
            if len(entries) < len(ids):
                raise StorageBusy("A forgetting has begun and is not noted yet")
            found += entries
        return found

    spool = Spool(
        place_of(common.settings),
        max_bytes=common.settings.storage.spool_mb * _MEGABYTE,
        is_away=is_away,
        away_seconds=lambda: max(
            (it.database.outage.seconds for it in common.router.opened if it.database.outage),
            default=0.0,
        ),
        forgotten=forgotten,
        is_stored=is_stored,
        store=store,
        meter=common.meter,
    )
    if common.database.outage is not None:
        common.database.outage.on_return(spool.call)
    return spool


def _forgotten_since(connection: Connection, since: datetime) -> list[str]:
    its = (_STONES.kind == FORGET, _STONES.forgotten_at >= to_micros(since))
    wanted = select(_STONES.id).where(*its)
    return list(connection.scalars(wanted))
