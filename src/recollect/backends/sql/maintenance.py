"""Care of the whole database."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, func, select

from recollect.backends.audit_anchor import anchor_of
from recollect.backends.sql import schema
from recollect.backends.sql.companions import log_of, shared_memory_of, unfinished_of
from recollect.backends.sql.database import OnDatabase, reading, storage_error
from recollect.backends.sql.dialects import dialect_of
from recollect.backends.sql.forget_ledger import LedgerFile, ledger_of, merge
from recollect.backends.sql.index_generations import answers, made_by_another_analyzer
from recollect.backends.sql.migrate import knows, require_known, revision, stored_revision
from recollect.backends.sql.sqlite_database import SqliteDatabase
from recollect.domain.archive import Blob
from recollect.domain.files import is_full, make_file, make_folder, make_private, what_to_free
from recollect.domain.forgetting import FORGET
from recollect.domain.job import JobCounts
from recollect.domain.stats import DatabaseCondition, IndexFigures, TroubledJob
from recollect.errors import Conflict, NotAvailable, StorageBusy, StorageError

# --- Copying the whole database while it is in use, and bringing a copy back ----------------------


def back_up(connection: Connection, target: Path) -> None:
    """Copy the database to `target`, which appears only when it is whole and checked.

    The ledger of what was forgotten goes with it.
    """
    source = connection.connection.driver_connection
    assert isinstance(source, sqlite3.Connection)
    with _told_as_unwritable(target):
        if target.exists():
            raise Conflict(
                f"{target} exists already; a backup never overwrites a file",
                code="file_exists",
                hint="Give another name.",
            )
        _staged(source, target).replace(target)
        _sync(target.parent)
        merge(_ledger_beside(source), LedgerFile(ledger_of(target)))


def blobs_of(copy: Path) -> list[Blob]:
    """Return the contents that a copy of the database refers to."""
    wanted = "SELECT hash, key, size, stored_size, stored_hash FROM blobs ORDER BY key"
    with closing(sqlite3.connect(f"{copy.resolve().as_uri()}?mode=ro", uri=True)) as database:
        return [
            Blob(hash=it[0], key=it[1], size=it[2], stored_size=it[3], stored_hash=it[4])
            for it in database.execute(wanted)
        ]


def stage(copy: Path, database: Path) -> Path:
    """Copy a backup beside the database and check it; nothing else is changed yet."""
    if not copy.is_file():
        raise StorageError(f"There is no backup at {copy}", code="backup_missing")
    _require_unused(database)
    try:
        with (
            closing(sqlite3.connect(f"{copy.resolve().as_uri()}?mode=ro", uri=True)) as source,
            _told_as_unwritable(database),
        ):
            _require_ours(source, copy)
            return _staged(source, database)
    except sqlite3.DatabaseError as fault:
        problem = storage_error(fault, copy)
        if problem.code != "database_corrupt":
            raise problem from fault
        raise StorageError(
            f"{copy} cannot be restored: {fault}; the database was left as it was",
            code="backup_damaged",
            hint="Try an older backup.",
        ) from fault


def switch(staged: Path, copy: Path, database: Path) -> None:
    """Put a staged backup in the place of the database, in one step.

    There is a whole database in its place all the time: what was there gets a second name,
    `….before-restore`, and loses its first one when the copy takes it.
    """
    _require_unused(database)
    with _told_as_unwritable(database):
        # What was forgotten since, or before the copy was made elsewhere, stays forgotten:
        # whoever opens the database next goes by the ledger.
        merge(LedgerFile(ledger_of(copy)), LedgerFile(ledger_of(database)))
        # The audit of the copy ends where it did then, and that is no fault of it.
        anchor_of(database).unlink(missing_ok=True)
        if database.exists():
            _keep(database)
        # A log left by the replaced database must not be played into the restored one.
        for left in (shared_memory_of(database), log_of(database)):
            left.unlink(missing_ok=True)
        staged.replace(database)
        _sync(database.parent)


def _ledger_beside(source: sqlite3.Connection) -> LedgerFile:
    (_, _, path) = source.execute("PRAGMA database_list").fetchone()
    return LedgerFile(ledger_of(Path(path)))


def _require_ours(source: sqlite3.Connection, copy: Path) -> None:
    """Refuse what would leave nothing, or nothing that can be opened, in the database's place."""
    revision = stored_revision(source, copy)
    if revision is None:
        raise StorageError(
            f"{copy} is empty; the database was left as it was",
            code="backup_damaged",
            hint="Try an older backup.",
        )
    require_known(None, revision, copy)


def _staged(source: sqlite3.Connection, target: Path) -> Path:
    """Copy page by page into a file beside the target and check it."""
    make_folder(target.parent)
    unfinished = unfinished_of(target)
    unfinished.unlink(missing_ok=True)
    # Made here and not by SQLite, which would not say why it cannot.
    make_file(unfinished)
    try:
        with closing(sqlite3.connect(unfinished)) as copy:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")
            _require_sound(copy, unfinished)
        _sync(unfinished)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    return unfinished


def _keep(database: Path) -> None:
    """Give a database that is about to be replaced a second name, with a damaged one its log."""
    kept = _free_name(database)
    for file, name in ((database, kept), (log_of(database), log_of(kept))):
        if not file.exists():
            continue
        make_private(file)
        try:
            name.hardlink_to(file)
        except OSError:
            # Some file systems have no links.
            shutil.copy2(file, name)
            _sync(name)


def _free_name(database: Path) -> Path:
    """`….before-restore`, with a number when an earlier restore has kept one already."""
    names = (f"{database.name}.before-restore{number or ''}" for number in count())
    return next(path for name in names if not (path := database.with_name(name)).exists())


@contextmanager
def _told_as_unwritable(target: Path) -> Generator[None]:
    try:
        yield
    except OSError as problem:
        raise StorageError(
            f"{target} cannot be written: {problem.strerror}",
            code="disk_full" if is_full(problem) else "file_unwritable",
            hint=what_to_free(target)
            if is_full(problem)
            else "Check the permissions of its folder, or choose another place.",
        ) from problem


def _require_unused(database: Path) -> None:
    """Refuse while another process has the database open; a damaged one may be replaced."""
    if not database.exists():
        return
    try:
        with closing(sqlite3.connect(database, timeout=1)) as current:
            # Leaving WAL mode takes the whole file, which no other connection may have open.
            # It also brings the log into the file, so that the kept copy is complete.
            current.execute("PRAGMA journal_mode=DELETE").fetchone()
    except sqlite3.OperationalError as held:
        if "locked" in str(held):
            raise StorageBusy(
                f"{database} is open elsewhere; nothing was restored",
                code="database_in_use",
                hint="Stop the server and every other program that uses it, then try again.",
            ) from held
        raise storage_error(held, database) from held
    except sqlite3.DatabaseError:
        return


def _require_sound(copy: sqlite3.Connection, path: Path) -> None:
    verdict = copy.execute("PRAGMA integrity_check").fetchone()[0]
    broken = copy.execute("PRAGMA foreign_key_check").fetchone()
    if verdict != "ok" or broken is not None:
        raise StorageError(f"The copy {path} is not sound: {verdict}", code="backup_damaged")


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# --- Care of the whole database -------------------------------------------------------------------

_MOST_TROUBLED: Final = 5


class SqlMaintenance(OnDatabase):
    """What an operator or a background job needs of a SQL database."""

    async def condition(self) -> DatabaseCondition:
        """Return the condition of the database after checking every page."""
        return await self.database.read(_condition)

    @reading
    def figures(self, connection: Connection, analyzer: str) -> IndexFigures:
        """Return the size of the index and the queue, for a database of the newest revision."""
        return _figures(connection, analyzer)

    @reading
    def size(self, connection: Connection) -> int:
        """Return the size of the database on disk, in bytes."""
        return dialect_of(connection).size(connection)

    async def backup(self, target: Path) -> list[Blob]:
        """Copy the database consistently while others write; return the blobs that it refers to."""
        if not isinstance(self.database, SqliteDatabase):
            raise NotAvailable(
                f"{self.database.name} is backed up by the server's own tool; nothing was copied",
                code="backup_by_server",
                hint="Use pg_dump or mariadb-dump, and copy the archived contents with it; "
                "`recollect export` writes all memory to one file.",
            )
        await self.database.read(lambda connection: back_up(connection, target))
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
        analysed_otherwise=connection.scalar(counted.where(made_by_another_analyzer(analyzer)))
        or 0,
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
