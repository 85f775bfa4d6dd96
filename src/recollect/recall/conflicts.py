"""Conflicts between records as rows."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, and_, select

from recollect.backends.sql import schema
from recollect.backends.sql.database import Database
from recollect.backends.sql.rows import conflict_from, rows_of
from recollect.backends.sql.scopes import find_scopes
from recollect.domain.record import Status
from recollect.domain.relation import Conflict
from recollect.domain.scope import Scope


class SqlConflicts:
    """Reads the conflicts that writing has found."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(
        self, scopes: Sequence[Scope], *, ids: Sequence[str] | None = None
    ) -> list[Conflict]:
        """Return open conflicts between active records, latest first; or those with these ids."""
        table = schema.conflicts.c

        def read(connection: Connection) -> list[Conflict]:
            found = find_scopes(connection, scopes)
            wanted = select(schema.conflicts).where(table.scope_id.in_(found))
            wanted = wanted.where(is_open() if ids is None else table.id.in_(ids))
            rows = rows_of(connection, wanted.order_by(table.created_at.desc(), table.id.desc()))
            return [conflict_from(row, found[row["scope_id"]]) for row in rows]

        return await self._database.read(read)


def is_open() -> ColumnElement[bool]:
    """Return the condition that a conflict is undecided and both records still stand."""
    table = schema.conflicts.c
    first, second = schema.records.alias(), schema.records.alias()
    active = Status.ACTIVE.value
    return and_(
        table.resolved_at.is_(None),
        select(first.c.id).where(first.c.id == table.first_id, first.c.status == active).exists(),
        select(second.c.id)
        .where(second.c.id == table.second_id, second.c.status == active)
        .exists(),
    )
