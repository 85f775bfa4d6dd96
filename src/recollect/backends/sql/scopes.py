"""What the database says about scopes: their numbers, versions and how much they hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    Connection,
    Integer,
    String,
    bindparam,
    literal_column,
    select,
    tuple_,
)

from recollect.backends.sql import schema, statements
from recollect.backends.sql.agent_marks import require_here
from recollect.backends.sql.database import remembered
from recollect.backends.sql.dialects import dialect_of
from recollect.backends.sql.full_text import UNIT_BITS, space_of
from recollect.backends.sql.portable import (
    InsertOrIgnore,
    begins_with,
    first_version,
    listed,
    listed_numbers,
)
from recollect.backends.sql.prepared_statement import PreparedStatement
from recollect.backends.sql.rows import Row, rows_of, scope_key, to_json
from recollect.domain.document import collection_owner
from recollect.domain.scope import COLLECTION_MARK, Scope

_TABLE: Final = schema.scopes.c
_KEY: Final = (_TABLE.org, _TABLE.workspace, _TABLE.agent, _TABLE.user)
AGENTS_OF: Final = PreparedStatement(
    select(schema.scopes).where(
        *(_TABLE[name] == bindparam(f"of_{name}") for name in ("org", "workspace", "user")),
        _TABLE.agent.in_(listed("agents")),
    )
)
_BY_ID: Final = PreparedStatement(select(schema.scopes).where(_TABLE.id.in_(listed_numbers("ids"))))
_COLLECTIONS_OF: Final = PreparedStatement(
    select(schema.scopes).where(
        *(_TABLE[name] == bindparam(f"of_{name}") for name in ("org", "workspace")),
        _TABLE.user.in_(listed("users")),
        begins_with(_TABLE.agent, COLLECTION_MARK),
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
        """Return the numbers that units which answer here and are newer than `after` can have."""
        first = self.id << UNIT_BITS | self.first_unit
        return {"first": max(first, after + 1), "last": self.last_unit}

    @property
    def last_in_full_text(self) -> int:
        """The highest number that a unit in the full text can have."""
        return self.id << UNIT_BITS | self.full_text_to


def find_scopes(connection: Connection, scopes: Sequence[Scope]) -> dict[int, Scope]:
    """Return the ids of those scopes in which anything was ever written."""
    rows = _rows(connection, scopes)
    return {row.id: scope for scope, row in zip(scopes, rows, strict=True) if row is not None}


def read_scopes(connection: Connection, scopes: Sequence[Scope]) -> list[ScopeRow]:
    """Return the rows of those scopes in which anything was ever written."""
    rows = _rows(connection, scopes)
    return list({row.id: row for row in rows if row is not None}.values())


def read_versions(connection: Connection, scopes: Sequence[Scope]) -> tuple[int, ...]:
    """Return the version of each of these scopes; 0 of one in which nothing was ever written."""
    return tuple([0 if row is None else row.version for row in _rows(connection, scopes)])


def read_scope(connection: Connection, scope_id: int) -> ScopeRow:
    """Return the row of one scope that is known to be there."""
    (found,) = rows_of(connection, select(schema.scopes).where(_TABLE.id == scope_id))
    return _scope_row(found)


def rows_of_scopes(connection: Connection, scopes: Iterable[Scope]) -> Iterator[tuple[Scope, Row]]:
    """Yield the rows of those scopes in which anything was ever written.

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
    """Return the scopes with these ids."""
    wanted = list(ids)
    if not wanted:
        return {}
    return scopes_by_number(_BY_ID.rows(connection, {"ids": to_json(wanted)}))


def collection_scopes(connection: Connection, owners: Sequence[Scope]) -> dict[int, Scope]:
    """Return the collections of these owners by their numbers."""
    users: dict[tuple[str, str], list[str]] = {}
    for owner in owners:
        users.setdefault((owner.org, owner.workspace), []).append(owner.user or "")
    found: dict[int, Scope] = {}
    for (org, workspace), named in users.items():
        given = {"of_org": org, "of_workspace": workspace, "users": to_json(named)}
        found |= scopes_by_number(_COLLECTIONS_OF.rows(connection, given))
    return {number: scope for number, scope in found.items() if collection_owner(scope) in owners}


def scopes_by_number(rows: Iterable[Row]) -> dict[int, Scope]:
    """Return the scopes of rows by their numbers."""
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
    """Return the row of each scope, None of one in which nothing was ever written."""
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


# --- The row of a scope that a transaction writes to: locked until it ends, made when missing -----

_GIVEN_KEY: Final = {
    name: bindparam(f"its_{name}", type_=String()) for name in ("org", "workspace", "agent", "user")
}
_LOCK: Final = PreparedStatement(
    select(
        *(_TABLE.id, _TABLE.version, _TABLE.next_unit, _TABLE.unit_length),
        *(_TABLE.model_id, _TABLE.full_text_to, _TABLE.first_unit),
    )
    .where(*(_TABLE[name] == given for name, given in _GIVEN_KEY.items()))
    .with_for_update()
)
_NOTHING: Final = literal_column("0", Integer)
# A scope that was forgotten and begins anew has versions that it never had before, so that no
# answer which is kept somewhere is taken for a current one.
_MAKE: Final = PreparedStatement(
    # Another process may make it at the same moment; both then wait for the same row.
    InsertOrIgnore(schema.scopes).values(
        **_GIVEN_KEY,
        version=first_version(),
        next_unit=literal_column("1", Integer),
        **dict.fromkeys(("unit_count", "unit_length", "full_text_to"), _NOTHING),
    )
)


_LOCK_ALL: Final = PreparedStatement(
    select(_TABLE.id)
    .where(_TABLE.id.in_(listed_numbers("numbers")))
    .order_by(_TABLE.id)
    .with_for_update(of=schema.scopes)
)


def lock_scope(connection: Connection, key: Mapping[str, str]) -> Row | None:
    """Return the row of the scope with this key; None where nothing was ever written."""
    found = next(iter(_LOCK.rows(connection, _given(key))), None)
    if found is not None:
        # Asked when the row is locked: whoever moves an agent locks it too.
        require_here(connection, key["agent"])
    return found


def lock_or_make_scope(connection: Connection, key: Mapping[str, str]) -> Row:
    """Return the row of the scope with this key."""
    found = lock_scope(connection, key)
    if found is None:
        _MAKE.run(connection, [_given(key)])
        (found,) = _LOCK.rows(connection, _given(key))
        require_here(connection, key["agent"])
    return found


def close_as_left(
    connection: Connection, scope: Scope, counters: Mapping[str, Any], left: Row
) -> bool:
    """Store the counters of a scope that is as it was left; return whether it still was."""
    given = {f"left_{name}": value for name, value in (*scope_key(scope).items(), *left.items())}
    return bool(statements.CLOSE_SCOPE_AS_LEFT.run(connection, [{**counters, **given}]))


def lock_scopes(connection: Connection, scope_ids: Iterable[int]) -> None:
    """Lock the rows of these scopes, always in the same order; nobody writes there meanwhile."""
    numbers = sorted(set(scope_ids))
    if numbers and dialect_of(connection).is_server:
        _LOCK_ALL.rows(connection, {"numbers": to_json(numbers)})


def _given(key: Mapping[str, str]) -> dict[str, str]:
    return {f"its_{name}": part for name, part in key.items()}
