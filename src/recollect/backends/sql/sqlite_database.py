"""SQLite through SQLAlchemy Core: one writer thread that commits in groups, a few reader threads.

What is small is done at once in the asking thread, where nobody else is in the way. Writes that
wait together share one durable commit, each in a savepoint of its own, so that one that fails takes
nothing of the others with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from recollect.backends.audit_anchor import AnchorFile, anchor_of
from recollect.backends.sql.companions import Reserve
from recollect.backends.sql.database import (
    DRIVER_ERRORS,
    KNOWN,
    LEDGER,
    LEFT,
    KnownValues,
    Left,
    LeftToWriter,
    Work,
    driver_of,
    storage_error,
)
from recollect.backends.sql.dialects.sqlite import identify
from recollect.backends.sql.forget_ledger import LedgerFile, ledger_of
from recollect.domain.files import is_read_only
from recollect.errors import Closed, StorageError
from recollect.ports.runtime import is_in_background, note_use
from recollect.ports.store import Snapshot, current_snapshot

if TYPE_CHECKING:
    from recollect.backends.sql.outage import Outage

T = TypeVar("T")
Synchronous = Literal["full", "normal", "off"]


@dataclass(frozen=True, slots=True)
class _Write:
    """Something to write, and whoever waits for it in a loop."""

    work: Work[Any]
    loop: asyncio.AbstractEventLoop
    done: asyncio.Future[Any]
    is_durable: bool

    def tell(self, result: Any, problem: Exception | None = None) -> None:
        """Say how it went, from the writer's thread."""
        # Whoever closed the loop does not wait any more.
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self._settle, result, problem)

    def _settle(self, result: Any, problem: Exception | None) -> None:
        if self.done.done():
            return
        if problem is None:
            self.done.set_result(result)
        else:
            self.done.set_exception(problem)


_READERS: Final = 4
# So many recalls at the same time have a connection of their own.
_SNAPSHOTS: Final = 4
_READING: Final = "BEGIN"
_WRITING: Final = "BEGIN IMMEDIATE"
_SYNCHRONOUS: Final = "recollect.synchronous"
_GROUP: Final = 128
# Seconds for which reading here and there may keep others from their turn.
_TURN: Final = 0.002
# Where writes in the asking thread take so long, they are left to the writer for a while.
_SLOW_SECONDS: Final = 0.005
_REST_SECONDS: Final = 1.0
# How much of what they take by and by is told by the last one.
_NEWEST_SHARE: Final = 0.1
# Between tries to write while another process does.
_FIRST_PAUSE: Final = 0.001
_LONGEST_PAUSE: Final = 0.05


class _Held:
    """A connection that is kept open: taking one anew costs like a commit."""

    def __init__(self, engine: Engine, *pragmas: str) -> None:
        self._engine = engine
        self._pragmas = pragmas
        self._open: tuple[Connection, sqlite3.Connection] | None = None
        # The connection, while a snapshot goes on.
        self.begun: Connection | None = None

    def connection(self) -> tuple[Connection, sqlite3.Connection]:
        """Return the connection, and the driver's own."""
        if self._open is None:
            connection = self._engine.connect()
            driver = driver_of(connection)
            self._open = connection, driver
            for pragma in self._pragmas:
                driver.execute(f"PRAGMA {pragma}")
        return self._open

    def begin(self) -> Connection:
        """Begin a snapshot."""
        connection, driver = self.connection()
        driver.execute(_READING)
        connection.info[KNOWN].is_checked = False
        self.begun = connection
        return connection

    def end(self) -> None:
        """End it: nothing was written; what was read through SQLAlchemy ends there too."""
        self.begun = None
        if self._open is not None:
            connection, driver = self._open
            connection.rollback()
            driver.rollback()

    def drop(self) -> None:
        """After a fault of the database the next call starts with a fresh connection."""
        self.begun = None
        if self._open is not None:
            self._open[0].close()
            self._open = None


class SqliteDatabase:
    """An open SQLite file."""

    outage: Outage | None = None

    def __init__(
        self,
        path: Path,
        *,
        synchronous: Synchronous = "full",
        busy_timeout: float = 10.0,
        is_temporary: bool = False,
    ) -> None:
        self.path = path
        self._identity: str | None = None
        self.ledger = LedgerFile(ledger_of(path))
        self.anchor = AnchorFile(anchor_of(path))
        self.reserve = Reserve(path)
        self._is_temporary = is_temporary
        self._reading = _engine(
            path, _READING, synchronous, busy_timeout, _READERS + 2 + _SNAPSHOTS
        )
        # One for the writer thread, one for setting up.
        self._writing = _engine(path, _WRITING, synchronous, busy_timeout, 2)
        # It does not wait for other processes by itself: that must not stop the asking thread.
        self._held = _Held(self._writing, "busy_timeout=0")
        self._patience = busy_timeout
        self._synchronous: Synchronous = synchronous
        self._left: dict[Hashable, Any] = {}
        # Whoever writes on that connection holds this.
        self._has_writer = threading.Lock()
        # Who is about to write what is small, and until when it is left to the writer.
        self._asking: set[object] = set()
        self._rests_until = 0.0
        self._usual_seconds = 0.0
        self._thread = threading.local()
        self._held_readers: list[_Held] = []
        self._quick = self._mapped()
        self._at_once = threading.Lock()
        self._for_snapshots: list[_Held] = []
        self._snapshots_begun = 0
        self._turn_ends = 0.0
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="recollect-read")
        self._waiting: queue.SimpleQueue[_Write | None] = queue.SimpleQueue()
        self._writer = threading.Thread(
            target=self._write_forever, name="recollect-write", daemon=True
        )
        self._writer.start()
        # Held while work is handed over, so that nothing is queued behind the end.
        self._door = threading.Lock()
        self._closed = False
        self.has_written = False
        # Of an empty database: whoever copies or keeps only the file itself has more than nothing.
        self.checkpoints_next = False

    @property
    def name(self) -> str:
        return str(self.path)

    @property
    def identity(self) -> str:
        """Return the name of the file; a journal is a new one whenever it is opened."""
        if self._identity is None:
            self._identity = f"sqlite-{self.write_here(identify):08x}"
        return self._identity

    async def read(self, work: Work[T], *, is_quick: bool = False) -> T:
        """Run `work` in one snapshot of the database, in a reader thread.

        What is quick is done at once in the asking thread, unless another is reading so: handing
        a few rows from thread to thread takes longer than reading them (see decision 0007).
        """
        note_use()
        if is_quick and (now := time.monotonic()) > self._turn_ends:
            # Others get their turn even if somebody asks in a loop.
            self._turn_ends = now + _TURN
            await asyncio.sleep(0)
        if is_quick and (snapshot := current_snapshot()) is not None:
            kept = snapshot.kept.get(self)
            held = self._keep_for(snapshot) if kept is None else kept[0]
            if held is not None:
                return self._read_in(snapshot, held, work)
        if is_quick and self._at_once.acquire(blocking=False):
            try:
                self._require_open()
                return self._read_on(self._quick, work)
            finally:
                self._at_once.release()
        with self._door:
            self._require_open()
            reading = self._readers.submit(self._read_held, work)
        return await asyncio.wrap_future(reading)

    async def write(
        self,
        work: Work[T],
        *,
        is_removal: bool = False,
        is_quick: bool = False,
        is_durable: bool = True,
    ) -> T:
        """Run `work` in the writer thread; when this returns, its changes are durable.

        What is quick is done at once in the asking thread, if nobody else is writing. A removal may
        use the room that is reserved for it when the disk is full.
        """
        try:
            return await self._write(work, is_quick=is_quick, is_durable=is_durable)
        except StorageError as problem:
            if not is_removal or problem.code != "disk_full":
                raise
        await asyncio.to_thread(self.reserve.release)
        return await self._write(work)

    async def _write(self, work: Work[T], *, is_quick: bool = False, is_durable: bool = True) -> T:
        note_use()
        if is_quick and await self._is_free():
            with contextlib.suppress(LeftToWriter):
                return self._write_at_once(work)
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        with self._door:
            self._require_open()
            self._waiting.put(_Write(work, loop, done, is_durable))
            self.has_written = True
        return await done

    async def _is_free(self) -> bool:
        """Return whether this caller is the only one who is about to write."""
        if time.monotonic() < self._rests_until or is_in_background():
            return False
        asking = object()
        self._asking.add(asking)
        try:
            # All who ask at the same time share a commit.
            await asyncio.sleep(0)
            return len(self._asking) == 1 and self._waiting.empty() and not self.checkpoints_next
        finally:
            self._asking.discard(asking)

    def _write_at_once(self, work: Work[T]) -> T:
        """Run `work` in a transaction of its own; raise `LeftToWriter` rather than wait."""
        if not self._has_writer.acquire(blocking=False):
            raise LeftToWriter
        began = time.monotonic()
        try:
            self._require_open()
            self.has_written = True
            self._wait_for_disk(is_durable=True)
            return self._write_alone(work, is_at_once=True)
        except DRIVER_ERRORS as fault:
            if _is_busy(fault):
                raise LeftToWriter from fault
            self._held.drop()
            raise storage_error(fault, self.path) from fault
        finally:
            self._has_writer.release()
            self._note_seconds(time.monotonic() - began)

    def _wait_for_disk(self, *, is_durable: bool) -> None:
        """Let the next commit wait until it is on the disk, or leave that to the one after it."""
        connection, driver = self._held.connection()
        wanted = "normal" if self._synchronous == "full" and not is_durable else self._synchronous
        if connection.info.get(_SYNCHRONOUS, self._synchronous) != wanted:
            driver.execute(f"PRAGMA synchronous={wanted}")
            connection.info[_SYNCHRONOUS] = wanted

    def _write_alone(self, work: Work[T], patience: float = 0, *, is_at_once: bool = False) -> T:
        """Run `work` in a transaction of its own, on the writer's connection."""
        connection, _ = self._held.connection()
        left = connection.info[LEFT] = Left(self._left, is_at_once)
        try:
            with self._changing(connection, patience):
                result = work(connection)
        except LeftToWriter:
            raise
        except Exception:
            # Whatever it is may come from something that is not any more as it was left.
            self._left.clear()
            if not left.is_used:
                raise
            return self._write_alone(work, patience, is_at_once=is_at_once)
        finally:
            connection.info[LEFT] = None
        left.learn()
        return result

    def _note_seconds(self, took: float) -> None:
        """Leave the next writes to the writer where they would keep everybody else waiting."""
        self._usual_seconds += (took - self._usual_seconds) * _NEWEST_SHARE
        if self._usual_seconds > _SLOW_SECONDS:
            self._usual_seconds = 0.0
            self._rests_until = time.monotonic() + _REST_SECONDS

    def read_here(self, work: Work[T]) -> T:
        """Run `work` in a snapshot, in the calling thread."""
        try:
            with self._reading.connect() as connection, _transaction(connection, _READING):
                connection.info[KNOWN].is_checked = False
                return work(connection)
        except DRIVER_ERRORS as fault:
            raise storage_error(fault, self.path) from fault

    def _keep_for(self, snapshot: Snapshot) -> _Held | None:
        """Begin the snapshot here, unless too many go on already."""
        with self._at_once:
            self._require_open()
            if self._snapshots_begun == _SNAPSHOTS:
                return None
            self._snapshots_begun += 1
            held = self._for_snapshots.pop() if self._for_snapshots else self._mapped()
        snapshot.kept[self] = held, partial(self._end, held)
        held.begin()
        return held

    def _read_in(self, snapshot: Snapshot, held: _Held, work: Work[T]) -> T:
        """Run `work` in a snapshot that has begun."""
        try:
            if self._closed:
                self._require_open()
            return work(held.begun or held.begin())
        except DRIVER_ERRORS as fault:
            snapshot.let_go()
            held.drop()
            raise storage_error(fault, self.path) from fault

    def _end(self, held: _Held) -> None:
        """End a snapshot here; the next one takes the connection."""
        with self._at_once:
            self._snapshots_begun -= 1
            try:
                held.end()
            except DRIVER_ERRORS:
                held.drop()
            if self._closed:
                held.drop()
            else:
                self._for_snapshots.append(held)

    def _mapped(self) -> _Held:
        """Return a connection that maps the file, for reads of a few scattered rows."""
        return _Held(self._reading, "mmap_size=67108864")

    def _read_held(self, work: Work[T]) -> T:
        """Run `work` in a reader thread, on the connection that the thread keeps."""
        held: _Held | None = getattr(self._thread, "held", None)
        if held is None:
            held = self._thread.held = _Held(self._reading)
            self._held_readers.append(held)
        return self._read_on(held, work)

    def _read_on(self, held: _Held, work: Work[T]) -> T:
        try:
            connection = held.begin()
            try:
                return work(connection)
            finally:
                held.end()
        except DRIVER_ERRORS as fault:
            held.drop()
            raise storage_error(fault, self.path) from fault

    def write_here(self, work: Work[T]) -> T:
        """Run `work` in a transaction of its own, in the calling thread: for setting up."""
        try:
            with self._writing.connect() as connection, self._changing(connection):
                return work(connection)
        except DRIVER_ERRORS as fault:
            raise storage_error(fault, self.path) from fault

    async def close(self) -> None:
        """Finish what is being written, then close the file."""
        await asyncio.to_thread(self.close_here)

    def close_here(self) -> None:
        """Close in the calling thread."""
        with self._door:
            if self._closed:
                return
            self._closed = True
            self._waiting.put(None)
        self._writer.join()
        self._readers.shutdown()
        with self._at_once:
            for held in (*self._held_readers, *self._for_snapshots, self._quick):
                held.drop()
        self._reading.dispose()
        self._writing.dispose()
        if self._is_temporary:
            shutil.rmtree(self.path.parent)

    def _require_open(self) -> None:
        if self._closed:
            raise Closed("This memory was closed", hint="Open it again with Memory.open().")

    def _write_forever(self) -> None:
        stopping = False
        while not stopping:
            group, stopping = self._next_group()
            if group:
                with self._has_writer:
                    outcomes = self._write_group(group)
                for tell in outcomes:
                    tell()
        with self._has_writer:
            self._held.drop()

    def _next_group(self) -> tuple[list[_Write], bool]:
        """Wait for one write and take along those that wait already; True when told to stop."""
        group: list[_Write] = []
        while len(group) < _GROUP:
            try:
                write = self._waiting.get(block=not group)
            except queue.Empty:
                break
            if write is None:
                return group, True
            group.append(write)
        return group, False

    def _write_group(self, group: list[_Write]) -> list[Callable[[], None]]:
        """Run each write and commit once; return what is then to be told."""
        outcomes: list[Callable[[], None]] = []
        try:
            self._wait_for_disk(is_durable=any(write.is_durable for write in group))
            if len(group) == 1:
                result = self._write_alone(group[0].work, self._patience)
                outcomes.append(partial(group[0].tell, result))
            else:
                self._left.clear()
                connection, _ = self._held.connection()
                with self._changing(connection, self._patience):
                    outcomes.extend(self._attempt(connection, write) for write in group)
        except DRIVER_ERRORS as fault:
            self._held.drop()
            problem = storage_error(fault, self.path)
            return [partial(write.tell, None, problem) for write in group]
        except Exception as problem:  # noqa: BLE001  (a write that is alone fails alone)
            return [partial(write.tell, None, problem) for write in group]
        if self.checkpoints_next:
            self.checkpoints_next = False
            self._checkpoint()
        return outcomes

    def _changing(
        self, connection: Connection, patience: float = 0
    ) -> contextlib.AbstractContextManager[None]:
        """Begin a transaction that writes; what was written is durable when it has ended."""
        return _transaction(connection, _WRITING, patience)

    def _checkpoint(self) -> None:
        """Bring what the log holds into the file, as far as nobody is in the way."""
        with contextlib.suppress(sqlite3.Error):
            self._held.connection()[1].execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()

    def _attempt(self, connection: Connection, write: _Write) -> Callable[[], None]:
        """Run one write in a savepoint; what it returned or raised is told after the commit."""
        savepoint = connection.begin_nested()
        try:
            result = write.work(connection)
        except Exception as problem:
            # Whatever it is belongs to this write's caller.
            if not _is_in_transaction(connection):
                # On a full disk SQLite gives up the whole transaction: the group has failed.
                raise
            savepoint.rollback()
            told = (
                storage_error(problem, self.path) if isinstance(problem, DRIVER_ERRORS) else problem
            )
            return partial(write.tell, None, told)
        savepoint.commit()
        return partial(write.tell, result)


@contextlib.contextmanager
def _transaction(connection: Connection, begin: str, patience: float = 0) -> Generator[None]:
    """Run a transaction on the driver itself; through SQLAlchemy it costs five times as much."""
    driver = driver_of(connection)
    _begin(driver, begin, patience)
    try:
        yield
        # What was executed through SQLAlchemy has a transaction there too, which ends with this.
        connection.commit()
        driver.commit()
    except BaseException:
        connection.rollback()
        driver.rollback()
        raise


def _begin(driver: sqlite3.Connection, begin: str, patience: float) -> None:
    """Begin a transaction; try again for so many seconds while another process writes."""
    pause, ends = _FIRST_PAUSE, time.monotonic() + patience
    while True:
        try:
            driver.execute(begin)
        except sqlite3.Error as fault:
            if not _is_busy(fault) or time.monotonic() + pause > ends:
                raise
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        else:
            return


def _is_busy(fault: Exception) -> bool:
    """Return whether another process is writing."""
    # What kind of busy it is tell the higher bits.
    code = fault.sqlite_errorcode if isinstance(fault, sqlite3.Error) else 0
    return code & 0xFF == sqlite3.SQLITE_BUSY


def _is_in_transaction(connection: Connection) -> bool:
    return driver_of(connection).in_transaction


def _unchanging(path: Path) -> URL:
    """Return the address of a file that nobody can change: SQLite needs no files beside it."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise StorageError(
            f"The last changes of {path} are in its log, which cannot be brought in here",
            code="database_read_only",
            hint="Copy both files to where they can be written, and open them there.",
        )
    query = {"uri": "true", "mode": "ro", "immutable": "1"}
    return URL.create("sqlite+pysqlite", database=path.absolute().as_uri(), query=query)


def _engine(
    path: Path, begin: str, synchronous: Synchronous, busy_timeout: float, connections: int
) -> Engine:
    can_write = not is_read_only(path)
    engine = create_engine(
        # Not written out as text, where a `?` or `%` in the path would mean something else.
        URL.create("sqlite+pysqlite", database=str(path)) if can_write else _unchanging(path),
        poolclass=QueuePool,
        pool_size=connections,
        max_overflow=0,
        # Every transaction here ends before its connection goes back.
        pool_reset_on_return=None,
        connect_args={"check_same_thread": False, "timeout": busy_timeout},
        execution_options={LEDGER: LedgerFile(ledger_of(path))},
    )

    # What one connection has learnt of what never changes, all know.
    for_ever: dict[str, int] = {}

    def prepare(connection: Any, record: ConnectionPoolEntry) -> None:
        if begin == _READING:
            record.info[KNOWN] = KnownValues(for_ever=for_ever)
        # Transactions are begun by us (above), not guessed from the SQL by the driver.
        connection.isolation_level = None
        for pragma in (
            *(("journal_mode=WAL",) if can_write else ()),
            f"synchronous={synchronous}",
            "foreign_keys=ON",
            # What is deleted or replaced is overwritten, so that forgetting finds no remains.
            "secure_delete=ON",
            "cache_size=-4096",
        ):
            connection.execute(f"PRAGMA {pragma}")

    event.listen(engine, "connect", prepare)
    return engine
