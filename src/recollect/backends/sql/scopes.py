"""Finding scopes' rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, select, tuple_

from recollect.backends.sql import schema
from recollect.backends.sql.rows import scope_key
from recollect.domain.scope import Scope


def find_scopes(connection: Connection, scopes: Sequence[Scope]) -> dict[int, Scope]:
    """The ids of those scopes in which anything was ever written."""
    table = schema.scopes.c
    keys = {tuple(scope_key(scope).values()): scope for scope in scopes}
    key = tuple_(table.org, table.workspace, table.agent, table.user)
    rows = connection.execute(
        select(table.id, table.org, table.workspace, table.agent, table.user).where(key.in_(keys))
    )
    return {row[0]: keys[tuple(row[1:])] for row in rows}


def scopes_by_id(connection: Connection, ids: Iterable[int]) -> dict[int, Scope]:
    """The scopes with these ids."""
    table = schema.scopes.c
    rows = connection.execute(select(schema.scopes).where(table.id.in_(list(ids))))
    return {
        row.id: Scope(
            org=row.org, workspace=row.workspace, agent=row.agent or None, user=row.user or None
        )
        for row in rows
    }
