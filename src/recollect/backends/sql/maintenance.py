"""Care of the whole database."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, select

from recollect.backends.sql import schema
from recollect.backends.sql.backup import back_up
from recollect.backends.sql.database import Database
from recollect.backends.sql.rows import record_from, rows_of, turn_from
from recollect.backends.sql.scopes import scopes_by_id
from recollect.domain.record import Record
from recollect.domain.turn import Turn


class SqlMaintenance:
    """What an operator or a background job needs of a SQL database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def analysed_otherwise(self, analyzer: str, limit: int) -> list[Record | Turn]:
        def read(connection: Connection) -> list[Record | Turn]:
            units, records, turns = schema.units.c, schema.records, schema.turns
            # Two ranges instead of "not equal", so that the index on analyzer finds them.
            stale = (
                select(units.owner_id)
                .where((units.analyzer < analyzer) | (units.analyzer > analyzer))
                .limit(limit)
            )
            ids = list(connection.scalars(stale))
            found: list[Record | Turn] = []
            record_rows = rows_of(connection, select(records).where(records.c.id.in_(ids)))
            turn_rows = rows_of(connection, select(turns).where(turns.c.id.in_(ids)))
            scopes = scopes_by_id(
                connection, {row["scope_id"] for row in (*record_rows, *turn_rows)}
            )
            found += [record_from(row, scopes[row["scope_id"]]) for row in record_rows]
            found += [turn_from(row, scopes[row["scope_id"]]) for row in turn_rows]
            return found

        return await self._database.read(read)

    async def size(self) -> int:
        def read(connection: Connection) -> int:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            return pages * connection.exec_driver_sql("PRAGMA page_size").scalar_one()

        return await self._database.read(read)

    async def backup(self, target: Path) -> None:
        await self._database.read(lambda connection: back_up(connection, target))
