"""What each kind of database does in its own way; everything else is one SQL for all."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from sqlalchemy import Connection

from recollect.backends.sql.dialects.base import Dialect

__all__ = ["Dialect", "dialect_named", "dialect_of"]

_NAMES: Final[Mapping[str, str]] = {"mariadb": "mysql"}


def dialect_of(connection: Connection) -> Dialect:
    """Return the dialect of a connection's database."""
    return dialect_named(connection.dialect.name)


@cache
def dialect_named(name: str) -> Dialect:
    """Return the dialect that SQLAlchemy calls by this name."""
    # Imported when needed: a program on SQLite does not pay for the servers.
    match _NAMES.get(name, name):
        case "sqlite":
            from recollect.backends.sql.dialects.sqlite import SqliteDialect

            return SqliteDialect()
        case "postgresql":
            from recollect.backends.sql.dialects.postgresql import PostgresqlDialect

            return PostgresqlDialect()
        case "mysql":
            from recollect.backends.sql.dialects.mysql import MysqlDialect

            return MysqlDialect()
        case _:
            raise AssertionError(f"no dialect for {name}")
