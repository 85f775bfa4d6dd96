"""The job queue in the database."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    bindparam,
    case,
    delete,
    func,
    or_,
    select,
    update,
)

from recollect.backends.sql import schema
from recollect.backends.sql.database import Database, OnDatabase, writing
from recollect.backends.sql.job_rows import OPEN, insert_jobs
from recollect.backends.sql.portable import listed
from recollect.backends.sql.prepared_statement import PreparedStatement
from recollect.backends.sql.rows import to_json
from recollect.domain.job import Job, JobCounts, JobReport, JobState, NewJob, is_gone
from recollect.domain.page import Cursor
from recollect.domain.times import from_micros, to_micros
from recollect.ports.runtime import Clock

_MAX_ERROR: Final = 2_000
# How a job ended, in the column `gave_up`.
GAVE_UP: Final = 1
_DONE: Final = 2
_CANCELLED: Final = 3
_ENDINGS: Final[Mapping[int, JobState]] = {
    GAVE_UP: "failed",
    _DONE: "done",
    _CANCELLED: "cancelled",
}
# That a job was done or cancelled is told for so long.
_KEPT: Final = timedelta(days=1)
_JOBS: Final = schema.jobs.c
_ANY: Final = PreparedStatement(
    select(_JOBS.id).where(_JOBS.kind == bindparam("kind"), _JOBS.gave_up <= GAVE_UP).limit(1)
)
_DUE: Final = PreparedStatement(
    select(_JOBS.id)
    .where(_JOBS.gave_up == OPEN, _JOBS.run_after <= bindparam("now"))
    .where(_JOBS.lease_until <= bindparam("now"), _JOBS.kind.in_(listed("kinds")))
    .limit(1)
)
_UNHELD: Final = PreparedStatement(
    select(_JOBS.id)
    .where(_JOBS.gave_up == OPEN, _JOBS.run_after <= bindparam("now"), _JOBS.lease_owner == "")
    .where(_JOBS.kind.in_(listed("kinds")))
    .limit(1)
)
_HOLDERS: Final = PreparedStatement(
    select(_JOBS.lease_owner, _JOBS.gave_up)
    .where(_JOBS.gave_up <= GAVE_UP, _JOBS.kind.in_(listed("kinds")))
    .distinct()
)
# When the first of these kinds is due: at the later of its time and the end of the lease on it.
_NEXT_DUE: Final = PreparedStatement(
    select(
        func.min(
            case((_JOBS.run_after > _JOBS.lease_until, _JOBS.run_after), else_=_JOBS.lease_until)
        )
    ).where(_JOBS.gave_up == OPEN, _JOBS.kind.in_(listed("kinds")))
)


class SqlJobs(OnDatabase):
    """Jobs as rows; a lease is a time until which nobody else may take the row.

    Who has a job and that it is done need not be durable: a job that is begun anew does no harm,
    and writers that somebody waits for get the disk.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database)
        self._clock = clock

    @writing
    def add(self, connection: Connection, jobs: Sequence[NewJob]) -> None:
        now = self._clock.now()
        insert_jobs(connection, jobs, now)

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
                # Of several who look at the same time, each takes another.
                .with_for_update(skip_locked=True)
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
        given = {"kinds": to_json(list(kinds)), "now": to_micros(now)}
        is_due = await self.database.read(lambda it: _DUE.rows(it, given))
        return await self.database.write(take, is_durable=False) if is_due else None

    async def free_abandoned(self, kind: str) -> None:
        held = select(_JOBS.id, _JOBS.lease_owner).where(
            _waiting([kind]), _JOBS.lease_until > to_micros(self._clock.now())
        )
        rows = await self.database.read(lambda it: it.execute(held).all())
        for row in rows:
            if is_gone(row.lease_owner):
                its = and_(_JOBS.id == row.id, _JOBS.lease_owner == row.lease_owner)
                free = update(schema.jobs).where(its).values(lease_until=0, lease_owner="")
                await self.database.write(lambda it, free=free: it.execute(free).close())

    async def extend(self, job: Job, lease_until: datetime) -> bool:
        statement = update(schema.jobs).where(_held(job)).values(lease_until=to_micros(lease_until))
        return await self.database.write(
            lambda connection: connection.execute(statement).rowcount == 1, is_durable=False
        )

    async def finish(
        self, job: Job, result: Mapping[str, Any] | None = None, *, is_listed: bool = True
    ) -> None:
        as_claimed = _JOBS.run_after == to_micros(job.run_after)
        now = self._clock.now()

        def end(connection: Connection) -> None:
            its = and_(_held(job), as_claimed)
            has_ended = (
                _ended(connection, its, _DONE, now, result)
                if is_listed
                else connection.execute(delete(schema.jobs).where(its)).rowcount > 0
            )
            if not has_ended:
                # It was asked for again while it ran, so it is due once more.
                free = update(schema.jobs).where(_held(job))
                connection.execute(free.values(lease_until=0, lease_owner=""))

        await self.database.write(end, is_durable=False)

    async def retry(self, job: Job, error: str, run_after: datetime | None) -> None:
        statement = (
            update(schema.jobs)
            .where(_held(job))
            .values(
                lease_until=0,
                last_error=error[:_MAX_ERROR],
                gave_up=int(run_after is None),
                **({} if run_after is None else {"run_after": to_micros(run_after)}),
            )
        )
        await self.database.write(
            lambda connection: connection.execute(statement), is_durable=False
        )

    async def give_back(self, job: Job) -> None:
        free = {"lease_until": 0, "lease_owner": "", "attempts": _JOBS.attempts - 1}
        statement = update(schema.jobs).where(_held(job)).values(free)
        await self.database.write(
            lambda connection: connection.execute(statement), is_durable=False
        )

    async def rouse(self, kinds: Sequence[str], *, even_given_up: bool = False) -> bool:
        given = {"kinds": to_json(list(kinds)), "now": to_micros(self._clock.now())}
        wanted = (OPEN, GAVE_UP) if even_given_up else (OPEN,)
        found = await self.database.read(lambda it: _HOLDERS.rows(it, given), is_quick=True)
        idle = [
            and_(_JOBS.gave_up == ending, _JOBS.lease_owner == holder)
            for holder, ending in found
            if ending in wanted and (ending == GAVE_UP or is_gone(holder))
        ]
        if idle:
            due = {"lease_until": 0, "lease_owner": "", "gave_up": OPEN, "attempts": 0}
            again = update(schema.jobs).where(_JOBS.kind.in_(kinds), or_(*idle))
            again = again.values({**due, "run_after": given["now"]})
            await self.database.write(lambda connection: connection.execute(again))
        rows = await self.database.read(lambda it: _UNHELD.rows(it, given), is_quick=True)
        return bool(rows)

    @writing
    def withdraw(self, connection: Connection, kind: str) -> bool:
        gone = delete(schema.jobs).where(_JOBS.kind == kind, _JOBS.gave_up <= GAVE_UP)
        return connection.execute(gone).rowcount > 0

    async def next_due(self, kinds: Sequence[str]) -> datetime | None:
        given = {"kinds": to_json(list(kinds))}
        ((due,),) = await self.database.read(lambda it: _NEXT_DUE.rows(it, given))
        return None if due is None else from_micros(due)

    async def has(self, kind: str) -> bool:
        found = await self.database.read(lambda it: _ANY.rows(it, {"kind": kind}), is_quick=True)
        return bool(found)

    async def reports(
        self,
        *,
        ids: Sequence[str] | None = None,
        state: JobState | None = None,
        kind: str | None = None,
        after: Cursor | None = None,
        limit: int | None = None,
        now: datetime,
    ) -> list[JobReport]:
        moment = to_micros(now)
        wanted = select(schema.jobs).order_by(_JOBS.id.desc()).limit(limit)
        if ids is not None:
            wanted = wanted.where(_JOBS.id.in_(ids))
        if state is not None:
            wanted = wanted.where(_in_state(state, moment))
        if kind is not None:
            wanted = wanted.where(_JOBS.kind == kind)
        if after is not None:
            wanted = wanted.where(_JOBS.id < after.id)
        rows = await self.database.read(lambda it: it.execute(wanted).all())
        return [_report(row, moment) for row in rows]

    @writing
    def cancel(self, connection: Connection, job_id: str) -> bool:
        meant = and_(_JOBS.id == job_id, _JOBS.gave_up <= GAVE_UP)
        now = self._clock.now()
        return _ended(connection, meant, _CANCELLED, now)

    async def counts(self) -> JobCounts:
        statement = select(_JOBS.gave_up, func.count()).group_by(_JOBS.gave_up)
        rows = await self.database.read(lambda connection: connection.execute(statement).all())
        found = {row[0]: row[1] for row in rows}
        return JobCounts(waiting=found.get(OPEN, 0), failed=found.get(GAVE_UP, 0))


def _ended(
    connection: Connection,
    meant: ColumnElement[bool],
    ending: int,
    now: datetime,
    result: Mapping[str, Any] | None = None,
) -> bool:
    """End a job and keep that it ended, without what it was about; False if there is none."""
    too_old = and_(_JOBS.gave_up >= _DONE, _JOBS.run_after <= to_micros(now - _KEPT))
    connection.execute(delete(schema.jobs).where(too_old))
    over = {
        "gave_up": ending,
        # Its key is free for the next job of its kind.
        "key": _JOBS.id,
        "payload": to_json(result or {}),
        "run_after": to_micros(now),
        "lease_until": 0,
        "lease_owner": "",
        "last_error": "",
    }
    return connection.execute(update(schema.jobs).where(meant).values(over)).rowcount > 0


def _in_state(state: JobState, now: int) -> ColumnElement[bool]:
    endings = {told: number for number, told in _ENDINGS.items()}
    if state in endings:
        return _JOBS.gave_up == endings[state]
    is_leased = _JOBS.lease_until > now
    return and_(_JOBS.gave_up == OPEN, is_leased if state == "running" else ~is_leased)


def _report(row: Any, now: int) -> JobReport:
    is_running = row.gave_up == OPEN and row.lease_until > now
    is_kept = row.gave_up >= _DONE
    return JobReport(
        id=row.id,
        kind=row.kind,
        key="" if is_kept else row.key,
        state=_ENDINGS.get(row.gave_up, "running" if is_running else "waiting"),
        attempts=row.attempts,
        at=from_micros(row.lease_until if is_running else row.run_after),
        error=row.last_error,
        result=json.loads(row.payload) if is_kept else {},
    )


def _waiting(kinds: Sequence[str]) -> ColumnElement[bool]:
    return and_(_JOBS.gave_up == OPEN, _JOBS.kind.in_(kinds))


def _held(job: Job) -> ColumnElement[bool]:
    return and_(_JOBS.id == job.id, _JOBS.lease_owner == job.lease_owner)
