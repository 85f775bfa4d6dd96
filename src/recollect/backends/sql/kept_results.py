"""The results of requests with an idempotency key, kept for a day."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
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


def find_results(
    connection: Connection,
    wanted: Sequence[Idempotency],
    principal: str,
    scope_id: int,
    now: datetime,
) -> list[Committed]:
    """Return what came of requests whose keys were used before with the same body."""
    by_key = {it.key: it for it in wanted}
    rows = connection.execute(
        select(_RESULTS.key, _RESULTS.body_hash, _RESULTS.result, _RESULTS.created_at).where(
            _RESULTS.principal == principal,
            _RESULTS.scope_id == scope_id,
            _RESULTS.key.in_(by_key),
            _RESULTS.created_at > to_micros(now - _LIFETIME),
        )
    )
    found: list[Committed] = []
    for row in rows:
        if row.body_hash != by_key[row.key].body_hash:
            raise Conflict(
                f"The idempotency key {row.key!r} was used for another request",
                code="idempotency_mismatch",
                hint="Use a new key for a new request; the first one stands as it was.",
            )
        result: Mapping[str, Any] = json.loads(row.result)
        found.append(
            Committed(recorded_at=from_micros(row.created_at), versions={}, replayed=result)
        )
    return found


def keep_results(
    connection: Connection,
    given: Sequence[Idempotency],
    principal: str,
    scope_id: int,
    now: datetime,
) -> None:
    """Keep what came of requests for a day."""
    # Whatever has outlived its day goes along, the old entries of these keys too.
    too_old = _RESULTS.created_at <= to_micros(now - _LIFETIME)
    connection.execute(delete(schema.idempotency).where(too_old))
    connection.execute(
        insert(schema.idempotency),
        [
            {
                "principal": principal,
                "scope_id": scope_id,
                "key": it.key,
                "body_hash": it.body_hash,
                "result": to_json(it.result),
                "created_at": to_micros(now),
            }
            for it in given
        ],
    )
