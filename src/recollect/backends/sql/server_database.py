"""A database server through SQLAlchemy Core and a synchronous driver in threads.

A read is one REPEATABLE READ snapshot. A write is one READ COMMITTED transaction that locks the
rows it goes by; when the server gives it up because of others, it is done again.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import socket
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote

from sqlalchemy import URL, Connection, Dialect, Engine, create_engine, event, make_url
from sqlalchemy.exc import DBAPIError, DisconnectionError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry, NullPool, QueuePool

from recollect.backends.audit_anchor import AnchorNotes
from recollect.backends.objects import ObjectBlobs, open_blobs
from recollect.backends.sql.database import KNOWN, LEDGER, KnownValues, Work
from recollect.backends.sql.dialects.mysql_kinds import recognize_kind
from recollect.backends.sql.dialects.server import identity_of
from recollect.backends.sql.forget_ledger import LedgerNotes
from recollect.backends.sql.outage import LOST, OUTCOME_UNKNOWN, UNREACHABLE, Outage
from recollect.domain.archive import contents_beside
from recollect.errors import Closed, StorageBusy, StorageError
from recollect.ports.runtime import note_use
from recollect.ports.store import Snapshot, current_snapshot

T = TypeVar("T")

_CONNECT_SECONDS: Final = 10
_ERA: Final = "recollect.era"
# libpq waits for no less.
_PROBE_SECONDS: Final = 2
# After so long it is asked whether the server answers at all: a machine that was paused or cut off
# says nothing, and work may well take longer.
_SILENCE_SECONDS: Final = 2.0
# libpq's options: a connection that the network swallowed ends within a minute.
_KEEPING_ALIVE: Final = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
# How soon a thread whose connection was cut must have noticed.
_CUT_SECONDS: Final = 2.0
# How often work is done again: for a passing fault, and for a key that somebody else took.
_ATTEMPTS: Final = 12
_ATTEMPTS_IF_TAKEN: Final = 4
_FIRST_PAUSE_SECONDS: Final = 0.005
_LONGEST_PAUSE_SECONDS: Final = 0.5


class _Held:
    """The connection of a snapshot, opened by the first thread that reads with it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connection: Connection | None = None
        self._has_begun = False
        self.lock = threading.Lock()
        self.has_ended = False

    def connection(self) -> Connection | None:
        """Return the connection; None when the snapshot is over or was lost."""
        if self.has_ended:
            return None
        if not self._has_begun:
            self._has_begun = True
            self._connection = self._engine.connect()
            known: KnownValues = self._connection.info[KNOWN]
            known.values.clear()
        return self._connection

    def close(self, *, for_good: bool = False) -> None:
        """Give the connection back; what is read next is read without it.

        One that nobody will use again is closed `for_good`: a pool that was disposed of would keep
        it open.
        """
        if self._connection is not None:
            if for_good:
                self._connection.detach()
            self._connection.close()
            self._connection = None

    def close_after_reading(self, *, for_good: bool = False) -> None:
        with self.lock:
            self.close(for_good=for_good)


class ServerDatabase:
    """A database that a PostgreSQL or MySQL server keeps.

    `contents` is the blob store of its memory, which also keeps the ledger of forgettings and the
    anchor of the audit; without it, a folder in the place of the file `beside`.
    """

    def __init__(
        self,
        address: str,
        *,
        beside: Path,
        contents: ObjectBlobs | None = None,
        connections: int = 8,
    ) -> None:
        url = make_url(address)
        self._url = url
        # What has to be done first, when the server was away as this was opened.
        self._prepare: Callable[[ServerDatabase], None] | None = None
        self._identity: str | None = None
        notes = (contents or open_blobs(contents_beside(beside))).notes(lambda: self.identity)
        self.ledger = LedgerNotes(notes)
        self.anchor = AnchorNotes(notes)
        # Options are left out: one of them may be a password.
        plain = url.set(drivername=url.get_backend_name(), query={})
        self.name = plain.render_as_string(hide_password=True)
        self.path = beside
        self.has_written = False
        self._reading = _engine(url, "REPEATABLE READ", self.ledger, connections)
        self._writing = _engine(url, "READ COMMITTED", self.ledger, connections)
        event.listen(self._reading, "connect", _knowing({}))
        # Every connection that a thread may be waiting on.
        self._live: set[Any] = set()
        # Raised by every outage: a connection of before is not used again.
        self._era = 0
        for engine in (self._reading, self._writing):
            event.listen(engine, "connect", self._note_live)
            event.listen(engine, "close", self._note_gone)
            event.listen(engine, "checkout", self._require_new)
        self._probing = _engine(url, "READ COMMITTED", self.ledger, connections, is_probe=True)
        self.outage = Outage(self.name, self._probe)
        self._readers = ThreadPoolExecutor(connections, thread_name_prefix="recollect-read")
        self._writers = ThreadPoolExecutor(connections, thread_name_prefix="recollect-write")
        # Held while work is handed over, so that nothing begins behind the end.
        self._door = threading.Lock()
        self._closed = False
        # The others stay for reads that belong to none, so that these never wait for a snapshot.
        self._most_snapshots = connections // 2
        self._snapshots_begun = 0

    def begin_away(self, problem: StorageError, prepare: Callable[[ServerDatabase], None]) -> None:
        """Begin while the server is away; it is prepared, in a thread, when it returns."""
        self._prepare = prepare
        self.outage.note(problem)

    async def read(self, work: Work[T], *, is_quick: bool = False) -> T:
        """Run `work` in one snapshot, in a thread: however little it is, the server is far."""
        note_use()
        await self.outage.require()
        held = self._held_for(current_snapshot())
        with self._door:
            self._require_open()
            if held is None:
                reading = self._readers.submit(self.read_here, work)
            else:
                reading = self._readers.submit(self._read_in, held, work)
        return await self._answer(reading, UNREACHABLE)

    async def write(
        self,
        work: Work[T],
        *,
        is_removal: bool = False,
        is_quick: bool = False,
        is_durable: bool = True,
    ) -> T:
        """Run `work` in a transaction, in a thread; again when others were in the way."""
        note_use()
        await self.outage.require()
        with self._door:
            self._require_open()
            self.has_written = True
            writing = self._writers.submit(self.write_here, work)
        return await self._answer(writing, OUTCOME_UNKNOWN)

    async def _answer(self, work: Future[T], code: str) -> T:
        """Return the result; give up, with an error of this code, when the server falls silent."""
        waiting = asyncio.wrap_future(work)
        # When it is given up, nobody asks what became of it.
        waiting.add_done_callback(_look_at)
        try:
            while not (await asyncio.wait([waiting], timeout=_SILENCE_SECONDS))[0]:
                if not await self.outage.answers() and not waiting.done():
                    await asyncio.to_thread(self._cut_connections)
                    # A thread that is still connecting ends by itself, later.
                    if not (await asyncio.wait([waiting], timeout=_CUT_SECONDS))[0]:
                        raise StorageError(
                            f"The database server {self.name} does not answer",
                            code=code,
                            hint="Look whether it runs and can be reached from here.",
                        )
            return waiting.result()
        except asyncio.CancelledError:
            waiting.cancel()
            raise
        except StorageError as problem:
            if problem.code in LOST:
                self.outage.note(problem)
                self.outage.watch()
            raise

    def _note_live(self, driver: Any, record: ConnectionPoolEntry) -> None:
        record.info[_ERA] = self._era
        self._live.add(driver)

    def _require_new(self, _: Any, record: ConnectionPoolEntry, __: object) -> None:
        if record.info.get(_ERA) != self._era:
            # The pool opens another one in its place.
            raise DisconnectionError("It was open before the server was away")

    def _note_gone(self, driver: Any, _: object) -> None:
        self._live.discard(driver)

    def _cut_connections(self) -> None:
        """End what threads wait for: the server says nothing, and the system would wait on."""
        for driver in [*self._live]:
            with contextlib.suppress(OSError, ValueError):
                _cut(driver)
        self._era += 1

    def _probe(self) -> None:
        """Connect and ask something; raise what goes wrong."""
        try:
            with self._probing.connect() as connection:
                connection.exec_driver_sql("SELECT 1")
        except SERVER_ERRORS as error:
            raise server_error(error, self.name) from error
        if self.outage.is_away:
            self._era += 1
        if self._prepare is not None:
            self._prepare(self)
            self._prepare = None

    def read_here(self, work: Work[T]) -> T:
        """Run `work` in a snapshot, in the calling thread."""
        return self._repeat(lambda: self._read_once(work))

    def write_here(self, work: Work[T]) -> T:
        """Run `work` in a transaction, in the calling thread."""
        return self._repeat(lambda: self._write_once(work))

    @property
    def identity(self) -> str:
        """Return under which name the blob store keeps what is this database's alone.

        Machines reach a server by different names, and servers have databases of the same name:
        the number in the database itself counts. One that was made before there was such a number
        is still told by its name, or what its older copies bring back would be found no more.
        """
        if self._identity is None:
            kind, number = self._url.get_backend_name(), self.read_here(identity_of)
            name = self._url.database if number is None else f"{number:016x}"
            self._identity = quote(f"{kind}-{name}", safe="")
        return self._identity

    def _held_for(self, snapshot: Snapshot | None) -> _Held | None:
        """Hold a connection for a snapshot, unless too many are held already."""
        if snapshot is None:
            return None
        held: _Held | None = snapshot.kept.get(self, (None,))[0]
        if held is None:
            with self._door:
                if self._snapshots_begun >= self._most_snapshots:
                    return None
                self._snapshots_begun += 1
            held = _Held(self._reading)
            snapshot.kept[self] = held, partial(self._let_go, held)
        return held

    def _read_in(self, held: _Held, work: Work[T]) -> T:
        """Run `work` in a snapshot that goes on; in one of its own where that has failed."""
        with held.lock:
            try:
                if (connection := held.connection()) is not None:
                    return work(connection)
            except SERVER_ERRORS:
                held.close()
        return self.read_here(work)

    def _let_go(self, held: _Held) -> None:
        """End a snapshot: in a thread, since it is another way to the server and back."""
        held.has_ended = True
        with self._door:
            self._snapshots_begun -= 1
            if not self._closed:
                self._readers.submit(held.close_after_reading)
                return
        held.close_after_reading(for_good=True)

    def _read_once(self, work: Work[T]) -> T:
        with self._reading.connect() as connection:
            known: KnownValues = connection.info[KNOWN]
            known.values.clear()
            return work(connection)

    def _write_once(self, work: Work[T]) -> T:
        with self._writing.connect() as connection:
            result = work(connection)
            try:
                connection.commit()
            except DBAPIError as error:
                if error.connection_invalidated:
                    raise StorageError(
                        f"The connection to {self.name} was lost at the end of a change; whether "
                        "it was kept is not known",
                        code="outcome_unknown",
                        hint="Check whether it was committed before you repeat it.",
                    ) from error
                raise
            return result

    def _repeat(self, attempt: Callable[[], T]) -> T:
        """Do something until it succeeds or fails for a reason of its own."""
        pause = _FIRST_PAUSE_SECONDS
        tried = 0
        while True:
            tried += 1
            try:
                return attempt()
            except SERVER_ERRORS as error:
                if tried >= _most_attempts(error) or self.outage.is_away:
                    raise server_error(error, self.name) from error
            # Somebody else tries again too, and must not meet this one every time.
            time.sleep(random.uniform(pause / 2, pause))
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    async def close(self) -> None:
        """Finish what is being done, then close the connections."""
        await self.outage.close()
        if self.outage.is_away:
            await asyncio.to_thread(self._cut_connections)
        await asyncio.to_thread(self.close_here)

    def close_here(self) -> None:
        """Close in the calling thread."""
        with self._door:
            if self._closed:
                return
            self._closed = True
        self._writers.shutdown()
        self._readers.shutdown()
        self._reading.dispose()
        self._writing.dispose()
        self._probing.dispose()

    def _require_open(self) -> None:
        if self._closed:
            raise Closed("This memory was closed", hint="Open it again with Memory.open().")


def _most_attempts(error: BaseException) -> int:
    fault = Fault.of(error)
    if fault.is_passing:
        return _ATTEMPTS
    if fault.is_taken:
        return _ATTEMPTS_IF_TAKEN
    # A connection that the server closed while nobody used it; nothing was committed on it.
    return 2 if isinstance(error, DBAPIError) and error.connection_invalidated else 1


def _knowing(for_ever: dict[str, int]) -> Callable[[Any, ConnectionPoolEntry], None]:
    """Let connections remember: each what it reads, and all together what never changes."""

    def prepare(connection: Any, record: ConnectionPoolEntry) -> None:
        record.info[KNOWN] = KnownValues(for_ever=for_ever)

    return prepare


def _engine(
    url: URL, isolation: str, ledger: LedgerNotes, connections: int, *, is_probe: bool = False
) -> Engine:
    pool: dict[str, Any] = {
        "poolclass": QueuePool,
        "pool_size": connections,
        "max_overflow": 0,
    }
    try:
        engine = create_engine(
            url,
            isolation_level=isolation,
            connect_args=_connect_arguments(url, is_probe=is_probe),
            execution_options={LEDGER: ledger},
            **({"poolclass": NullPool} if is_probe else pool),
        )
    except ModuleNotFoundError as missing:
        extra = url.get_backend_name()
        raise StorageError(
            f"The driver for {extra} is not installed ({missing.name})",
            code="driver_missing",
            hint=f"pip install 'recollect[{extra}]'",
        ) from None
    event.listen(engine, "do_connect", _connect)
    if url.get_backend_name() == "mysql":
        recognize_kind(engine)
    return engine


def _connect(dialect: Dialect, _: object, arguments: Sequence[Any], options: Any) -> Any:
    try:
        return dialect.connect(*arguments, **options)
    except TypeError as unknown:
        # PyMySQL takes every option as an argument.
        raise StorageError(
            f"The driver does not know an option of the URL: {unknown}",
            code="bad_option",
            hint="Options follow the question mark; MySQL's TLS is ssl_ca=/path/ca.pem.",
        ) from None


def _connect_arguments(url: URL, *, is_probe: bool) -> dict[str, Any]:
    """Return what a connection is opened with, whatever the server's own defaults are."""
    wanted: dict[str, Any] = {}
    if is_probe or "connect_timeout" not in url.query:
        wanted["connect_timeout"] = _PROBE_SECONDS if is_probe else _CONNECT_SECONDS
    if url.get_backend_name() != "postgresql":
        # A probe asks only what is answered at once.
        patience = {"read_timeout": _PROBE_SECONDS} if is_probe else {}
        # Without a strict mode MySQL cuts off what is too long, and says nothing.
        return {**wanted, **patience, "charset": "utf8mb4", "sql_mode": "STRICT_TRANS_TABLES"}
    if "application_name" not in url.query:
        wanted["application_name"] = "recollect"
    wanted |= {name: it for name, it in _KEEPING_ALIVE.items() if name not in url.query}
    if "prepare_threshold" in url.query:
        wanted["prepare_threshold"] = _number_or_none(url.query["prepare_threshold"])
    return {**wanted, "client_encoding": "utf8"}


def _look_at(work: asyncio.Future[Any]) -> None:
    if not work.cancelled():
        work.exception()


def _cut(driver: Any) -> None:
    """Shut the socket of a driver's connection down, so that whoever waits on it is woken."""
    if (postgresql := getattr(driver, "pgconn", None)) is not None:
        with socket.socket(fileno=os.dup(postgresql.socket)) as shared:
            shared.shutdown(socket.SHUT_RDWR)
        return
    driver._sock.shutdown(socket.SHUT_RDWR)


def _number_or_none(given: str | Sequence[str]) -> int | None:
    """Return how often a statement runs before it is prepared; None is never.

    A pooler that hands out connections by transaction may not know prepared statements.
    """
    return int(given) if isinstance(given, str) and given.isdecimal() else None


# --- What an error of a database server means to the person who meets it --------------------------


@dataclass(frozen=True, slots=True)
class Fault:
    """A driver's error: the server's number for it, if it has one, and what it says."""

    code: str
    text: str

    @classmethod
    def of(cls, error: BaseException) -> Fault:
        """Return what is known of an error, SQLAlchemy's or the driver's own."""
        inner: Any = error.orig if isinstance(error, DBAPIError) and error.orig else error
        match getattr(inner, "args", ()):
            case (int() as number, str() as text):
                # PyMySQL: the number tells more than the state beside it.
                return cls(str(number), text)
            case _:
                text = str(inner).strip()
                code = getattr(inner, "sqlstate", None)
                return cls(code or next((it for sign, it in _SIGNS if sign in text), ""), text)

    @property
    def told(self) -> str:
        """Return what the server says, without the place in the statement."""
        return self.text.partition("\n")[0]

    @property
    def is_passing(self) -> bool:
        """Return whether the same work, done again, may well succeed."""
        return self.code in _PASSING or self.code in _BUSY

    @property
    def is_taken(self) -> bool:
        """Return whether a key was taken, perhaps by somebody who wrote at the same time."""
        return self.code in _TAKEN


# Deadlocks, conflicts of snapshots, locks that were waited for too long, a server that starts.
_PASSING: Final = frozenset({"40001", "40P01", "55P03", "57P03", "1213", "1205", "1020"})
_TAKEN: Final = frozenset({"23505", "1062"})

_UNREACHABLE: Final = (
    "database_unreachable",
    "The database server {name} cannot be reached: {text}",
    "Check that it runs, and the host, port and options in the URL; `recollect doctor` tries "
    "again.",
)
_LOGIN: Final = (
    "database_login",
    "The database server refused the user or password of {name}",
    "Check them in the URL; characters such as @ and / are written %40 and %2F.",
)
_NO_DATABASE: Final = (
    "no_such_database",
    "There is no database of that name on the server: {name}",
    "Create it first (CREATE DATABASE …), or correct the last part of the URL.",
)
_PERMISSION: Final = (
    "database_permission",
    "The user of {name} may not do that: {text}",
    "It makes its own tables. PostgreSQL: ALTER DATABASE … OWNER TO this user; MySQL, which says "
    "the same of a database that is not there: GRANT ALL ON ….* TO this user.",
)
_READ_ONLY: Final = (
    "database_read_only",
    "The database server {name} takes no changes now",
    "It may be a replica: give the URL of the primary.",
)
_DISK_FULL: Final = (
    "disk_full",
    "The disk of the database server {name} is full; nothing of this call was kept",
    "Free room on the server; everything before it was kept.",
)
_LOST: Final = (
    "database_unreachable",
    "The connection to {name} was lost; nothing of this call was kept unless it was told so",
    "Try again; if it stays so, look whether the server runs.",
)
_MEANINGS: Final = {
    **dict.fromkeys(("28P01", "28000", "1045", "1698"), _LOGIN),
    **dict.fromkeys(("3D000", "1049"), _NO_DATABASE),
    **dict.fromkeys(("42501", "3F000", "1142", "1044", "1227", "1370"), _PERMISSION),
    **dict.fromkeys(("25006", "1290", "1792", "1836"), _READ_ONLY),
    **dict.fromkeys(("53100", "1021", "1114"), _DISK_FULL),
    **dict.fromkeys(("57P01", "57P02", "08006", "08003", "2006", "2013", "2055"), _LOST),
    **dict.fromkeys(("08001", "57P03", "2002", "2003", "2005"), _UNREACHABLE),
}
# The number of an error that has none: psycopg gives none for those on connecting.
_SIGNS: Final = (
    ("too many c", "53300"),
    ("remaining connection slots", "53300"),
    ("authentication failed", "28P01"),
    ("no password supplied", "28P01"),
    ("permission denied", "42501"),
    ('role "', "28000"),
    ("does not exist", "3D000"),
    ("starting up", "57P03"),
    ("shutting down", "57P03"),
    ("terminating connection", "57P01"),
    ("server closed the connection", "08006"),
    ("connection is closed", "08006"),
    ("connection is lost", "08006"),
    ("onnection refused", "08001"),
    ("connection failed", "08001"),
    ("connection is bad", "08001"),
    ("could not", "08001"),
    ("timeout expired", "08001"),
    ("No such file", "08001"),
    ("failed to resolve", "08001"),
    ("name resolution", "08001"),
)
_BUSY: Final = frozenset({"53300", "1040", "1203", "1226"})


def server_error(error: BaseException, name: str) -> StorageError:
    """Return one of our errors for a driver's, with what to do about it."""
    fault = Fault.of(error)
    if fault.code in _BUSY:
        return StorageBusy(
            f"The database server {name} has no connection left; nothing was written",
            hint="Raise max_connections there, or lower storage.connections here.",
        )
    if (meaning := _MEANINGS.get(fault.code)) is not None:
        code, message, hint = meaning
        return StorageError(message.format(name=name, text=fault.told), code=code, hint=hint)
    if fault.is_passing:
        return StorageBusy(
            "Concurrent writes kept conflicting; this call wrote nothing",
            hint="Try again; if this persists, look for a process that holds a long transaction.",
        )
    return StorageError(f"The database refused: {fault.told}")


# What SQLAlchemy raises for anything that a driver or the server says.
SERVER_ERRORS: Final = (SQLAlchemyError,)
