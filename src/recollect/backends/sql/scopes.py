"""Finding scopes' rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from sqlalchemy import Connection, bindparam, select

from recollect.backends.sql import schema
from recollect.backends.sql.database import remembered
from recollect.backends.sql.quick import Quick, listed
from recollect.backends.sql.rows import Row, scope_key, to_json
from recollect.domain.scope import Scope

_TABLE: Final = schema.scopes.c
AGENTS_OF: Final = Quick(
    select(schema.scopes).where(
        *(_TABLE[name] == bindparam(f"of_{name}") for name in ("org", "workspace", "user")),
        _TABLE.agent.in_(listed("agents")),
    )
)


def find_scopes(connection: Connection, scopes: Sequence[Scope]) -> dict[int, Scope]:
    """The ids of those scopes in which anything was ever written."""
    # A scope keeps its id until it is forgotten, so a reader looks for each until it is there.
    known = remembered(connection)
    unknown = [scope for scope in scopes if scope not in known]
    if unknown:
        for scope, row in rows_of_scopes(connection, unknown):
            known[scope] = row["id"]
    return {known[scope]: scope for scope in scopes if scope in known}


def rows_of_scopes(connection: Connection, scopes: Iterable[Scope]) -> Iterator[tuple[Scope, Row]]:
    """The rows of those scopes in which anything was ever written.

    What one caller may read differs only by agent, so the index finds any number of agents;
    a list of whole keys would make SQLite go through every scope there is.
    """
    agents: dict[tuple[str, str, str], dict[str, Scope]] = {}
    for scope in scopes:
        key = scope_key(scope)
        place = (key["org"], key["workspace"], key["user"])
        agents.setdefault(place, {})[key["agent"]] = scope
    for (org, workspace, user), named in agents.items():
        given = {"of_org": org, "of_workspace": workspace, "of_user": user}
        for row in AGENTS_OF.rows(connection, {**given, "agents": to_json(list(named))}):
            yield named[row["agent"]], row


def scopes_by_id(connection: Connection, ids: Iterable[int]) -> dict[int, Scope]:
    """The scopes with these ids."""
    rows = connection.execute(select(schema.scopes).where(_TABLE.id.in_(list(ids))))
    return {
        row.id: Scope(
            org=row.org, workspace=row.workspace, agent=row.agent or None, user=row.user or None
        )
        for row in rows
    }
