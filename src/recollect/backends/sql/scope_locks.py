"""The row of a scope that a transaction writes to: locked until it ends, made when missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from sqlalchemy import Connection, Integer, String, bindparam, literal_column, select

from recollect.backends.sql import schema
from recollect.backends.sql.dialects import dialect_of
from recollect.backends.sql.portable import InsertOrIgnore, first_version, listed_numbers
from recollect.backends.sql.prepared_statement import Quick
from recollect.backends.sql.rows import Row, to_json

_TABLE: Final = schema.scopes.c
_KEY: Final = {
    name: bindparam(f"its_{name}", type_=String()) for name in ("org", "workspace", "agent", "user")
}
_LOCK: Final = Quick(
    select(
        *(_TABLE.id, _TABLE.version, _TABLE.next_unit, _TABLE.unit_length),
        *(_TABLE.model_id, _TABLE.full_text_to, _TABLE.first_unit),
    )
    .where(*(_TABLE[name] == given for name, given in _KEY.items()))
    .with_for_update()
)
_NOTHING: Final = literal_column("0", Integer)
# A scope that was forgotten and begins anew has versions that it never had before, so that no
# answer which is kept somewhere is taken for a current one.
_MAKE: Final = Quick(
    # Another process may make it at the same moment; both then wait for the same row.
    InsertOrIgnore(schema.scopes).values(
        **_KEY,
        version=first_version(),
        next_unit=literal_column("1", Integer),
        **dict.fromkeys(("unit_count", "unit_length", "full_text_to"), _NOTHING),
    )
)


_LOCK_ALL: Final = Quick(
    select(_TABLE.id)
    .where(_TABLE.id.in_(listed_numbers("numbers")))
    .order_by(_TABLE.id)
    .with_for_update(of=schema.scopes)
)


def locked(connection: Connection, key: Mapping[str, str]) -> Row | None:
    """The row of the scope with this key; None where nothing was ever written."""
    return next(iter(_LOCK.rows(connection, _given(key))), None)


def locked_or_made(connection: Connection, key: Mapping[str, str]) -> Row:
    """The row of the scope with this key."""
    found = locked(connection, key)
    if found is None:
        _MAKE.run(connection, [_given(key)])
        (found,) = _LOCK.rows(connection, _given(key))
    return found


def lock_scopes(connection: Connection, scope_ids: Iterable[int]) -> None:
    """Lock the rows of these scopes, always in the same order; nobody writes there meanwhile."""
    numbers = sorted(set(scope_ids))
    if numbers and dialect_of(connection).is_server:
        _LOCK_ALL.rows(connection, {"numbers": to_json(numbers)})


def _given(key: Mapping[str, str]) -> dict[str, str]:
    return {f"its_{name}": part for name, part in key.items()}
