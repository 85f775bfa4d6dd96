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
from recollect.backends.sql.editions import has_tokens
from recollect.backends.sql.erasers import Batch, count_all, erase_some
from recollect.backends.sql.erasers_begin import FORGET, Begun, hide
from recollect.backends.sql.erasers_clean import clean
from recollect.backends.sql.erasers_ledger import Entry, entry_of, ledger_of
from recollect.backends.sql.full_text import begin_merge, go_on_merging
from recollect.backends.sql.quick import Quick
from recollect.backends.sql.rows import to_json
from recollect.domain.forgetting import Target
from recollect.domain.ids import new_id
from recollect.domain.times import to_micros
from recollect.ports.clock import Clock
from recollect.ports.erasure import Cleaning, Erased

# So long nobody else goes on with a forgetting that was interrupted; every batch renews it.
_LEASE: Final = timedelta(seconds=3)
# Cleaning renews nothing; so many bytes are cleaned in a second even on a busy machine.
_CLEANED_PER_SECOND: Final = 8 << 20
# So long is waited for whoever reads from the log.
_PAUSE: Final = timedelta(seconds=1)
_JOBS: Final = schema.jobs.c
_GIVEN_UP: Final = Quick(select(_JOBS.id).where(_JOBS.kind == FORGET, _JOBS.gave_up != 0))


class _Foreseen(Exception):
    """Carries what was found out of a transaction that is taken back."""

    def __init__(self, erased: Erased) -> None:
        super().__init__()
        self.erased = erased


class SqlErasure:
    """An `Erasure` on a SQL database and the ledger beside it."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._ledger = ledger_of(database.path)

    async def foresee(self, target: Target) -> Erased:
        now = to_micros(self._clock.now())

        def look(connection: Connection) -> None:
            begun = hide(connection, target, "", now)
            # Done and taken back: what would go can only be what goes.
            raise _Foreseen(_all_of(connection, begun))

        try:
            await self._database.write(look)
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
            row |= {"lease_owner": forget_id, "attempts": 0, "gave_up": 0, "last_error": ""}
            connection.execute(insert(schema.jobs), row)
            return _all_of(connection, begun)

        return await self._database.write(start)

    async def advance(self, forget_id: str) -> Erased | None:
        payload = await self._payload(forget_id)
        if payload is None:
            return None
        if payload["blobs"]:
            # Given out before, and perhaps not deleted before a crash.
            return Erased(counts={}, blobs=tuple(payload["blobs"]))
        # Durable before anything is erased, so that no older copy can bring it back.
        entry = Entry.from_json(payload["entry"])
        await asyncio.to_thread(erasers_ledger.append, self._ledger, [entry])
        now = self._clock.now()

        def step(connection: Connection) -> Erased | None:
            scopes = [*payload["renamed"], *payload["made"]]
            batch = Batch(connection, scopes, forget_id, to_micros(now))
            went_on = bool(scopes) and erase_some(batch)
            noted = to_json({**payload, "blobs": batch.blobs})
            self._keep(connection, forget_id, payload=noted)
            return Erased(counts=batch.counts, blobs=tuple(batch.blobs)) if went_on else None

        return await self._database.write(step)

    async def dropped(self, forget_id: str) -> None:
        payload = await self._payload(forget_id)
        if payload is not None:
            noted = to_json({**payload, "blobs": []})
            emptied = update(schema.jobs).where(_its(forget_id)).values(payload=noted)
            await self._database.write(lambda connection: connection.execute(emptied))

    async def clean(self, forget_id: str) -> Cleaning:
        payload = await self._payload(forget_id)
        if payload is None:
            # Somebody else has finished it.
            return "done"
        step = begin_merge
        # Merging takes the longer the more others have in the full text; small scopes have nothing.
        while payload.get("has_tokens", True) and await self._database.write(
            partial(self._merge, forget_id, step)
        ):
            step = go_on_merging
        size = await asyncio.to_thread(lambda: self._database.path.stat().st_size)
        lease = _LEASE + timedelta(seconds=size / _CLEANED_PER_SECOND)
        await self._database.write(lambda connection: self._keep(connection, forget_id, lease))
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

        await self._database.write(end)

    async def postpone(self, forget_id: str) -> None:
        free = {"lease_until": 0, "lease_owner": "", "attempts": 0, "gave_up": 0}
        free |= {"run_after": to_micros(self._clock.now() + _PAUSE)}
        freed = update(schema.jobs).where(_its(forget_id)).values(free)
        await self._database.write(lambda connection: connection.execute(freed))

    async def reapply(self) -> list[str]:
        """Begin again what was forgotten after the copy was made that this database comes from."""
        entries = await asyncio.to_thread(erasers_ledger.read_ledger, self._ledger)

        def old(connection: Connection) -> list[tuple[str, Target]]:
            new = erasers_ledger.not_applied(connection, entries)
            return list(erasers_ledger.targets(connection, new)) if new else []

        begun = await self._database.read(old) if entries else []
        for forget_id, target in begun:
            # Whoever works on jobs may go on with it at once.
            await self._begin(target, forget_id, timedelta())
        return [forget_id for forget_id, _ in begun]

    async def rouse(self) -> None:
        """Let forgettings that were given up be tried again."""
        again = update(schema.jobs).where(_JOBS.kind == FORGET, _JOBS.gave_up != 0)
        values = {"gave_up": 0, "attempts": 0}
        if await self._database.read(lambda connection: _GIVEN_UP.rows(connection, {})):
            await self._database.write(lambda connection: connection.execute(again.values(values)))

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
