"""Care of the whole database."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, func, select

from recollect.backends.sql import schema
from recollect.backends.sql.backup import back_up, blobs_of
from recollect.backends.sql.database import Database
from recollect.backends.sql.dialects import dialect_of
from recollect.backends.sql.index_generations import answers
from recollect.backends.sql.index_rebuild import by_another
from recollect.backends.sql.migrate import knows, revision
from recollect.backends.sql.sqlite_database import SqliteDatabase
from recollect.domain.archive import Blob
from recollect.domain.forgetting import FORGET
from recollect.domain.stats import DatabaseCondition, IndexFigures, JobCounts, TroubledJob
from recollect.errors import NotAvailable

_MOST_TROUBLED: Final = 5


class SqlMaintenance:
    """What an operator or a background job needs of a SQL database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def condition(self) -> DatabaseCondition:
        return await self._database.read(_condition)

    async def figures(self, analyzer: str) -> IndexFigures:
        return await self._database.read(lambda connection: _figures(connection, analyzer))

    async def size(self) -> int:
        return await self._database.read(lambda it: dialect_of(it).size(it))

    async def backup(self, target: Path) -> list[Blob]:
        if not isinstance(self._database, SqliteDatabase):
            raise NotAvailable(
                f"{self._database.name} is backed up by the server's own tool; nothing was copied",
                code="backup_by_server",
                hint="Use pg_dump or mariadb-dump, and copy the archived contents with it; "
                "`recollect export` writes all memory to one file.",
            )
        await self._database.read(lambda connection: back_up(connection, target))
        return await asyncio.to_thread(blobs_of, target)


def _condition(connection: Connection) -> DatabaseCondition:
    dialect = dialect_of(connection)
    current = revision(connection)
    return DatabaseCondition(
        bytes=dialect.size(connection),
        journal_mode="" if dialect.is_server else dialect.describe(connection),
        server=dialect.describe(connection) if dialect.is_server else "",
        unmet=tuple(dialect.unmet(connection)),
        damage=dialect.look_for_damage(connection),
        revision=current,
        newest_revision=schema.HEAD_REVISION,
        is_from_the_future=current is not None and not knows(connection, current),
    )


def _figures(connection: Connection, analyzer: str) -> IndexFigures:
    units, scopes, jobs = schema.units, schema.scopes.c, schema.jobs.c
    counted = select(func.count()).select_from(units).where(answers())
    most = select(func.max(scopes.unit_count), func.max(scopes.unit_length))
    most_units, most_terms = connection.execute(most).one()
    waiting = select(func.count()).where(jobs.gave_up == 0)
    failed = select(func.count()).where(jobs.gave_up == 1)
    forgetting = select(func.count()).where(jobs.kind == FORGET, jobs.gave_up <= 1)
    troubled = (
        select(jobs.kind, jobs.key, jobs.attempts, jobs.last_error, jobs.gave_up)
        .where(jobs.last_error != "")
        .order_by(jobs.gave_up.desc(), jobs.run_after)
        .limit(_MOST_TROUBLED)
    )
    return IndexFigures(
        units=connection.scalar(counted) or 0,
        analysed_otherwise=connection.scalar(counted.where(by_another(analyzer))) or 0,
        most_units=most_units or 0,
        most_terms=most_terms or 0,
        jobs=JobCounts(
            waiting=connection.scalar(waiting) or 0, failed=connection.scalar(failed) or 0
        ),
        unfinished_forgettings=connection.scalar(forgetting) or 0,
        troubled=tuple(
            TroubledJob(
                kind=row.kind,
                key=row.key,
                attempts=row.attempts,
                error=row.last_error,
                gave_up=bool(row.gave_up),
            )
            for row in connection.execute(troubled)
        ),
    )
