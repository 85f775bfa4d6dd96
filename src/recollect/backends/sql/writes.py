"""Traces and watermarks, read from the database."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import Connection, and_, func, select

from recollect.backends.sql import schema
from recollect.backends.sql.database import Database
from recollect.backends.sql.scopes import find_scopes
from recollect.domain.scope import Scope
from recollect.domain.times import from_micros
from recollect.domain.write import Step, Trace


class SqlWrites:
    """Implements `Writes`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def trace(self, scopes: Sequence[Scope], write_id: str) -> Trace | None:
        def read(connection: Connection) -> Trace | None:
            found = find_scopes(connection, scopes)
            table = schema.writes.c
            row = connection.execute(
                select(schema.writes).where(table.id == write_id, table.scope_id.in_(found))
            ).one_or_none()
            if row is None:
                return None
            return Trace(
                id=row.id,
                scope=found[row.scope_id],
                session=row.session,
                created_at=from_micros(row.created_at),
                steps=tuple(Step(**step) for step in json.loads(row.steps)),
            )

        return await self._database.read(read)

    async def watermark(self, scope: Scope, session: str) -> int:
        def read(connection: Connection) -> int:
            table = schema.watermarks.c
            found = find_scopes(connection, [scope])
            return (
                connection.scalar(
                    select(table.ordinal).where(table.scope_id.in_(found), table.session == session)
                )
                or 0
            )

        return await self._database.read(read)

    async def unread_sessions(self, scope: Scope) -> list[str]:
        def read(connection: Connection) -> list[str]:
            turns, marks = schema.turns.c, schema.watermarks.c
            found = find_scopes(connection, [scope])
            same = and_(marks.scope_id == turns.scope_id, marks.session == turns.session)
            unread = (
                select(turns.session)
                .select_from(schema.turns.outerjoin(schema.watermarks, same))
                .where(turns.scope_id.in_(found))
                .where(turns.ordinal > func.coalesce(marks.ordinal, 0))
                .group_by(turns.session)
                .order_by(func.min(turns.at), turns.session)
            )
            return [*connection.scalars(unread)]

        return await self._database.read(read)
