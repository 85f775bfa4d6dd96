"""How conflicts, links and proposals look as rows."""

from __future__ import annotations

import json
from datetime import datetime

from recollect.backends.sql.rows import Row
from recollect.domain.relation import Conflict, Link
from recollect.domain.scope import Scope
from recollect.domain.sharing import Proposal
from recollect.domain.times import from_micros


def conflict_from(row: Row, scope: Scope) -> Conflict:
    return Conflict(
        id=row["id"],
        scope=scope,
        first=row["first_id"],
        second=row["second_id"],
        reason=row["reason"],
        created_at=from_micros(row["created_at"]),
        resolved_at=_moment(row["resolved_at"]),
        resolved_by=row["resolved_by"],
        resolution=row["resolution"],
    )


def link_from(row: Row, scope: Scope) -> Link:
    return Link(
        scope=scope,
        newer=row["newer"],
        older=row["older"],
        relation=row["relation"],
        probability=row["probability"],
        reason=row["reason"],
        decided_by=row["decided_by"],
        at=from_micros(row["at"]),
    )


def proposal_from(row: Row, scope: Scope) -> Proposal:
    """A proposal as it is stored: one past its time is not marked so before a sweep."""
    return Proposal(
        id=row["id"],
        scope=scope,
        type=row["type"],
        proposer=row["proposer"],
        role=row["role"],
        user=row["user"],
        status=row["status"],
        title=row["title"],
        content=row["content"],
        reason=row["reason"],
        confidence=row["confidence"],
        created_at=from_micros(row["created_at"]),
        expires_at=_moment(row["expires_at"]),
        target=row["target_id"],
        record=row["record_id"],
        decided_at=_moment(row["decided_at"]),
        decided_by=row["decided_by"],
        decision=row["decision"],
        body=json.loads(row["body"]),
    )


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)
