"""Adding jobs within a transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

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
    for job in jobs:
        if not job.is_wanted(turn_ordinals):
            continue
        key = {"kind": job.kind, "key": job.key}
        due = {
            "payload": to_json(job.payload),
            "run_after": to_micros(job.run_after or now),
            "attempts": 0,
            "gave_up": OPEN,
        }
        if not statements.SAME_JOB.rows(connection, statements.prefixed(key)):
            unheld = {"lease_until": 0, "lease_owner": job.holder, "last_error": ""}
            statements.INSERT_JOB.run(connection, [{"id": new_id("job"), **key, **due, **unheld}])
            if not dialect_of(connection).is_server:
                continue
        # It may be running now on what it read before this write: a new time, which whoever
        # finishes it will notice, makes it run again.
        again = {**key, **due, "holder": job.holder, "now": to_micros(now)}
        statements.REPEAT_JOB.run(connection, [statements.prefixed(again)])
