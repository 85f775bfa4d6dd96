"""Settings → the database, and who uses it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from recollect.backends.sql.database import Database
from recollect.backends.sql.migrate import bring_up_to_date
from recollect.errors import RecollectError, StorageError
from recollect.settings import Settings


def open_database(settings: Settings) -> Database:
    is_temporary = settings.is_temporary
    path = _temporary_path() if is_temporary else settings.database
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise StorageError(
            f"The folder {path.parent} cannot be made: {problem.strerror}",
            code="database_unreachable",
            hint="Choose another place: --data, RECOLLECT_DATA_DIR or Memory.open(path).",
        ) from None
    database = database_at(settings, path, is_temporary=is_temporary)
    try:
        bring_up_to_date(database)
    except RecollectError:
        database.close_here()
        raise
    return database


def database_at(settings: Settings, path: Path, *, is_temporary: bool = False) -> Database:
    return Database(
        path,
        synchronous="off" if is_temporary else settings.storage.synchronous,
        busy_timeout=settings.storage.busy_timeout,
        is_temporary=is_temporary,
    )


def _temporary_path() -> Path:
    """Memory that ends with the process is an ordinary database in a folder that goes with it."""
    return Path(tempfile.mkdtemp(prefix="recollect-")) / "memory.db"
