"""Settings → the database."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.backends.audit_anchor import AnchorFile, anchor_of, known_heads
from recollect.backends.objects import open_blobs
from recollect.backends.sql.audit_log import require_newest
from recollect.backends.sql.database import Database
from recollect.backends.sql.forget_ledger import LedgerFile, ledger_of, merge
from recollect.backends.sql.migrate import bring_up_to_date, require_usable
from recollect.backends.sql.reserve import Reserve
from recollect.backends.sql.sqlite_database import SqliteDatabase
from recollect.domain.private_files import make_file, make_folder
from recollect.errors import RecollectError, StorageError
from recollect.settings import Settings
from recollect.settings.server_url import driver_url

if TYPE_CHECKING:
    from recollect.backends.sql.journaled_database import JournaledDatabase
    from recollect.backends.sql.server_database import ServerDatabase


def open_database(settings: Settings) -> Database:
    """Open the database that the settings name, and bring it up to date."""
    if settings.is_journal:
        return _open_journal(settings)
    return _open_server(settings) if settings.server_url else _open_file(settings)


def server_at(settings: Settings) -> ServerDatabase:
    """Return the database server that the settings name, without connecting to it."""
    from recollect.backends.sql.server_database import ServerDatabase

    return ServerDatabase(
        driver_url(settings.server_url),
        beside=settings.database,
        contents=open_blobs(settings.blobs),
        connections=settings.storage.connections,
    )


def _open_server(settings: Settings) -> Database:
    from recollect.backends.sql.server_database import bring_server_up_to_date

    database = server_at(settings)
    try:
        bring_server_up_to_date(database)
        _carry_over(settings.database, database)
    except RecollectError:
        database.close_here()
        raise
    return database


def _carry_over(beside: Path, database: Database) -> None:
    """Put what earlier versions kept in a folder of this machine where all machines see it."""
    ledger, anchor = ledger_of(beside), anchor_of(beside)
    if ledger.exists():
        merge(LedgerFile(ledger), database.ledger)
        ledger.unlink(missing_ok=True)
    if anchor.exists():
        for head in AnchorFile(anchor).heads():
            database.anchor.keep(head)
        anchor.unlink(missing_ok=True)


def _open_journal(settings: Settings) -> Database:
    database = journal_at(settings)
    try:
        bring_up_to_date(database)
        known = known_heads(database.path)
        database.read_here(lambda connection: require_newest(connection, database.path, known))
        database.keep()
    except RecollectError:
        database.close_here()
        raise
    return database


def journal_at(settings: Settings) -> JournaledDatabase:
    """Return the memory that a journal holds; writes are not added to the journal yet."""
    from recollect.backends.sql.journaled_database import JournaledDatabase

    return JournaledDatabase(settings.database, busy_timeout=settings.storage.busy_timeout)


def _open_file(settings: Settings) -> SqliteDatabase:
    is_temporary = settings.is_temporary
    path = _temporary_path() if is_temporary else settings.database
    try:
        database = _open_at(settings, path, is_temporary=is_temporary)
    except StorageError as problem:
        # Opening needs a little space too, and nothing can be deleted before it is open.
        if problem.code != "disk_full" or not Reserve(path).lend():
            raise
        database = _open_at(settings, path, is_temporary=is_temporary)
    if not is_temporary:
        database.reserve.keep()
    return database


def _open_at(settings: Settings, path: Path, *, is_temporary: bool) -> SqliteDatabase:
    require_usable(path)
    try:
        make_folder(path.parent)
        # SQLite creates its other files with the same permissions.
        make_file(path)
    except OSError as problem:
        raise StorageError(
            f"{path} cannot be created: {problem.strerror}",
            code="database_unreachable",
            hint="Choose another place: --data, RECOLLECT_DATA_DIR or Memory.open(path).",
        ) from None
    # Read before the database, which is never behind it. Without `synchronous = full` the last
    # moments may be lost, so nothing is compared then.
    is_durable = settings.storage.synchronous == "full"
    known = known_heads(path) if is_durable and not is_temporary else ()
    database = database_at(settings, path, is_temporary=is_temporary)
    try:
        bring_up_to_date(database)
        database.read_here(lambda connection: require_newest(connection, path, known))
    except RecollectError:
        database.close_here()
        raise
    return database


def database_at(settings: Settings, path: Path, *, is_temporary: bool = False) -> SqliteDatabase:
    return SqliteDatabase(
        path,
        synchronous="off" if is_temporary else settings.storage.synchronous,
        busy_timeout=settings.storage.busy_timeout,
        is_temporary=is_temporary,
    )


def _temporary_path() -> Path:
    """Return a path in a temporary folder, for memory that ends with the process."""
    return Path(tempfile.mkdtemp(prefix="recollect-")) / "memory.db"
