"""Writing what belongs to records: conflicts, proposals, traces of writes and watermarks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, Table, insert, update

from recollect.backends.sql import schema
from recollect.backends.sql.rows import to_json
from recollect.domain.conflict import Conflict
from recollect.domain.proposal import Proposal
from recollect.domain.times import to_micros
from recollect.domain.write import Trace, Watermark


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


def put_proposal(connection: Connection, proposal: Proposal, scope_id: int) -> None:
    """Keep the newest state of a proposal."""
    row = {
        "scope_id": scope_id,
        "type": proposal.type,
        "proposer": proposal.proposer,
        "role": proposal.role,
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
        connection.execute(insert(schema.writes), rows)


def raise_watermark(connection: Connection, mark: Watermark, scope_id: int, now: int) -> None:
    """A session was read up to here."""
    place = {"scope_id": scope_id, "session": mark.session}
    _put(connection, schema.watermarks, place, {"ordinal": mark.ordinal, "updated_at": now})


def _put(
    connection: Connection, table: Table, key: Mapping[str, Any], row: Mapping[str, Any]
) -> None:
    """Change the row with this key, or insert it when there is none."""
    here = [table.c[name] == value for name, value in key.items()]
    if not connection.execute(update(table).where(*here).values(**row)).rowcount:
        connection.execute(insert(table).values(**key, **row))
