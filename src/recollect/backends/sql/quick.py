"""Statements of the hot paths, without what SQLAlchemy does around every execution.

Measured on SQLite: a prepared insert costs 15 µs in the driver and 120 µs through Core. The
statement itself stays Core's, so every other database runs it as it is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from sqlalchemy import Connection, Select, bindparam, func, select
from sqlalchemy.dialects import sqlite
from sqlalchemy.sql.compiler import Compiled
from sqlalchemy.sql.expression import ClauseElement, Executable

_SLICE: Final = 8_000


def listed(name: str) -> Select[Any]:
    """The members of a parameter that holds a JSON list.

    One parameter however many there are, so that a statement is compiled only once.
    """
    return select(func.json_each(bindparam(name, "[]")).table_valued("value").c.value)


class Quick:
    """One statement, compiled once."""

    def __init__(self, statement: Executable) -> None:
        self._statement = statement

    def rows(self, connection: Connection, given: Mapping[str, Any]) -> Sequence[Any]:
        """What a query gives; values are found by place and by column name."""
        driver = _driver(connection)
        if driver is None:
            return list(connection.execute(self._statement, given).mappings())
        cursor = driver.execute(self.sql, {**self._own_values, **given})
        cursor.row_factory = sqlite3.Row
        return cursor.fetchall()

    def slices(self, connection: Connection, given: Mapping[str, Any]) -> Iterator[Sequence[Any]]:
        """What a query gives, some thousand rows at a time: as objects all would take much room."""
        driver = _driver(connection)
        if driver is None:
            yield from connection.execute(self._statement, given).partitions(_SLICE)
            return
        cursor = driver.execute(self.sql, {**self._own_values, **given})
        while rows := cursor.fetchmany(_SLICE):
            yield rows

    def by_name(self, connection: Connection, given: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """What a query gives, each row by column name: for rows of which many columns are read."""
        rows = self.rows(connection, given)
        if not rows or not isinstance(rows[0], sqlite3.Row):
            return list(rows)
        # A row of the driver looks for a name from column to column.
        names = rows[0].keys()
        return [dict(zip(names, row, strict=True)) for row in rows]

    def run(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert or change these."""
        driver = _driver(connection)
        if driver is None:
            connection.execute(self._statement, rows)
        elif len(rows) == 1:
            driver.execute(self.sql, rows[0])
        else:
            driver.executemany(self.sql, rows)

    @cached_property
    def sql(self) -> str:
        """How SQLite is told it."""
        return str(self._compiled)

    @cached_property
    def _own_values(self) -> dict[str, Any]:
        """The values that are part of the statement."""
        return dict(self._compiled.params or {})

    @cached_property
    def _compiled(self) -> Compiled:
        assert isinstance(self._statement, ClauseElement)
        return self._statement.compile(
            dialect=sqlite.dialect(paramstyle="named"),
            compile_kwargs={"render_postcompile": True},
        )


def _driver(connection: Connection) -> sqlite3.Connection | None:
    driver = connection.connection.driver_connection
    return driver if isinstance(driver, sqlite3.Connection) else None
