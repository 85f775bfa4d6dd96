"""Requests that happen once: keys that callers gave them, each with what came of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, delete, insert, select

from recollect.backends.sql import schema
from recollect.backends.sql.database import Database
from recollect.backends.sql.rows import to_json
from recollect.backends.sql.scopes import find_scopes
from recollect.domain.change import Committed, Idempotency
from recollect.domain.scope import Scope
from recollect.domain.times import from_micros, to_micros
from recollect.errors import Conflict
from recollect.ports.runtime import Clock

LIFETIME: Final = timedelta(hours=24)
_TABLE: Final = schema.idempotency.c


class SqlKeptResults:
    """Reads what came of requests."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def find(
        self, wanted: Idempotency, principal: str, scope: Scope
    ) -> Mapping[str, Any] | None:
        now = self._clock.now()

        def read(connection: Connection) -> Mapping[str, Any] | None:
            for scope_id in find_scopes(connection, [scope]):
                found = find_result(connection, wanted, principal, scope_id, now)
                return None if found is None else found.replayed
            return None

        return await self._database.read(read)


def find_result(
    connection: Connection, wanted: Idempotency, principal: str, scope_id: int, now: datetime
) -> Committed | None:
    """What came of the request when this key was used before with the same body."""
    row = connection.execute(
        select(_TABLE.body_hash, _TABLE.result, _TABLE.created_at).where(
            _TABLE.principal == principal, _TABLE.scope_id == scope_id, _TABLE.key == wanted.key
        )
    ).one_or_none()
    if row is None or row.created_at <= to_micros(now - LIFETIME):
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
    too_old = _TABLE.created_at <= to_micros(now - LIFETIME)
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
