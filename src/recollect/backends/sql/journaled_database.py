"""A database whose truth is a journal of JSON lines.

What is asked is answered by SQLite from a working file, which is made from the journal when the
memory is opened and removed when it is closed. Every commit is in the journal, on the disk, before
it is acknowledged. One process at a time has it open.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Generator, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, event

from recollect.backends.sql import schema
from recollect.backends.sql.companions import log_of, require_nothing_lost, shared_memory_of
from recollect.backends.sql.dialects import dialect_of
from recollect.backends.sql.journal import Commit, JournalFile, play
from recollect.backends.sql.migrate import bring_up_to_date, create, require_known, upgrade
from recollect.backends.sql.schema_base import metadata
from recollect.backends.sql.sqlite_database import SqliteDatabase
from recollect.backends.sql.table_copy import derive
from recollect.domain.private_files import make_file, make_folder
from recollect.errors import StorageBusy

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
    def _changing(self, connection: Connection) -> Generator[None]:
        before: int | None = None
        try:
            with super()._changing(connection):
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
    make_file(path)
    lock = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError:
        lock.close()
        raise StorageBusy(
            f"The memory in {path.parent} is open in another program; a journal has one at a time",
            code="database_in_use",
            hint="Close the other one, or ask the server that has it open (`recollect serve`).",
        ) from None
    return lock


def _remove(path: Path) -> None:
    """Remove a working file: all that it holds is in the journal."""
    for file in (path, log_of(path), shared_memory_of(path)):
        file.unlink(missing_ok=True)
