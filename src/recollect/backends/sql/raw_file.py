"""A database's files as bytes, read and written beside SQLite.

On POSIX systems, closing any handle of a file lets go of all locks that the process has on it,
SQLite's own too. So a handle is opened once for each file and never closed.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_CHUNK: Final = 1 << 20

# By device and number of a file; the lock is held from going to a place until it is read.
_handles: dict[tuple[int, int], tuple[int, threading.Lock]] = {}
_opening = threading.Lock()


class RawFile:
    """A file of a database as it lies on the disk."""

    def __init__(self, path: Path) -> None:
        with _opening:
            status = path.stat()
            which = (status.st_dev, status.st_ino)
            if which not in _handles:
                handle = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
                _handles[which] = handle, threading.Lock()
            self._handle, self._lock = _handles[which]

    @property
    def size(self) -> int:
        return os.fstat(self._handle).st_size

    def read(self, start: int, length: int) -> bytes:
        with self._lock:
            os.lseek(self._handle, start, os.SEEK_SET)
            return os.read(self._handle, length)

    def write(self, start: int, content: bytes) -> None:
        with self._lock:
            os.lseek(self._handle, start, os.SEEK_SET)
            os.write(self._handle, content)

    def sync(self) -> None:
        os.fsync(self._handle)

    def chunks(self, overlap: int = 0) -> Iterator[tuple[int, bytes]]:
        """All of it in pieces that overlap by so much, each with where it starts."""
        start, size = 0, self.size
        while start < size:
            yield start, self.read(start, _CHUNK + overlap)
            start += _CHUNK
