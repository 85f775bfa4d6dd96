"""What the database says about scopes: their versions and how much they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Connection, select, text

from recollect.backends.sql import schema
from recollect.backends.sql.quick import Quick
from recollect.backends.sql.rows import Row, rows_of
from recollect.backends.sql.scopes import rows_of_scopes
from recollect.domain.scope import Scope

UNIT_BITS: Final = 32
_DATA_VERSION: Final = Quick(text("PRAGMA data_version"))
_MEMO: Final = "recollect.scope_rows"
_MEMO_SIZE: Final = 10_000


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

    @property
    def last_unit(self) -> int:
        """The highest number that a unit of this scope has had so far."""
        return (self.id << UNIT_BITS) + self.next_unit - 1


@dataclass(frozen=True, slots=True)
class _Memo:
    """What a connection has read since the database last changed; None is a scope without a row."""

    data_version: int
    rows: dict[Scope, ScopeRow | None] = field(default_factory=dict[Scope, ScopeRow | None])


def read_scopes(connection: Connection, scopes: Sequence[Scope]) -> list[ScopeRow]:
    """The rows of those scopes in which anything was ever written."""
    rows = _remembered(connection, tuple(dict.fromkeys(scopes)))
    return [row for row in rows if row is not None]


def read_versions(connection: Connection, scopes: Sequence[Scope]) -> tuple[int, ...]:
    """The version of each of these scopes; 0 of one in which nothing was ever written."""
    rows = _remembered(connection, scopes)
    return tuple(0 if row is None else row.version for row in rows)


def read_scope(connection: Connection, scope_id: int) -> ScopeRow:
    """The row of one scope that is known to be there."""
    (found,) = rows_of(connection, select(schema.scopes).where(schema.scopes.c.id == scope_id))
    return _scope_row(found)


def _remembered(connection: Connection, scopes: Sequence[Scope]) -> list[ScopeRow | None]:
    """The row of each scope, None of one in which nothing was ever written."""
    memo = _memo(connection)
    unknown = [scope for scope in scopes if scope not in memo.rows]
    if unknown:
        memo.rows.update(_read(connection, unknown))
    return [memo.rows[scope] for scope in scopes]


def _memo(connection: Connection) -> _Memo:
    # It changes whenever another connection commits, and readers never write themselves. Asking
    # also starts the snapshot, so what is remembered is what the snapshot has.
    data_version: int = _DATA_VERSION.rows(connection, {})[0][0]
    memo: _Memo | None = connection.info.get(_MEMO)
    if memo is None or memo.data_version != data_version or len(memo.rows) > _MEMO_SIZE:
        memo = connection.info[_MEMO] = _Memo(data_version)
    return memo


def _read(connection: Connection, scopes: Sequence[Scope]) -> dict[Scope, ScopeRow | None]:
    rows: dict[Scope, ScopeRow | None] = dict.fromkeys(scopes)
    for scope, found in rows_of_scopes(connection, scopes):
        rows[scope] = _scope_row(found)
    return rows


def _scope_row(found: Row) -> ScopeRow:
    return ScopeRow(
        id=found["id"],
        version=found["version"],
        next_unit=found["next_unit"],
        units=found["unit_count"],
        length=found["unit_length"],
        model=found["model_id"],
    )
