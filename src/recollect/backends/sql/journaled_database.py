"""A database whose truth is a journal of JSON lines.

What is asked is answered by SQLite from a working file, which is made from the journal when the
memory is opened and removed when it is closed. Every commit is in the journal, on the disk, before
it is acknowledged. One process at a time has it open.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import sqlite3
import zlib
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, Final, cast

from sqlalchemy import Connection, event

from recollect.backends.file_lock import try_lock
from recollect.backends.sql import schema
from recollect.backends.sql.companions import log_of, require_nothing_lost, shared_memory_of
from recollect.backends.sql.dialects import dialect_of
from recollect.backends.sql.migrate import bring_up_to_date, create, require_known, upgrade
from recollect.backends.sql.schema import metadata
from recollect.backends.sql.sqlite_database import SqliteDatabase
from recollect.backends.sql.table_copy import derive
from recollect.domain.files import (
    is_full,
    make_file,
    make_folder,
    open_new,
    sync_folder,
    what_to_free,
    write_all,
)
from recollect.errors import StorageBusy, StorageError

_JOURNAL: Final = "memory.jsonl"
_ROWS_A_LINE: Final = 500
# A journal that has grown to so much is written anew, unless it was nearly as long before.
_LONG_BYTES: Final = 8 << 20
_GROWTH: Final = 3
_KEYS: Final = {
    table.name: tuple(column.name for column in table.primary_key)
    for table in metadata.sorted_tables
}


def journal_of(database: Path) -> Path:
    """Return where the journal of a working file lies."""
    return database.with_name(_JOURNAL)


class JournaledDatabase(SqliteDatabase):
    """A working file, and the journal that it stands for."""

    def __init__(self, path: Path, *, busy_timeout: float = 10.0) -> None:
        make_folder(path.parent)
        self._lock = _locked(path.with_name("memory.lock"))
        try:
            self.journal = JournalFile(journal_of(path))
            _remove(path)
            before = self.journal.schema()
            if before is None:
                require_nothing_lost(path)
            make_file(path)
            super().__init__(path, synchronous="off", busy_timeout=busy_timeout)
        except BaseException:
            self._lock.close()
            raise
        self._is_kept = False
        # Whether the next commit leaves nothing behind of what was said before.
        self.compacts_next = False
        self._compacted = 0
        try:
            self._fill(before)
        except BaseException:
            self.close_here()
            raise

    def _fill(self, revision: str | None) -> None:
        """Make the tables as the journal's rows need them, bring them in, then up to date."""
        if revision is None:
            return
        require_known(None, revision, self.journal.path)
        is_current = revision == schema.HEAD_REVISION
        self.write_here(
            create if is_current else lambda it: upgrade(it, self.journal.path, target=revision)
        )
        with contextlib.closing(sqlite3.connect(self.path)) as database:
            generation = play(self.journal.commits(), database)
            database.commit()
        bring_up_to_date(self)
        self.write_here(lambda connection: derive(connection, generation))

    def keep(self) -> None:
        """Write to the journal whatever is written from now on, and what is there already."""
        self._writing.dispose()
        event.listen(self._writing, "connect", _watch)
        self._is_kept = True
        revision = self.journal.schema()
        self._compacted = self.journal.size
        if revision != schema.HEAD_REVISION or self._compacted >= _LONG_BYTES:
            self.compacts_next = True
            self.write_here(lambda _: None)

    @contextlib.contextmanager
    def _changing(self, connection: Connection, patience: float = 0) -> Generator[None]:
        before: int | None = None
        try:
            with super()._changing(connection, patience):
                yield
                if self._is_kept:
                    before = self._tell(connection)
        except BaseException:
            if before is not None:
                self.journal.cut(before)
            raise

    def _tell(self, connection: Connection) -> int | None:
        """Bring the transaction into the journal; returns where that ended before."""
        generation = dialect_of(connection).generation(connection)
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        changed = _changes(driver, generation)
        if not self.compacts_next and self.journal.size > max(
            _LONG_BYTES, self._compacted * _GROWTH
        ):
            self.compacts_next = True
        if self.compacts_next:
            self.journal.replace(schema.HEAD_REVISION, _everything(driver, generation))
            self._compacted = self.journal.size
            self.compacts_next = False
            return None
        return None if changed is None else self.journal.append(changed)

    def close_here(self) -> None:
        super().close_here()
        self.journal.close()
        _remove(self.path)
        self._lock.close()


def _watch(driver: sqlite3.Connection, _: object) -> None:
    """Let a connection note which rows it has written."""
    driver.execute("CREATE TEMP TABLE touched (place TEXT, key TEXT)")
    for table, names in _KEYS.items():
        old, new = (
            f"('{table}', json_array({', '.join(f'{row}.{name}' for name in names)}))"
            for row in ("OLD", "NEW")
        )
        for action, rows in (("INSERT", new), ("UPDATE", f"{old}, {new}"), ("DELETE", old)):
            driver.execute(
                f'CREATE TEMP TRIGGER "{table}_{action}" AFTER {action} ON main."{table}" '
                f"BEGIN INSERT INTO touched VALUES {rows}; END"
            )


def _changes(driver: sqlite3.Connection, generation: int) -> Commit | None:
    """Return what the transaction has changed so far, as it is now; None for nothing."""
    touched = driver.execute("SELECT DISTINCT place, key FROM touched ORDER BY place").fetchall()
    if not touched:
        return None
    driver.execute("DELETE FROM touched")
    rows: list[tuple[str, dict[str, Any]]] = []
    gone: list[tuple[str, dict[str, Any]]] = []
    for table, group in groupby(touched, key=lambda it: it[0]):
        wanted = " AND ".join(f'"{name}" = ?' for name in _KEYS[table])
        for _, told in group:
            key = json.loads(told)
            found = driver.execute(f'SELECT * FROM "{table}" WHERE {wanted}', key)
            row = found.fetchone()
            if row is None:
                gone.append((table, dict(zip(_KEYS[table], key, strict=True))))
            else:
                rows.append((table, _named(found, row)))
    return Commit(generation=generation, rows=rows, gone=gone)


def _everything(driver: sqlite3.Connection, generation: int) -> Iterator[Commit]:
    """Yield every row there is."""
    for table in _KEYS:
        found = driver.execute(f'SELECT * FROM "{table}"')
        while some := found.fetchmany(_ROWS_A_LINE):
            rows = [(table, _named(found, row)) for row in some]
            yield Commit(generation=generation, rows=rows)


def _named(found: sqlite3.Cursor, row: tuple[Any, ...]) -> dict[str, Any]:
    return {column[0]: value for column, value in zip(found.description, row, strict=True)}


def _locked(path: Path) -> sqlite3.Connection:
    """Return a lock that no other process can have until it is closed, or the process ends."""
    lock = try_lock(path)
    if lock is None:
        raise StorageBusy(
            f"The memory in {path.parent} is open in another program; a journal has one at a time",
            code="database_in_use",
            hint="Close the other one, or ask the server that has it open (`recollect serve`).",
        )
    return lock


def _remove(path: Path) -> None:
    """Remove a working file: all that it holds is in the journal."""
    for file in (path, log_of(path), shared_memory_of(path)):
        file.unlink(missing_ok=True)


# --- A journal of rows: one line of JSON for each commit, on the disk before anybody is told ------
#
# The first line says which schema the rows have. Every other line is a commit: the rows as they
# were afterwards, and the keys of those that were gone. Playing all lines in their order gives
# the tables. A last line without its end was never acknowledged and is dropped; any other line
# that cannot be read is damage.


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
            write_all(handle, _line(commit))
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
            sync_folder(self.path.parent)
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
                "The disk is full; this call was not committed, everything before it was",
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
