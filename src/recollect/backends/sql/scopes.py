"""Finding scopes' rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement, Connection, and_, false, or_, select

from recollect.backends.sql import schema
from recollect.backends.sql.database import remembered
from recollect.backends.sql.rows import scope_key
from recollect.domain.scope import Scope


def find_scopes(connection: Connection, scopes: Sequence[Scope]) -> dict[int, Scope]:
    """The ids of those scopes in which anything was ever written."""
    # A scope keeps its id for ever, so a reader looks for each only until it is there.
    known = remembered(connection)
    unknown = [scope for scope in scopes if scope not in known]
    if unknown:
        for scope, number in _read_ids(connection, unknown).items():
            known[scope] = number
    return {known[scope]: scope for scope in scopes if scope in known}


def _read_ids(connection: Connection, scopes: Sequence[Scope]) -> dict[Scope, int]:
    table = schema.scopes.c
    keys = {tuple(scope_key(scope).values()): scope for scope in scopes}
    columns = (table.id, table.org, table.workspace, table.agent, table.user)
    rows = connection.execute(select(*columns).where(are_among(scopes)))
    return {keys[tuple(row[1:])]: row[0] for row in rows}


def are_among(scopes: Iterable[Scope]) -> ColumnElement[bool]:
    """That a scope's row is one of these.

    What one caller may read differs only by agent, so the index finds any number of agents;
    a list of whole keys would make SQLite go through every scope there is.
    """
    table = schema.scopes.c
    agents: dict[tuple[str, str, str], list[str]] = {}
    for key in map(scope_key, scopes):
        agents.setdefault((key["org"], key["workspace"], key["user"]), []).append(key["agent"])
    return or_(
        false(),
        *(
            and_(
                table.org == org,
                table.workspace == workspace,
                table.user == user,
                table.agent.in_(names),
            )
            for (org, workspace, user), names in agents.items()
        ),
    )


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
