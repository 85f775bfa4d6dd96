"""The files beside a database, and when they contradict what is in it.

A database that was lost, cut short or separated from its log would otherwise open as a new and
empty one, and everything that is written then would hide what happened.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from recollect.backends.audit_anchor import anchor_of
from recollect.backends.sql.forget_ledger import ledger_of
from recollect.domain.archive import contents_beside
from recollect.domain.files import make_file
from recollect.errors import StorageError

# --------------------------------------------------------------------------------------------------
# A little room kept beside the database, so that something can be removed from a full disk.
# Removing writes too: a version, an entry in the audit, the log. The reserve is made where the disk
# has become small, and given up by the first removal that finds it full.

_MEGABYTE: Final = 1 << 20
_SIZE: Final = 2 * _MEGABYTE
_TO_OPEN: Final = _MEGABYTE // 4
# With more than so much nothing is reserved; with less than so much it would be the last straw.
_PLENTY_BYTES: Final = 1_024 * _MEGABYTE
_TOO_LITTLE_BYTES: Final = 2 * _SIZE


class Reserve:
    """The room kept beside a database."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._file = reserve_of(database)

    def keep(self) -> None:
        """Make the reserve where it is needed and possible."""
        # A disk that does not let us is no reason not to open a memory.
        with contextlib.suppress(OSError):
            free = shutil.disk_usage(self._database.parent).free
            if self._size == _SIZE or not _TOO_LITTLE_BYTES < free < _PLENTY_BYTES:
                return
            make_file(self._file)
            with self._file.open("r+b") as file:
                file.write(bytes(_SIZE))
                file.flush()
                os.fsync(file.fileno())

    def lend(self) -> bool:
        """Give up enough of the reserve to open the database with; False if there is none."""
        if not self._size:
            return False
        os.truncate(self._file, max(self._size - _TO_OPEN, 0))
        return True

    @property
    def _size(self) -> int:
        return self._file.stat().st_size if self._file.exists() else 0

    def release(self) -> None:
        """Give the reserve up, and with it the room of what the log holds twice."""
        self._file.unlink(missing_ok=True)
        with (
            contextlib.suppress(sqlite3.Error),
            contextlib.closing(sqlite3.connect(self._database, timeout=1)) as connection,
        ):
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def reserve_of(database: Path) -> Path:
    """Return where the reserve of a database is."""
    return database.with_name(f"{database.name}-reserve")


# --- The files beside a database, and when they contradict what is in it --------------------------

_MAX_LOOKS: Final = 3
_PAUSE_SECONDS: Final = 0.02


def log_of(database: Path) -> Path:
    """Return where SQLite keeps what is not in the database file yet."""
    return database.with_name(f"{database.name}-wal")


def shared_memory_of(database: Path) -> Path:
    """Return the file that SQLite has beside a log, from when it is opened until it is closed."""
    return database.with_name(f"{database.name}-shm")


def unfinished_of(target: Path) -> Path:
    """Return where a copy is made before it gets its name."""
    return target.with_name(f"{target.name}.unfinished")


def companions_of(database: Path) -> list[Path]:
    """Return all files and folders that are there beside a database and belong to it."""
    beside = (log_of(database), shared_memory_of(database), reserve_of(database))
    known = (*beside, *_traces(database))
    return [it for it in known if it.exists()]


def require_nothing_lost(database: Path) -> None:
    """Refuse where a database is missing or empty and what lies beside shows that it was not."""
    left = [trace for trace in _traces(database) if _holds_something(trace)]
    # SQLite throws a log away that has no database.
    log = log_of(database)
    if not _holds_something(database) and _holds_something(log):
        left.insert(0, log)
    if not left:
        return
    names = ", ".join(it.name for it in left)
    raise StorageError(
        f"{database} {'is empty' if database.exists() else 'is missing'}, but a memory was there: "
        f"{names} beside it belong to one. Nothing was changed",
        code="database_missing",
        hint=f"{_way_back(database, left)} To begin anew with nothing, move {names} away.",
    )


def require_log(database: Path) -> None:
    """Refuse a database whose log was taken away while there was something in it.

    SQLite makes a log before the shared memory and removes it after that, so only somebody else
    can have removed the log alone.
    """
    log, shared_memory = log_of(database), shared_memory_of(database)
    for _ in range(_MAX_LOOKS):
        if log.exists() or not shared_memory.exists():
            return
        # Others may be opening or closing it: the two are not looked at in one moment.
        time.sleep(_PAUSE_SECONDS)
    raise StorageError(
        f"{log} is gone, and with it what was written to {database} last: it was not closed since, "
        f"as {shared_memory.name} shows. Nothing was changed",
        code="log_missing",
        hint=f"Put {log.name} back, or bring back a backup with `recollect restore COPY`. To go on "
        f"without what it held, remove {shared_memory.name}.",
    )


def _traces(database: Path) -> Iterator[Path]:
    """Yield the files that remain beside a database with content after it is closed."""
    yield ledger_of(database)
    yield anchor_of(database)
    yield contents_beside(database)
    yield unfinished_of(database)
    yield database.with_name(f"{database.name}.copying")
    yield from sorted(database.parent.glob(f"{_literally(database.name)}.before-restore*"))


def _literally(name: str) -> str:
    """Return a name as a pattern that matches only itself."""
    return "".join(f"[{it}]" if it in "*?[" else it for it in name)


def _holds_something(path: Path) -> bool:
    if path.is_dir():
        return any(path.iterdir())
    return path.exists() and path.stat().st_size > 0


def _way_back(database: Path, left: list[Path]) -> str:
    kept = [it for it in left if ".before-restore" in it.name]
    if kept:
        return (
            f"Bring back a backup with `recollect restore COPY`, or rename {kept[-1].name}, which "
            f"the last restore kept, to {database.name}."
        )
    if left[0] == log_of(database):
        return f"Put the file {database.name} back beside its log."
    return "Put the file back, or bring back a backup with `recollect restore COPY`."
