"""The results of requests with an idempotency key, kept for a day."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, delete, insert, select

from recollect.backends.sql import schema
from recollect.backends.sql.rows import to_json
from recollect.domain.change import Committed, Idempotency
from recollect.domain.times import from_micros, to_micros
from recollect.errors import Conflict

_LIFETIME: Final = timedelta(hours=24)
_RESULTS: Final = schema.idempotency.c


def find_result(
    connection: Connection, wanted: Idempotency, principal: str, scope_id: int, now: datetime
) -> Committed | None:
    """Return what came of the request when this key was used before with the same body."""
    row = connection.execute(
        select(_RESULTS.body_hash, _RESULTS.result, _RESULTS.created_at).where(
            _RESULTS.principal == principal,
            _RESULTS.scope_id == scope_id,
            _RESULTS.key == wanted.key,
        )
    ).one_or_none()
    if row is None or row.created_at <= to_micros(now - _LIFETIME):
        return None
    if row.body_hash != wanted.body_hash:
        raise Conflict(
            f"The idempotency key {wanted.key!r} was used for another request",
            code="idempotency_mismatch",
            hint="Use a new key for a new request; the first one stands as it was.",
        )
    result: Mapping[str, Any] = json.loads(row.result)
    return Committed(recorded_at=from_micros(row.created_at), versions={}, replayed=result)


def keep_result(
    connection: Connection, given: Idempotency, principal: str, scope_id: int, now: datetime
) -> None:
    """Keep what came of a request for a day."""
    # Whatever has outlived its day goes along, this key's own old entry too.
    too_old = _RESULTS.created_at <= to_micros(now - _LIFETIME)
    connection.execute(delete(schema.idempotency).where(too_old))
    connection.execute(
        insert(schema.idempotency),
        {
            "principal": principal,
            "scope_id": scope_id,
            "key": given.key,
            "body_hash": given.body_hash,
            "result": to_json(given.result),
            "created_at": to_micros(now),
        },
    )
