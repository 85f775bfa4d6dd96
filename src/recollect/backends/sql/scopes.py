"""What the database says about scopes: their numbers, versions and how much they hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, bindparam, func, select, tuple_

from recollect.backends.sql import schema
from recollect.backends.sql.database import remembered
from recollect.backends.sql.dialects import dialect_of
from recollect.backends.sql.full_text import UNIT_BITS, space_of
from recollect.backends.sql.portable import listed, listed_numbers
from recollect.backends.sql.prepared_statement import Quick
from recollect.backends.sql.rows import Row, rows_of, scope_key, to_json
from recollect.domain.document import collection_owner
from recollect.domain.scope import COLLECTION_MARK, Scope

_TABLE: Final = schema.scopes.c
_KEY: Final = (_TABLE.org, _TABLE.workspace, _TABLE.agent, _TABLE.user)
AGENTS_OF: Final = Quick(
    select(schema.scopes).where(
        *(_TABLE[name] == bindparam(f"of_{name}") for name in ("org", "workspace", "user")),
        _TABLE.agent.in_(listed("agents")),
    )
)
_BY_ID: Final = Quick(select(schema.scopes).where(_TABLE.id.in_(listed_numbers("ids"))))
_COLLECTIONS_OF: Final = Quick(
    select(schema.scopes).where(
        *(_TABLE[name] == bindparam(f"of_{name}") for name in ("org", "workspace")),
        _TABLE.user.in_(listed("users")),
        func.substr(_TABLE.agent, 1, len(COLLECTION_MARK)) == COLLECTION_MARK,
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeRow:
    """A scope as a snapshot has it."""

    id: int
    version: int
    next_unit: int
    units: int
    length: int
    # The number of the model whose vectors answer here.
    model: int | None
    # Up to this counter the units are in the full text.
    full_text_to: int
    # From this counter on the units answer.
    first_unit: int

    @property
    def last_unit(self) -> int:
        """The highest number that a unit which answers here has had so far."""
        return (self.id << UNIT_BITS) + self.next_unit - 1

    @property
    def space(self) -> int:
        """What the tokens of its units begin with in the full text."""
        return space_of(self.id, self.first_unit)

    def numbers(self, after: int = 0) -> dict[str, int]:
        """The numbers that units which answer here and are newer than `after` can have."""
        first = self.id << UNIT_BITS | self.first_unit
        return {"first": max(first, after + 1), "last": self.last_unit}

    @property
    def last_in_full_text(self) -> int:
        """The highest number that a unit in the full text can have."""
        return self.id << UNIT_BITS | self.full_text_to


def find_scopes(connection: Connection, scopes: Sequence[Scope]) -> dict[int, Scope]:
    """The ids of those scopes in which anything was ever written."""
    rows = _rows(connection, scopes)
    return {row.id: scope for scope, row in zip(scopes, rows, strict=True) if row is not None}


def read_scopes(connection: Connection, scopes: Sequence[Scope]) -> list[ScopeRow]:
    """The rows of those scopes in which anything was ever written."""
    rows = _rows(connection, scopes)
    return list({row.id: row for row in rows if row is not None}.values())


def read_versions(connection: Connection, scopes: Sequence[Scope]) -> tuple[int, ...]:
    """The version of each of these scopes; 0 of one in which nothing was ever written."""
    return tuple(0 if row is None else row.version for row in _rows(connection, scopes))


def read_scope(connection: Connection, scope_id: int) -> ScopeRow:
    """The row of one scope that is known to be there."""
    (found,) = rows_of(connection, select(schema.scopes).where(_TABLE.id == scope_id))
    return _scope_row(found)


def rows_of_scopes(connection: Connection, scopes: Iterable[Scope]) -> Iterator[tuple[Scope, Row]]:
    """The rows of those scopes in which anything was ever written.

    What one caller may read differs only by agent, so the index finds any number of agents;
    a list of whole keys would make SQLite go through every scope there is.
    """
    if dialect_of(connection).is_server:
        # A server finds whole keys by the index, and every question is a way to it and back.
        keys = {tuple(scope_key(scope).values()): scope for scope in scopes}
        wanted = select(schema.scopes).where(tuple_(*_KEY).in_(list(keys)))
        for row in rows_of(connection, wanted) if keys else ():
            yield keys[row["org"], row["workspace"], row["agent"], row["user"]], row
        return
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
    wanted = list(ids)
    if not wanted:
        return {}
    return _by_number(_BY_ID.rows(connection, {"ids": to_json(wanted)}))


def collection_scopes(connection: Connection, owners: Sequence[Scope]) -> dict[int, Scope]:
    """Return the collections of these owners by their numbers."""
    users: dict[tuple[str, str], list[str]] = {}
    for owner in owners:
        users.setdefault((owner.org, owner.workspace), []).append(owner.user or "")
    found: dict[int, Scope] = {}
    for (org, workspace), named in users.items():
        given = {"of_org": org, "of_workspace": workspace, "users": to_json(named)}
        found |= _by_number(_COLLECTIONS_OF.rows(connection, given))
    return {number: scope for number, scope in found.items() if collection_owner(scope) in owners}


def _by_number(rows: Iterable[Row]) -> dict[int, Scope]:
    return {
        row["id"]: Scope(
            org=row["org"],
            workspace=row["workspace"],
            agent=row["agent"] or None,
            user=row["user"] or None,
        )
        for row in rows
    }


def _rows(connection: Connection, scopes: Sequence[Scope]) -> list[ScopeRow | None]:
    """The row of each scope, None of one in which nothing was ever written."""
    known = remembered(connection)
    wanted = tuple(scopes)
    rows = known.get(wanted)
    if rows is None:
        found = {scope: _scope_row(row) for scope, row in rows_of_scopes(connection, wanted)}
        rows = known[wanted] = [found.get(scope) for scope in wanted]
    return rows


def _scope_row(found: Row) -> ScopeRow:
    return ScopeRow(
        id=found["id"],
        version=found["version"],
        next_unit=found["next_unit"],
        units=found["unit_count"],
        length=found["unit_length"],
        model=found["model_id"],
        full_text_to=found["full_text_to"],
        first_unit=found["first_unit"],
    )
