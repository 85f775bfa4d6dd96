"""A little room kept beside the database, so that something can be removed from a full disk.

Removing writes too: a version, an entry in the audit, the log. The reserve is made where the disk
has become small, and given up by the first removal that finds it full.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Final

from recollect.domain.files import make_file

_MEGABYTE: Final = 1 << 20
_SIZE: Final = 2 * _MEGABYTE
_TO_OPEN: Final = _MEGABYTE // 4
# With more than so much nothing is reserved; with less than so much it would be the last straw.
_PLENTY: Final = 1_024 * _MEGABYTE
_TOO_LITTLE: Final = 2 * _SIZE


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
            if self._size == _SIZE or not _TOO_LITTLE < free < _PLENTY:
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
