"""Copying the whole database while it is in use, and bringing a copy back."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from sqlalchemy import Connection

from recollect.backends.sql.faults import storage_error
from recollect.errors import Conflict, StorageBusy, StorageError


def back_up(connection: Connection, target: Path) -> None:
    """Copy the database to `target`, which appears only when it is whole and checked."""
    if target.exists():
        raise Conflict(
            f"{target} exists already; a backup never overwrites a file",
            code="file_exists",
            hint="Give another name.",
        )
    source = connection.connection.driver_connection
    assert isinstance(source, sqlite3.Connection)
    _copy_checked(source, target)


def restore(copy: Path, database: Path) -> None:
    """Put a backup in the place of the database; what was there is kept as `….before-restore`."""
    if not copy.is_file():
        raise StorageError(f"There is no backup at {copy}", code="backup_missing")
    _require_unused(database)
    source = sqlite3.connect(f"{copy.resolve().as_uri()}?mode=ro", uri=True)
    try:
        _copy_checked(source, database)
    except sqlite3.DatabaseError as damage:
        raise StorageError(
            f"{copy} cannot be restored: {damage}; the database was left as it was",
            code="backup_damaged",
            hint="Try an older backup.",
        ) from damage
    finally:
        source.close()


def _copy_checked(source: sqlite3.Connection, target: Path) -> None:
    """Copy page by page into a file beside the target, check it, then rename it into place."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(target.name + ".unfinished")
    unfinished.unlink(missing_ok=True)
    try:
        copy = sqlite3.connect(unfinished)
        try:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")
            _require_sound(copy, unfinished)
        finally:
            copy.close()
        _sync(unfinished)
        if target.exists():
            target.replace(target.with_name(target.name + ".before-restore"))
        # A log left by the replaced database must not be played into the restored one.
        for suffix in ("-wal", "-shm"):
            target.with_name(target.name + suffix).unlink(missing_ok=True)
        unfinished.replace(target)
        _sync(target.parent)
    finally:
        unfinished.unlink(missing_ok=True)


def _require_unused(database: Path) -> None:
    """Refuse while another process has the database open; a damaged one may be replaced."""
    if not database.exists():
        return
    current = sqlite3.connect(database, timeout=1)
    try:
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
    finally:
        current.close()


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
