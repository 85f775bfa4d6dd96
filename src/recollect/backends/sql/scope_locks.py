"""The row of a scope that a transaction writes to: locked until it ends, made when missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlalchemy import Connection, Integer, String, bindparam, insert, literal_column, select

from recollect.backends.sql import schema
from recollect.backends.sql.quick import Quick
from recollect.backends.sql.rows import Row

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
    insert(schema.scopes).values(
        **_KEY,
        version=literal_column("(SELECT user_version << 32 FROM pragma_user_version)"),
        next_unit=literal_column("1", Integer),
        **dict.fromkeys(("unit_count", "unit_length", "full_text_to"), _NOTHING),
    )
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


def _given(key: Mapping[str, str]) -> dict[str, str]:
    return {f"its_{name}": part for name, part in key.items()}
