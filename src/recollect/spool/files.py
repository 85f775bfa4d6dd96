"""The files of a spool: a folder for each process that has one, and one owner for each folder.

An entry is a line, on the disk before it is acknowledged. What was replayed is marked by a line of
its own; marks need not be durable, because an entry that is replayed twice is stored once. A last
line without its end was never acknowledged.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Final

from recollect.backends.file_lock import try_lock
from recollect.domain.files import (
    is_full,
    make_file,
    make_folder,
    sync_folder,
    what_to_free,
    write_all,
)
from recollect.errors import StorageError
from recollect.spool.entries import SpoolEntry, entries_in, line_of

_ENTRIES: Final = "entries.jsonl"
# Lines that cannot be read, and entries that the database refuses: kept for a person to look at.
_SET_ASIDE: Final = "set-aside.jsonl"
_LOCK: Final = "owner.lock"
_DONE: Final = b'{"done":'
# A file is written anew when so much of it, and more than half, was replayed.
_LONG_BYTES: Final = 4 << 20


class SpoolFolder:
    """One folder with entries, owned by this process until it is closed."""

    def __init__(self, path: Path, lock: sqlite3.Connection) -> None:
        self.path = path
        self._lock = lock
        self._file = path / _ENTRIES
        self._handle: int | None = None
        self._lines: dict[str, int] = {}
        # Of the whole file, and of what waits in it.
        self.bytes = 0
        self._waiting_bytes = 0

    @classmethod
    def make(cls, spool: Path, name: str) -> SpoolFolder:
        """Make a new folder that this process owns."""
        path = spool / name
        try:
            make_folder(path)
            lock = try_lock(path / _LOCK)
            make_file(path / _ENTRIES)
            sync_folder(path)
            sync_folder(spool)
        except OSError as problem:
            raise _unwritable(path, problem) from problem
        assert lock is not None, f"{path} is new"
        return cls(path, lock)

    @classmethod
    def adopt(cls, path: Path) -> SpoolFolder | None:
        """Own the folder of a process that has ended; None while it lives."""
        try:
            lock = try_lock(path / _LOCK)
        except (OSError, sqlite3.Error):
            # It was removed at this moment.
            return None
        if lock is None:
            return None
        if not path.is_dir():
            lock.close()
            return None
        return cls(path, lock)

    def load(self) -> list[SpoolEntry]:
        """Return what waits here; cut off what was never acknowledged."""
        try:
            content = self._file.read_bytes()
        except FileNotFoundError:
            return []
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(self._file, whole)
        lines = [line + b"\n" for line in content[:whole].split(b"\n")[:-1]]
        done = {json.loads(line)["done"] for line in lines if line.startswith(_DONE)}
        said = [line for line in lines if not line.startswith(_DONE)]
        entries, unreadable = entries_in(said)
        waiting = [entry for entry in entries if entry.id not in done]
        if unreadable:
            self._set_aside(unreadable)
        if done or unreadable:
            self._rewrite(waiting)
        else:
            self._lines = {entry.id: len(line_of(entry)) for entry in waiting}
            self.bytes = self._waiting_bytes = whole
        return waiting

    @property
    def is_there(self) -> bool:
        """Return whether nobody has removed the file."""
        return self._file.exists()

    def append(self, entry: SpoolEntry) -> None:
        """Write an entry; when this returns, it is durable."""
        line = line_of(entry)
        try:
            self._write(line, is_durable=True)
        except OSError as problem:
            raise _unwritable(self.path, problem) from problem
        self._waiting_bytes += len(line)
        self._lines[entry.id] = len(line)

    def done(self, ids: Iterable[str]) -> None:
        """Note that entries are in the database."""
        marks: list[bytes] = []
        for entry_id in ids:
            self._waiting_bytes -= self._lines.pop(entry_id, 0)
            marks.append(_DONE + json.dumps(entry_id).encode() + b"}\n")
        if not self._lines:
            self.bytes = 0
            os.truncate(self._file, 0)
            return
        self._write(b"".join(marks), is_durable=False)

    @property
    def is_sparse(self) -> bool:
        """Return whether most of the file was replayed."""
        return self.bytes > max(_LONG_BYTES, 2 * self._waiting_bytes)

    def keep_only(self, entries: Iterable[SpoolEntry]) -> None:
        """Write the file anew; what else it held is overwritten on the disk."""
        mine = [entry for entry in entries if entry.id in self._lines]
        self._rewrite(mine)

    def set_aside(self, entry: SpoolEntry) -> None:
        """Keep an entry that the database refuses where it is in nobody's way."""
        self._set_aside([line_of(entry)])

    def has(self, entry_id: str) -> bool:
        return entry_id in self._lines

    def close(self) -> None:
        """Give the folder back; remove it if nothing waits in it."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        if not self._lines and not (self.path / _SET_ASIDE).exists():
            shutil.rmtree(self.path, ignore_errors=True)
        self.leave()

    def leave(self) -> None:
        """Give the folder back as it is."""
        self._lock.close()

    def _rewrite(self, entries: Collection[SpoolEntry]) -> None:
        lines = {entry.id: line_of(entry) for entry in entries}
        new = self._file.with_name(f"{_ENTRIES}.new")
        try:
            make_file(new)
            with new.open("r+b") as file:
                file.truncate()
                file.writelines(lines.values())
                file.flush()
                os.fsync(file.fileno())
            if self._handle is not None:
                os.close(self._handle)
                self._handle = None
            with self._file.open("r+b") as old:
                new.replace(self._file)
                sync_folder(self.path)
                _overwrite(old.fileno())
        except OSError as problem:
            new.unlink(missing_ok=True)
            raise _unwritable(self.path, problem) from problem
        self._lines = {entry_id: len(line) for entry_id, line in lines.items()}
        self.bytes = self._waiting_bytes = sum(self._lines.values())

    def _set_aside(self, lines: Iterable[bytes]) -> None:
        place = self.path / _SET_ASIDE
        try:
            make_file(place)
            with place.open("ab") as file:
                file.writelines(lines)
                file.flush()
                os.fsync(file.fileno())
        except OSError as problem:
            raise _unwritable(self.path, problem) from problem

    def _write(self, lines: bytes, *, is_durable: bool) -> None:
        """Write lines at the end of the file: all of them, or none."""
        try:
            write_all(self._open(), lines)
            if is_durable:
                os.fsync(self._open())
        except OSError:
            # A part would spoil the next line, and nobody was told of an entry that failed.
            with contextlib.suppress(OSError):
                os.truncate(self._file, self.bytes)
            raise
        self.bytes += len(lines)

    def _open(self) -> int:
        if self._handle is None:
            self._handle = os.open(self._file, os.O_WRONLY | os.O_APPEND)
        return self._handle


def folders_in(spool: Path) -> list[Path]:
    """Return the folders of all processes, oldest first."""
    if not spool.is_dir():
        return []
    return sorted(path for path in spool.iterdir() if path.is_dir())


def contents_of(spool: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield every file of a spool, for a search in it."""
    for folder in folders_in(spool):
        for name in (_ENTRIES, _SET_ASIDE):
            if (path := folder / name).is_file():
                yield path, path.read_bytes()


def count_in(spool: Path) -> tuple[int, int, int]:
    """Return how many entries wait in the folders of all processes, their bytes, and how many
    were set aside.
    """
    waiting = size = aside = 0
    for path, content in contents_of(spool):
        lines = content.split(b"\n")[:-1]
        if path.name == _SET_ASIDE:
            aside += len(lines)
            continue
        done = sum(line.startswith(_DONE) for line in lines)
        waiting += len(lines) - 2 * done
        size += len(content)
    return waiting, size, aside


def _overwrite(handle: int) -> None:
    size = os.fstat(handle).st_size
    os.lseek(handle, 0, os.SEEK_SET)
    write_all(handle, bytes(size))
    os.fsync(handle)


def _unwritable(folder: Path, problem: OSError) -> StorageError:
    if is_full(problem):
        return StorageError(
            "The disk that keeps writes while the database is away is full; this call was not kept",
            code="disk_full",
            hint=what_to_free(folder),
        )
    return StorageError(
        f"{folder} keeps writes while the database is away, and cannot be written: "
        f"{problem.strerror}; this call was not kept",
        code="spool_unwritable",
        hint="Check the permissions of the folder, or turn storage.spool off.",
    )
