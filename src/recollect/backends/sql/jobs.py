"""The job queue in the database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, Connection, and_, case, delete, func, select, update

from recollect.backends.sql import schema, statements
from recollect.backends.sql.database import Database
from recollect.backends.sql.quick import Quick, listed
from recollect.backends.sql.rows import to_json
from recollect.domain.ids import new_id
from recollect.domain.job import Job, NewJob
from recollect.domain.stats import JobCounts
from recollect.domain.times import from_micros, to_micros
from recollect.ports.clock import Clock

_MAX_ERROR: Final = 2_000
_JOBS: Final = schema.jobs.c
# When the first of these kinds is due: at the later of its time and the end of the lease on it.
_NEXT_DUE: Final = Quick(
    select(
        func.min(
            case((_JOBS.run_after > _JOBS.lease_until, _JOBS.run_after), else_=_JOBS.lease_until)
        )
    ).where(_JOBS.gave_up == 0, _JOBS.kind.in_(listed("kinds")))
)


class SqlJobs:
    """Jobs as rows; a lease is a time until which nobody else may take the row."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(self, jobs: Sequence[NewJob]) -> None:
        now = self._clock.now()
        await self._database.write(lambda connection: insert_jobs(connection, jobs, now))

    async def claim(
        self, kinds: Sequence[str], owner: str, *, now: datetime, lease_until: datetime
    ) -> Job | None:
        def take(connection: Connection) -> Job | None:
            row = connection.execute(
                select(schema.jobs)
                .where(_waiting(kinds), _JOBS.run_after <= to_micros(now))
                .where(_JOBS.lease_until <= to_micros(now))
                .order_by(_JOBS.run_after, _JOBS.id)
                .limit(1)
            ).one_or_none()
            if row is None:
                return None
            connection.execute(
                update(schema.jobs)
                .where(_JOBS.id == row.id)
                .values(
                    lease_owner=owner,
                    lease_until=to_micros(lease_until),
                    attempts=_JOBS.attempts + 1,
                )
            )
            return Job(
                id=row.id,
                kind=row.kind,
                key=row.key,
                payload=json.loads(row.payload),
                attempts=row.attempts + 1,
                lease_owner=owner,
                lease_until=lease_until,
                run_after=from_micros(row.run_after),
            )

        # Looking first keeps an idle worker from taking the write lock again and again.
        due = await self.next_due(kinds)
        return await self._database.write(take) if due is not None and due <= now else None

    async def extend(self, job: Job, lease_until: datetime) -> bool:
        statement = update(schema.jobs).where(_held(job)).values(lease_until=to_micros(lease_until))
        return await self._database.write(
            lambda connection: connection.execute(statement).rowcount == 1
        )

    async def finish(self, job: Job) -> None:
        as_claimed = _JOBS.run_after == to_micros(job.run_after)

        def end(connection: Connection) -> None:
            if connection.execute(delete(schema.jobs).where(_held(job), as_claimed)).rowcount == 0:
                # It was asked for again while it ran, so it is due once more.
                free = update(schema.jobs).where(_held(job))
                connection.execute(free.values(lease_until=0, lease_owner=""))

        await self._database.write(end)

    async def retry(self, job: Job, error: str, run_after: datetime | None) -> None:
        statement = (
            update(schema.jobs)
            .where(_held(job))
            .values(
                lease_until=0,
                lease_owner="",
                last_error=error[:_MAX_ERROR],
                gave_up=int(run_after is None),
                **({} if run_after is None else {"run_after": to_micros(run_after)}),
            )
        )
        await self._database.write(lambda connection: connection.execute(statement))

    async def withdraw(self, kind: str) -> bool:
        gone = delete(schema.jobs).where(_JOBS.kind == kind)
        return await self._database.write(lambda it: it.execute(gone).rowcount > 0)

    async def next_due(self, kinds: Sequence[str]) -> datetime | None:
        given = {"kinds": to_json(list(kinds))}
        ((due,),) = await self._database.read(lambda it: _NEXT_DUE.rows(it, given))
        return None if due is None else from_micros(due)

    async def counts(self) -> JobCounts:
        statement = select(_JOBS.gave_up, func.count()).group_by(_JOBS.gave_up)
        rows = await self._database.read(lambda connection: connection.execute(statement).all())
        found = {bool(gave_up): count for gave_up, count in rows}
        return JobCounts(waiting=found.get(False, 0), failed=found.get(True, 0))


def insert_jobs(
    connection: Connection, jobs: Sequence[NewJob], now: datetime, turn_ordinals: Sequence[int] = ()
) -> None:
    """Add jobs within a transaction; one that waits already under the same key stands for both."""
    for job in jobs:
        if not job.is_wanted(turn_ordinals):
            continue
        key = {"kind": job.kind, "key": job.key}
        due = {
            "payload": to_json(job.payload),
            "run_after": to_micros(job.run_after or now),
            "attempts": 0,
            "gave_up": 0,
        }
        if statements.SAME_JOB.rows(connection, statements.prefixed(key)):
            # It may be running now on what it read before this write: a new time, which whoever
            # finishes it will notice, makes it run again.
            statements.REPEAT_JOB.run(connection, [statements.prefixed(key | due)])
            continue
        unheld = {"lease_until": 0, "lease_owner": "", "last_error": ""}
        statements.INSERT_JOB.run(connection, [{"id": new_id("job"), **key, **due, **unheld}])


def _waiting(kinds: Sequence[str]) -> ColumnElement[bool]:
    return and_(_JOBS.gave_up == 0, _JOBS.kind.in_(kinds))


def _held(job: Job) -> ColumnElement[bool]:
    return and_(_JOBS.id == job.id, _JOBS.lease_owner == job.lease_owner)
