"""A journal of rows: one line of JSON for each commit, on the disk before anybody is told.

The first line says which schema the rows have. Every other line is a commit: the rows as they were
afterwards, and the keys of those that were gone. Playing all lines in their order gives the tables.
A last line without its end was never acknowledged and is dropped; any other line that cannot be
read is damage.
"""

from __future__ import annotations

import base64
import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from recollect.domain.disk_space import is_full, what_to_free
from recollect.domain.private_files import open_new
from recollect.errors import StorageError

Row = Mapping[str, Any]
_FORMAT: Final = 1
_BEFORE: Final = '{"crc32":"'
_BETWEEN: Final = '","commit":'
_START: Final = len(_BEFORE) + 8 + len(_BETWEEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """What one transaction has changed."""

    generation: int
    rows: Sequence[tuple[str, Row]] = ()
    gone: Sequence[tuple[str, Row]] = ()
    """The table and the key of each."""


@dataclass(slots=True)
class JournalFile:
    """The file; the process that has it open is the only one that uses it."""

    path: Path
    _handle: int | None = field(default=None, init=False)

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def schema(self) -> str | None:
        """Return the revision of the rows; None for a journal that nothing was written to."""
        if not self.path.exists():
            return None
        with self.path.open("rb") as file:
            first = file.readline()
        if not first.endswith(b"\n"):
            return None
        try:
            told = json.loads(first)
            if told["recollect_journal"] != _FORMAT:
                raise self._refusal(f"has format {told['recollect_journal']}", "database_newer")
            return str(told["schema"])
        except (ValueError, KeyError, TypeError):
            raise self._refusal("does not begin like a journal", "not_our_database") from None

    def commits(self) -> Iterator[Commit]:
        """Read every commit in its order, and cut off one that was never finished."""
        whole = 0
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    break
                whole += len(line)
                if number > 1:
                    yield self._read(line, number)
        if whole != self.size:
            self.cut(whole)

    def _read(self, line: bytes, number: int) -> Commit:
        try:
            text = line.decode().removesuffix("\n")
            told = text[_START:-1]
            if text[len(_BEFORE) : len(_BEFORE) + 8] != _checksum(told):
                raise ValueError(number)
            commit = json.loads(told, object_hook=_value)
            return Commit(
                generation=commit["generation"],
                rows=[(table, row) for table, row in commit["rows"]],
                gone=[(table, key) for table, key in commit["gone"]],
            )
        except (ValueError, KeyError, TypeError):
            raise self._refusal(
                f"is damaged in line {number}",
                "database_corrupt",
                hint=f"Bring back a copy of {self.path.name}. To go on with what was kept before, "
                f"and lose that line and all after it: head -n {number - 1} {self.path.name} > "
                f"kept && mv kept {self.path.name}",
            ) from None

    def append(self, commit: Commit) -> int:
        """Write a commit, durably; returns where the file ended before."""
        before = self.size
        try:
            handle = self._open()
            _write_all(handle, _line(commit))
            os.fsync(handle)
        except OSError as problem:
            with suppress(OSError):
                self.cut(before)
            raise self._unwritable(problem) from problem
        return before

    def cut(self, size: int) -> None:
        """Take back what was written after this."""
        os.truncate(self.path, size)
        os.fsync(self._open())

    def replace(self, schema: str, commits: Iterable[Commit]) -> None:
        """Write the journal anew, in one step; what it said before is gone."""
        new = self.path.with_name(f"{self.path.name}.new")
        try:
            with open_new(new, "wb") as file:
                head = {"recollect_journal": _FORMAT, "schema": schema}
                file.write(json.dumps(head).encode() + b"\n")
                for commit in commits:
                    file.write(_line(commit))
                file.flush()
                os.fsync(file.fileno())
            self.close()
            new.replace(self.path)
            _sync_folder(self.path.parent)
        except OSError as problem:
            new.unlink(missing_ok=True)
            raise self._unwritable(problem) from problem

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _open(self) -> int:
        if self._handle is None:
            self._handle = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        return self._handle

    def _unwritable(self, problem: OSError) -> StorageError:
        if is_full(problem):
            return StorageError(
                "The disk is full; nothing of this call was kept, everything before it was",
                code="disk_full",
                hint=what_to_free(self.path),
            )
        return self._refusal(
            f"cannot be written: {problem.strerror}",
            "database_read_only",
            hint="Check the permissions of the file and its folder.",
        )

    def _refusal(self, problem: str, code: str, hint: str = "") -> StorageError:
        return StorageError(f"{self.path} {problem}; nothing was changed", code=code, hint=hint)


def play(commits: Iterable[Commit], database: sqlite3.Connection) -> int:
    """Bring every commit into the tables; returns the generation of the last."""
    generation = 0
    for commit in commits:
        generation = commit.generation
        for table, key in commit.gone:
            wanted = " AND ".join(f'"{name}" = ?' for name in key)
            database.execute(f'DELETE FROM "{table}" WHERE {wanted}', (*key.values(),))
        for table, row in commit.rows:
            names = ", ".join(f'"{name}"' for name in row)
            places = ", ".join("?" * len(row))
            database.execute(
                f'INSERT OR REPLACE INTO "{table}" ({names}) VALUES ({places})', (*row.values(),)
            )
    return generation


def _line(commit: Commit) -> bytes:
    told = json.dumps(
        {"generation": commit.generation, "rows": commit.rows, "gone": commit.gone},
        ensure_ascii=False,
        separators=(",", ":"),
        default=_encoded,
    )
    return f"{_BEFORE}{_checksum(told)}{_BETWEEN}{told}}}\n".encode()


def _checksum(told: str) -> str:
    return f"{zlib.crc32(told.encode()):08x}"


def _encoded(value: object) -> dict[str, str]:
    """Return bytes as JSON has them; nothing else in a row needs it."""
    return {"base64": base64.b64encode(cast("bytes", value)).decode()}


def _value(told: dict[str, Any]) -> Any:
    return base64.b64decode(told["base64"]) if told.keys() == {"base64"} else told


def _write_all(handle: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(handle, left) :]


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
