"""Traces of writes, and how far extraction has read the sessions, as rows."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from recollect.backends.sql import schema
from recollect.backends.sql.database import Database
from recollect.backends.sql.rows import past_row, record_from, rows_of
from recollect.backends.sql.scopes import find_scopes
from recollect.domain.record import Record
from recollect.domain.scope import Scope
from recollect.domain.times import from_micros, to_micros
from recollect.domain.turn import Turn
from recollect.domain.write import Step, Trace


class SqlWrites:
    """Traces of writes, and how far extraction has read sessions. Reads only see given scopes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def trace(self, scopes: Sequence[Scope], write_id: str) -> Trace | None:
        """Return the steps of one write, or None if it is not visible."""

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
        """Return the ordinal of the last turn that extraction has read; 0 if none."""

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

    async def made_from(self, scopes: Sequence[Scope], turns: Sequence[Turn]) -> list[Record]:
        """Return every version of every record, deleted ones too, that names one of these turns."""
        records, past = schema.records.c, schema.versions.c
        # No record is older than what it was made from.
        since = min((to_micros(turn.recorded_at) for turn in turns), default=0)

        def names_one(column: ColumnElement[str]) -> ColumnElement[bool]:
            return or_(*(column.contains(turn.id, autoescape=True) for turn in turns))

        def read(connection: Connection) -> list[Record]:
            found = find_scopes(connection, scopes)
            current = select(schema.records).where(
                records.scope_id.in_(found), records.recorded_at >= since
            )
            before = select(past.body, past.scope_id).where(
                past.scope_id.in_(found), past.recorded_at >= since
            )
            rows = [
                *rows_of(connection, current.where(names_one(records.evidence))),
                *(
                    {**past_row(row["body"]), "scope_id": row["scope_id"]}
                    for row in rows_of(connection, before.where(names_one(past.body)))
                ),
            ]
            return [record_from(row, found[row["scope_id"]]) for row in rows]

        return await self._database.read(read) if turns else []

    async def unread_turns(self, scope: Scope, session: str) -> int:
        """Return how many turns of a session extraction has not read."""

        def read(connection: Connection) -> int:
            turns, marks = schema.turns.c, schema.watermarks.c
            found = find_scopes(connection, [scope])
            mark = select(func.max(marks.ordinal)).where(
                marks.scope_id.in_(found), marks.session == session
            )
            unread = select(func.count()).where(
                turns.scope_id.in_(found),
                turns.session == session,
                turns.ordinal > func.coalesce(mark.scalar_subquery(), 0),
            )
            return connection.scalar(unread) or 0

        return await self._database.read(read)

    async def unread_sessions(self, scope: Scope) -> list[str]:
        """Return the sessions with turns that extraction has not read, oldest first."""

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


# --- Requests that happen once: keys that callers gave them, each with what came of it ------------


# --- What changed in a scope, read from the database ----------------------------------------------


# --- Turns without an act in a SQL database -------------------------------------------------------


# --- Sessions whose claims were taken for known because their episode came first ------------------


# --- Records without a facet in a SQL database ----------------------------------------------------
