"""Writing what belongs to records: conflicts, links, proposals, traces of writes and watermarks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, delete, insert, or_, select, update

from recollect.backends.sql import schema, statements
from recollect.backends.sql.rows import Row, details_json, procedure_from, to_json
from recollect.domain.change import Access, Feedback
from recollect.domain.relation import Conflict, Link
from recollect.domain.scope import Scope
from recollect.domain.sharing import Proposal, already_decided
from recollect.domain.times import to_micros
from recollect.domain.write import Trace, Watermark
from recollect.errors import StaleVersion


def require_records(
    connection: Connection, scope: Scope, scope_id: int, expected: int, found: int
) -> None:
    """Refuse to write on the ground of records that somebody else has changed since.

    Turns and vectors that came meanwhile were not judged; what was forgotten may have been.
    """
    if found == expected:
        return
    between = {"scope": scope_id, "expected": expected, "found": found}
    ((listed, judged),) = statements.CHANGES_SINCE.rows(connection, between)
    # A list that is no longer whole may have told of some.
    if judged or listed != found - expected:
        raise StaleVersion(
            f"{scope.key} was changed meanwhile", hint="Read it again and repeat the change."
        )


def put_conflict(connection: Connection, conflict: Conflict, scope_id: int) -> None:
    """Keep the newest state of a conflict."""
    row = {
        "scope_id": scope_id,
        "first_id": conflict.first,
        "second_id": conflict.second,
        "reason": conflict.reason,
        "created_at": to_micros(conflict.created_at),
        "resolved_at": conflict.resolved_at and to_micros(conflict.resolved_at),
        "resolved_by": conflict.resolved_by,
        "resolution": conflict.resolution,
    }
    _put(connection, schema.conflicts, {"id": conflict.id}, row)


def put_link(connection: Connection, link: Link, scope_id: int) -> None:
    """Keep the latest verdict on two records or turns."""
    row = {
        "scope_id": scope_id,
        "relation": link.relation,
        "probability": link.probability,
        "reason": link.reason,
        "decided_by": link.decided_by,
        "at": to_micros(link.at),
    }
    _put(connection, schema.links, {"newer": link.newer, "older": link.older}, row)


def remove_link(connection: Connection, link: Link) -> None:
    table = schema.links.c
    its = (table.newer == link.newer, table.older == link.older)
    connection.execute(delete(schema.links).where(*its))


def remove_links_of(connection: Connection, owner: str) -> None:
    """Remove every link of a record or turn that is gone."""
    table = schema.links.c
    connection.execute(delete(schema.links).where(or_(table.newer == owner, table.older == owner)))


def put_proposal(connection: Connection, proposal: Proposal, scope_id: int) -> None:
    """Keep a new proposal, or what became of one that waits; it is decided only once."""
    stored = select(schema.proposals.c.status).where(schema.proposals.c.id == proposal.id)
    if connection.scalar(stored) not in (None, "pending"):
        raise already_decided(proposal.id)
    row = {
        "scope_id": scope_id,
        "type": proposal.type,
        "proposer": proposal.proposer,
        "role": proposal.role,
        "user": proposal.user,
        "status": proposal.status,
        "target_id": proposal.target,
        "record_id": proposal.record,
        "title": proposal.title,
        "content": proposal.content,
        "reason": proposal.reason,
        "body": to_json(proposal.body),
        "confidence": proposal.confidence,
        "created_at": to_micros(proposal.created_at),
        "expires_at": proposal.expires_at and to_micros(proposal.expires_at),
        "decided_at": proposal.decided_at and to_micros(proposal.decided_at),
        "decided_by": proposal.decided_by,
        "decision": proposal.decision,
    }
    _put(connection, schema.proposals, {"id": proposal.id}, row)


def add_traces(connection: Connection, traces: Iterable[tuple[Trace, int]]) -> None:
    """Keep how things were written, each with the number of its scope."""
    rows = [
        {
            "id": trace.id,
            "scope_id": scope_id,
            "session": trace.session,
            "created_at": to_micros(trace.created_at),
            "steps": to_json([{"name": it.name, "result": it.result} for it in trace.steps]),
        }
        for trace, scope_id in traces
    ]
    if rows:
        statements.INSERT_TRACES.run(connection, rows)


def raise_watermark(connection: Connection, mark: Watermark, scope_id: int, now: int) -> None:
    """A session was read up to here, unless somebody else has read the same turns meanwhile.

    Turns that were forgotten meanwhile were read in vain: nothing made of them may be kept.
    """
    place = {"scope": scope_id, "place": mark.session}
    if not statements.READ_TURN.rows(connection, {**place, "last": mark.ordinal}):
        raise StaleVersion(
            f"The turns of session {mark.session} up to {mark.ordinal} were forgotten meanwhile",
            hint="There is nothing to read any more.",
        )
    known = statements.WATERMARK.rows(connection, place)
    if (known[0][0] if known else 0) != mark.before:
        raise StaleVersion(
            f"The turns of session {mark.session} after {mark.before} were read by somebody else",
            hint="Read on from where they stopped.",
        )
    row = {"scope_id": scope_id, "session": mark.session}
    row |= {"ordinal": mark.ordinal, "updated_at": now}
    if known:
        statements.RAISE_WATERMARK.run(connection, [statements.prefixed(row)])
    else:
        statements.INSERT_WATERMARK.run(connection, [row])


def _put(
    connection: Connection, table: Table, key: Mapping[str, Any], row: Mapping[str, Any]
) -> None:
    """Change the row with this key, or insert it when there is none."""
    here = [table.c[name] == value for name, value in key.items()]
    if not connection.execute(update(table).where(*here).values(**row)).rowcount:
        connection.execute(insert(table).values(**key, **row))


# --- Writing how records are used, beside what they say: no version is made of it -----------------


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
