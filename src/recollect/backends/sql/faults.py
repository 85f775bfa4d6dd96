"""What a driver's error means to the person who meets it."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from sqlalchemy.exc import DBAPIError

from recollect.domain.files import has_no_room, what_to_free
from recollect.errors import StorageBusy, StorageError

# SQLite tells most of these apart only by their text.
_MEANINGS: Final[tuple[tuple[str, str, str, str], ...]] = (
    (
        "readonly",
        "database_read_only",
        "The database file {path} cannot be written",
        "Check the permissions of the file and its folder.",
    ),
    (
        "read-only",
        "database_read_only",
        "The database file {path} cannot be written",
        "Check the permissions of the file and its folder.",
    ),
    (
        "unable to open",
        "database_unreachable",
        "The database file {path} cannot be opened",
        "Check that the folder exists and may be written to.",
    ),
    (
        "malformed",
        "database_corrupt",
        "The database file {path} is damaged",
        "Bring back the last good copy with `recollect restore`.",
    ),
    (
        "not a database",
        "database_corrupt",
        "The file {path} is not a database",
        "Give another path, or bring back a copy with `recollect restore`.",
    ),
)


# Errors on connecting come straight from the driver, all others wrapped by SQLAlchemy.
DRIVER_ERRORS: Final = (DBAPIError, sqlite3.Error)


def storage_error(fault: DBAPIError | sqlite3.Error, path: Path) -> StorageError:
    """One of our errors for a driver's, with what to do about it."""
    text = str(fault.orig if isinstance(fault, DBAPIError) else fault)
    if "locked" in text or "busy" in text:
        return StorageBusy(
            "Another process kept the database locked; nothing of this call was written",
            hint="Try again; if it stays so, look for a process that holds a long transaction.",
        )
    if "full" in text or ("disk I/O error" in text and has_no_room(path.parent)):
        return StorageError(
            "The disk is full; nothing of this call was kept, everything before it was",
            code="disk_full",
            hint=what_to_free(path),
        )
    for sign, code, message, hint in _MEANINGS:
        if sign in text:
            return StorageError(message.format(path=path), code=code, hint=hint)
    return StorageError(f"The database refused: {text}")
