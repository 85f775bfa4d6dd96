"""A job that has sessions read again whose claims were taken for known."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

_JOB = "recover"


def upgrade() -> None:
    connection = op.get_bind()
    records = sa.table("records", *map(sa.column, ("id", "kind", "source")))
    has_episodes = connection.execute(
        sa.select(records.c.id)
        .where(records.c.kind == "episodic", records.c.source == "session")
        .limit(1)
    ).first()
    numbers = ("run_after", "lease_until", "attempts", "gave_up")
    texts = {"kind": _JOB, "key": _JOB, "payload": "{}", "lease_owner": "", "last_error": ""}
    row = {"id": f"job_{_JOB}", **texts, **dict.fromkeys(numbers, 0)}
    jobs = sa.table("jobs", *map(sa.column, row))
    # MySQL may have been interrupted after it.
    is_queued = connection.execute(sa.select(jobs.c.id).where(jobs.c.id == row["id"])).first()
    if has_episodes and not is_queued:
        connection.execute(jobs.insert().values(row))
