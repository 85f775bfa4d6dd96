"""Adding jobs within a transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection

from recollect.backends.sql import statements
from recollect.backends.sql.dialects import dialect_of
from recollect.backends.sql.rows import to_json
from recollect.domain.ids import new_id
from recollect.domain.job import NewJob
from recollect.domain.times import to_micros

# The column `gave_up` of a job that is still to be done; `recollect.jobs.queue` has the others.
OPEN: Final = 0


def insert_jobs(
    connection: Connection, jobs: Sequence[NewJob], now: datetime, turn_ordinals: Sequence[int] = ()
) -> None:
    """Add jobs within a transaction; one that waits already under the same key stands for both."""
    wanted = [job for job in jobs if job.is_wanted(turn_ordinals)]
    rows = [_row(job, now) for job in wanted]
    is_server = dialect_of(connection).is_server
    # Nobody else writes to a file meanwhile, and nearly all jobs are new.
    if not is_server and statements.INSERT_JOB.run(connection, rows) == len(rows):
        return
    for job, row in zip(wanted, rows, strict=True):
        if not statements.SAME_JOB.rows(connection, {"new_kind": job.kind, "new_key": job.key}):
            statements.INSERT_JOB.run(connection, [row])
        # It may be running now on what it read before this write: a new time, which whoever
        # finishes it will notice, makes it run again.
        due = {name: row[name] for name in ("kind", "key", *_DUE)}
        again = {**due, "holder": job.holder, "now": to_micros(now)}
        statements.REPEAT_JOB.run(connection, [statements.prefixed(again)])


# What is set anew when a job is asked for again.
_DUE: Final = ("payload", "run_after", "attempts", "gave_up")


def _row(job: NewJob, now: datetime) -> dict[str, Any]:
    return {
        "id": new_id("job"),
        "kind": job.kind,
        "key": job.key,
        "payload": to_json(job.payload),
        "run_after": to_micros(job.run_after or now),
        "lease_until": 0,
        "lease_owner": job.holder,
        "attempts": 0,
        "gave_up": OPEN,
        "last_error": "",
    }
