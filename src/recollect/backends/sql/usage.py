"""Writing how records are used, beside what they say: no version is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, update

from recollect.backends.sql import schema, statements
from recollect.backends.sql.rows import Row, details_json, procedure_from
from recollect.domain.change import Access, Feedback
from recollect.domain.times import to_micros


def add_feedback(connection: Connection, current: Row, feedback: Feedback) -> None:
    """Count a use or a rejection of the record whose row this is."""
    table = schema.records
    counter = table.c.helped if feedback.helped else table.c.rejected
    values: dict[str, Any] = {counter.name: counter + 1}
    procedure = procedure_from(current)
    if procedure is not None and feedback.was_used:
        values["details"] = details_json(procedure.after_use(success=feedback.helped))
    connection.execute(update(table).where(table.c.id == current["id"]).values(values))


def count_accesses(connection: Connection, accesses: Sequence[Access]) -> None:
    """Add to the counters of records; one that is gone needs none."""
    rows = [
        {"new_id": access.record_id, "new_count": access.count, "new_at": to_micros(access.at)}
        for access in accesses
    ]
    if rows:
        statements.COUNT_ACCESSES.run(connection, rows)


def next_row(row: dict[str, Any], before: Row) -> dict[str, Any]:
    """The row of a record's next version, with the uses that the version before has by now.

    Whoever edits a record has read it some time ago; what was counted since must not be lost.
    """
    written = {name: row[name] for name in ("id", *statements.CHANGING)}
    procedure, used = procedure_from(row), procedure_from(before)
    if procedure is not None and used is not None and _feedback(row) != _feedback(before):
        written["details"] = details_json(procedure.with_uses_of(used))
    return written


def _feedback(row: Row) -> tuple[int, int]:
    return row["helped"], row["rejected"]
