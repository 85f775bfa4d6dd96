"""Erasing in a SQL database: begun in one transaction, gone on with in batches, then cleaned."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, Final

from sqlalchemy import Connection, delete, insert, select, update

from recollect.backends.sql import erasers_ledger, schema
from recollect.backends.sql.database import Database
from recollect.backends.sql.erasers import Batch, count_all, erase_some
from recollect.backends.sql.erasers_begin import Begun, hide
from recollect.backends.sql.erasers_clean import overwrite, rewrite
from recollect.backends.sql.erasers_ledger import entry_of
from recollect.backends.sql.forget_ledger import Entry
from recollect.backends.sql.full_text import begin_merge, go_on_merging
from recollect.backends.sql.index_generations import has_tokens
from recollect.backends.sql.journaled_database import JournaledDatabase
from recollect.backends.sql.prepared_statement import Quick
from recollect.backends.sql.rows import to_json
from recollect.backends.sql.sqlite_database import SqliteDatabase
from recollect.domain.forgetting import FORGET, Target
from recollect.domain.ids import new_id
from recollect.domain.job import is_gone, new_holder
from recollect.domain.times import to_micros
from recollect.ports.erasure import Cleaning, Erased
from recollect.ports.runtime import Clock

# So long nobody else goes on with a forgetting that was interrupted; every batch renews it.
_LEASE: Final = timedelta(seconds=3)
# A file up to this size is rewritten at once: 64 MB take 1.3 s, in which others cannot write.
_MAX_BYTES_AT_ONCE: Final = 64 << 20
# Cleaning renews nothing; so many bytes are cleaned in a second even on a busy machine.
_CLEANED_PER_SECOND: Final = 8 << 20
# So long is waited for whoever reads from the log.
_PAUSE: Final = timedelta(seconds=1)
_JOBS: Final = schema.jobs.c
_UNFINISHED: Final = Quick(
    select(_JOBS.id, _JOBS.lease_owner, _JOBS.lease_until).where(
        _JOBS.kind == FORGET, _JOBS.gave_up <= 1
    )
)


class _Foreseen(Exception):
    """Carries what was found out of a transaction that is taken back."""

    def __init__(self, erased: Erased) -> None:
        super().__init__()
        self.erased = erased


class SqlErasure:
    """An `Erasure` on a SQL database and the ledger beside it.

    `in_place` overwrites remains inside the live file instead of rewriting it.
    """

    def __init__(self, database: Database, clock: Clock, *, in_place: bool = False) -> None:
        self._in_place = in_place
        self._database = database
        self._clock = clock
        self._write = partial(database.write, is_removal=True)

    async def foresee(self, target: Target) -> Erased:
        now = to_micros(self._clock.now())

        def look(connection: Connection) -> None:
            begun = hide(connection, target, "", now)
            # Done and taken back: what would go can only be what goes.
            raise _Foreseen(_all_of(connection, begun))

        try:
            await self._write(look)
        except _Foreseen as seen:
            return seen.erased
        raise AssertionError("a dry run ends with what it has seen")

    async def begin(self, target: Target, forget_id: str) -> Erased:
        return await self._begin(target, forget_id, _LEASE)

    async def _begin(self, target: Target, forget_id: str, lease: timedelta) -> Erased:
        now = self._clock.now()

        def start(connection: Connection) -> Erased:
            begun = hide(connection, target, forget_id, to_micros(now))
            entry = entry_of(target, begun.found, forget_id)
            scopes = {"renamed": begun.renamed, "made": begun.made}
            touched = (*begun.found.whole, *begun.found.parts, *begun.found.shared)
            in_full_text = any(has_tokens(connection, scope_id) for scope_id in touched)
            payload = to_json(
                {**scopes, "blobs": (), "entry": entry.as_json(), "has_tokens": in_full_text}
            )
            row = {"id": new_id("job"), "kind": FORGET, "key": forget_id, "payload": payload}
            row |= {"run_after": to_micros(now), "lease_until": to_micros(now + lease)}
            row |= {"lease_owner": new_holder(), "attempts": 0, "gave_up": 0, "last_error": ""}
            connection.execute(insert(schema.jobs), row)
            return _all_of(connection, begun)

        return await self._write(start)

    async def advance(self, forget_id: str) -> Erased | None:
        payload = await self._payload(forget_id)
        if payload is None:
            return None
        if payload["blobs"]:
            # Given out before, and perhaps not deleted before a crash.
            return Erased(counts={}, blobs=tuple(payload["blobs"]))
        # Durable before anything is erased, so that no older copy can bring it back.
        entry = Entry.from_json(payload["entry"])
        await asyncio.to_thread(self._database.ledger.append, [entry])
        now = self._clock.now()

        def step(connection: Connection) -> Erased | None:
            scopes = [*payload["renamed"], *payload["made"]]
            batch = Batch(connection, scopes, forget_id, to_micros(now))
            went_on = bool(scopes) and erase_some(batch)
            noted = to_json({**payload, "blobs": batch.blobs})
            self._keep(connection, forget_id, payload=noted)
            return Erased(counts=batch.counts, blobs=tuple(batch.blobs)) if went_on else None

        return await self._write(step)

    async def dropped(self, forget_id: str) -> None:
        payload = await self._payload(forget_id)
        if payload is not None:
            noted = to_json({**payload, "blobs": []})
            emptied = update(schema.jobs).where(_its(forget_id)).values(payload=noted)
            await self._write(lambda connection: connection.execute(emptied))

    async def clean(self, forget_id: str, *, even_large: bool) -> Cleaning:
        payload = await self._payload(forget_id)
        if payload is None:
            # Somebody else has finished it.
            return "done"
        step = begin_merge
        # Merging takes the longer the more others have in the full text; small scopes have nothing.
        while payload.get("has_tokens", True) and await self._write(
            partial(self._merge, forget_id, step)
        ):
            step = go_on_merging
        if not isinstance(self._database, SqliteDatabase):
            # A server's files and backups are out of reach; its rows are gone.
            return "done"
        size = await asyncio.to_thread(lambda: self._database.path.stat().st_size)
        if not (self._in_place or even_large or size <= _MAX_BYTES_AT_ONCE):
            return "waits"
        lease = _LEASE + timedelta(seconds=size / _CLEANED_PER_SECOND)
        await self._write(lambda connection: self._keep(connection, forget_id, lease))
        clean = overwrite if self._in_place else rewrite
        return await asyncio.to_thread(clean, self._database.path)

    def _merge(
        self, forget_id: str, step: Callable[[Connection], bool], connection: Connection
    ) -> bool:
        self._keep(connection, forget_id)
        return step(connection)

    def _keep(
        self, connection: Connection, forget_id: str, lease: timedelta = _LEASE, **values: str
    ) -> None:
        """Keep others from going on with it while somebody does."""
        until = to_micros(self._clock.now() + lease)
        kept = update(schema.jobs).where(_its(forget_id)).values(lease_until=until, **values)
        connection.execute(kept)

    async def finish(self, forget_id: str) -> None:
        payload = await self._payload(forget_id)

        def end(connection: Connection) -> None:
            if payload is not None:
                _tidy(connection, payload["renamed"], payload["made"])
            connection.execute(delete(schema.jobs).where(_its(forget_id)))
            if isinstance(self._database, JournaledDatabase):
                # Its earlier lines say what was forgotten.
                self._database.compacts_next = True

        await self._write(end)

    async def postpone(self, forget_id: str) -> None:
        free = {"lease_until": 0, "lease_owner": "", "attempts": 0, "gave_up": 0}
        free |= {"run_after": to_micros(self._clock.now() + _PAUSE)}
        freed = update(schema.jobs).where(_its(forget_id)).values(free)
        await self._write(lambda connection: connection.execute(freed))

    async def reapply(self) -> list[str]:
        """Begin again what was forgotten after the copy was made that this database comes from."""
        noted = await asyncio.to_thread(self._database.ledger.ids)
        if not noted:
            return []
        new = await self._database.read(lambda it: erasers_ledger.not_applied(it, noted))
        entries = await asyncio.to_thread(self._database.ledger.read, new) if new else []
        begun = await self._database.read(lambda it: list(erasers_ledger.targets(it, entries)))
        for forget_id, target in begun:
            # Whoever works on jobs may go on with it at once.
            await self._begin(target, forget_id, timedelta())
        return [forget_id for forget_id, _ in begun]

    async def rouse(self) -> None:
        """Make interrupted forgettings due now, unless somebody alive works on them."""
        rows = await self._database.read(lambda it: _UNFINISHED.rows(it, {}), is_quick=True)
        now = to_micros(self._clock.now())
        idle = [it["id"] for it in rows if it["lease_until"] <= now or is_gone(it["lease_owner"])]
        if idle:
            due = {"lease_until": 0, "lease_owner": "", "gave_up": 0, "attempts": 0}
            due["run_after"] = now
            again = update(schema.jobs).where(_JOBS.id.in_(idle)).values(due)
            await self._write(lambda connection: connection.execute(again))

    async def _payload(self, forget_id: str) -> Mapping[str, Any] | None:
        wanted = select(_JOBS.payload).where(_its(forget_id))
        stored = await self._database.read(lambda connection: connection.scalar(wanted))
        return None if stored is None else json.loads(stored)


def _all_of(connection: Connection, begun: Begun) -> Erased:
    """What went at once and what goes in batches, whoever does them."""
    counts = begun.counts + count_all(connection, begun.scopes)
    return Erased(counts=counts, evidence_left=begun.evidence_left)


def _tidy(connection: Connection, renamed: Sequence[int], made: Sequence[int]) -> None:
    """Leave of scopes that lost their names the numbers, and nothing of those made for this."""
    scopes, changes, audit = schema.scopes, schema.changes.c, schema.audit.c
    emptied = {"unit_count": 0, "unit_length": 0}
    connection.execute(update(scopes).where(scopes.c.id.in_(renamed)).values(emptied))
    beside = schema.editions
    connection.execute(delete(beside).where(beside.c.scope_id.in_(renamed)))
    connection.execute(delete(schema.changes).where(changes.scope_id.in_(made)))
    told_of = select(audit.scope_id).where(audit.scope_id.in_(made))
    connection.execute(delete(scopes).where(scopes.c.id.in_(made), scopes.c.id.not_in(told_of)))


def _its(forget_id: str) -> Any:
    return (_JOBS.kind == FORGET) & (_JOBS.key == forget_id)
