"""Care of the whole database."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, func, select

from recollect.backends.sql import schema
from recollect.backends.sql.backup import back_up, blobs_of
from recollect.backends.sql.database import Database
from recollect.backends.sql.editions import answers
from recollect.backends.sql.migrate import knows, revision
from recollect.backends.sql.renewing import by_another
from recollect.domain.archive import Blob
from recollect.domain.diagnosis import DatabaseCondition, IndexFigures, TroubledJob
from recollect.domain.stats import JobCounts

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
        return await self._database.read(_size)

    async def backup(self, target: Path) -> list[Blob]:
        await self._database.read(lambda connection: back_up(connection, target))
        return await asyncio.to_thread(blobs_of, target)


def _size(connection: Connection) -> int:
    pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    return pages * connection.exec_driver_sql("PRAGMA page_size").scalar_one()


def _condition(connection: Connection) -> DatabaseCondition:
    verdict = "; ".join(connection.exec_driver_sql("PRAGMA quick_check(3)").scalars())
    current = revision(connection)
    return DatabaseCondition(
        bytes=_size(connection),
        journal_mode=connection.exec_driver_sql("PRAGMA journal_mode").scalar_one(),
        damage="" if verdict == "ok" else verdict,
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
    failed = select(func.count()).where(jobs.gave_up != 0)
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
