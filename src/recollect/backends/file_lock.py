"""A lock that one process has until it gives it back or ends, however it ends."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from recollect.domain.files import make_file


def try_lock(path: Path) -> sqlite3.Connection | None:
    """Return a lock that nobody else can have until it is closed; None if somebody has it."""
    make_file(path)
    # What SQLite locks with works on every system, also in a folder that machines share.
    lock = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError:
        lock.close()
        return None
    return lock
