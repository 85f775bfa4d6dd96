"""What every SQL database offers: a function runs with a connection, in one transaction.

`SqliteDatabase` is a file, `ServerDatabase` a server that several processes share.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from recollect.domain.files import has_no_room, what_to_free
from recollect.errors import StorageBusy, StorageError

if TYPE_CHECKING:
    from recollect.backends.sql.forget_ledger import Ledger
    from recollect.backends.sql.outage import Outage
    from recollect.ports.audit import Anchor


T = TypeVar("T")
S = TypeVar("S", bound="OnDatabase")
P = ParamSpec("P")
Work = Callable[[Connection], T]

# The names under which a database keeps things with its connections and its engines.
KNOWN: Final = "recollect.known"
LEFT: Final = "recollect.left"
LEDGER: Final = "recollect_ledger"
_MOST_REMEMBERED: Final = 10_000


class Database(Protocol):
    """An open database: `read` and `write` run a function with a connection.

    The function may run again when the server asks for it (a deadlock, for example), so it
    changes nothing but the database.
    """

    @property
    def name(self) -> str:
        """Return what people call it: the path, or the address without the password."""
        ...

    @property
    def path(self) -> Path:
        """Return the file; of a server, the one in whose place its companions lie."""
        ...

    @property
    def identity(self) -> str:
        """Return a name that no other database has, wherever it is opened."""
        ...

    @property
    def ledger(self) -> Ledger:
        """Return what was forgotten, kept outside of the database."""
        ...

    @property
    def anchor(self) -> Anchor:
        """Return how far the audit went, kept outside of the database."""
        ...

    @property
    def has_written(self) -> bool:
        """Return whether anything was written since it was opened."""
        ...

    @property
    def outage(self) -> Outage | None:
        """Return whether the server is away; a file never is."""
        ...

    async def read(self, work: Work[T], *, is_quick: bool = False) -> T:
        """Run `work` in one snapshot; what is quick may be done in the asking thread."""
        ...

    async def write(
        self,
        work: Work[T],
        *,
        is_removal: bool = False,
        is_quick: bool = False,
        is_durable: bool = True,
    ) -> T:
        """Run `work` in a transaction; when this returns, its changes are durable.

        What is quick may be done in the asking thread. What need not be durable is there for
        everybody and outlives the process; only a machine that fails may lose it.
        """
        ...

    def read_here(self, work: Work[T]) -> T:
        """Run `work` in a snapshot, in the calling thread."""
        ...

    def write_here(self, work: Work[T]) -> T:
        """Run `work` in a transaction of its own, in the calling thread: for setting up."""
        ...

    async def close(self) -> None:
        """Finish what is being written, then close."""
        ...

    def close_here(self) -> None:
        """Close in the calling thread."""
        ...


class OnDatabase:
    """A service on one database; its methods with one of these decorators are given a connection.

    Such a method runs in one transaction, in whichever thread the database chooses.
    """

    def __init__(self, database: Database) -> None:
        self.database = database


def reading(
    method: Callable[Concatenate[S, Connection, P], T],
) -> Callable[Concatenate[S, P], CoroutineType[Any, Any, T]]:
    """Run a method in one snapshot, see `Database.read`."""
    return _transacting(method, lambda database, work: database.read(work))


def reading_quickly(
    method: Callable[Concatenate[S, Connection, P], T],
) -> Callable[Concatenate[S, P], CoroutineType[Any, Any, T]]:
    """Run a method that is quick in one snapshot."""
    return _transacting(method, lambda database, work: database.read(work, is_quick=True))


def writing(
    method: Callable[Concatenate[S, Connection, P], T],
) -> Callable[Concatenate[S, P], CoroutineType[Any, Any, T]]:
    """Run a method in a transaction, see `Database.write`."""
    return _transacting(method, lambda database, work: database.write(work))


def removing(
    method: Callable[Concatenate[S, Connection, P], T],
) -> Callable[Concatenate[S, P], CoroutineType[Any, Any, T]]:
    """Run a method that removes something in a transaction."""
    return _transacting(method, lambda database, work: database.write(work, is_removal=True))


def _transacting(
    method: Callable[Concatenate[S, Connection, P], T],
    run: Callable[[Database, Work[T]], Awaitable[T]],
) -> Callable[Concatenate[S, P], CoroutineType[Any, Any, T]]:
    @wraps(method)
    async def transact(self: S, *args: P.args, **options: P.kwargs) -> T:
        return await run(self.database, lambda it: method(self, it, *args, **options))

    return transact


@dataclass(slots=True)
class KnownValues:
    """What a reading connection knows of the database; a writing one keeps nothing."""

    # What holds as long as nobody writes.
    version: int = 0
    # Whether that was seen to hold in the transaction that goes on.
    is_checked: bool = False
    values: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])
    # What never changes.
    for_ever: dict[str, int] = field(default_factory=dict[str, int])


def remembered(connection: Connection) -> dict[Hashable, Any]:
    """Return what a reading connection has read, as long as nothing was written.

    The writer remembers nothing: what it sees may yet be rolled back.
    """
    known: KnownValues | None = connection.info.get(KNOWN)
    if known is None:
        return {}
    # A server's connection begins every transaction with nothing.
    if not known.is_checked and connection.dialect.name == "sqlite":
        _renew(connection, known)
    return known.values


def _renew(connection: Connection, known: KnownValues) -> None:
    """Forget what a reading connection knows if anybody has written since it was read."""
    # It changes whenever another connection commits, and readers never write themselves. Asking
    # also starts the snapshot, so what is remembered is what the snapshot has.
    known.is_checked = True
    now = driver_of(connection).execute("PRAGMA data_version").fetchone()[0]
    if now != known.version or len(known.values) > _MOST_REMEMBERED:
        known.values.clear()
        known.version = now


class Outdated(Exception):
    """A row is not any more as an earlier transaction left it: this one begins anew."""


class LeftToWriter(Exception):
    """The asking thread is not to do this: others write, or it takes long."""


@dataclass(slots=True)
class Left:
    """What earlier transactions of a writer left; another process may have changed it since.

    Whoever relies on it makes sure, before the transaction ends, that it is still so, or raises
    `Outdated`. What is `new` is known to the next transaction if this one is committed.
    """

    known: dict[Hashable, Any]
    # Whether everybody else in the loop waits for this transaction.
    is_at_once: bool = False
    new: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])
    is_used: bool = False

    def take(self, key: Hashable) -> Any:
        """Return what was left under a key; None if nothing is known."""
        found = self.known.get(key)
        self.is_used = self.is_used or found is not None
        return found

    def learn(self) -> None:
        """Let the next transaction know what this one, which was committed, has left."""
        if len(self.known) > _MOST_REMEMBERED:
            self.known.clear()
        self.known.update(self.new)


def left_behind(connection: Connection) -> Left:
    """Return what earlier transactions left; of a server, whose writers are many, nothing."""
    return connection.info.get(LEFT) or Left({})


def driver_of(connection: Connection) -> sqlite3.Connection:
    """Return the connection of the SQLite driver below one of SQLAlchemy."""
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    return driver


def remembered_for_ever(connection: Connection) -> dict[str, int]:
    """Return the numbers that a reading connection has seen and that are never given again."""
    known: KnownValues | None = connection.info.get(KNOWN)
    return {} if known is None else known.for_ever


def ledger_beside(connection: Connection) -> Ledger:
    """Return the ledger of a connection's database."""
    return connection.engine.get_execution_options()[LEDGER]


# --- What a driver's error means to the person who meets it ---------------------------------------

# SQLite tells most of these apart only by their text.
_MEANINGS: Final[tuple[tuple[str, str, str, str], ...]] = (
    (
        "readonly",
        "database_read_only",
        "The database file {path} cannot be written",
        "Check the permissions of the file and its folder.",
    ),
    (
        "read-only",
        "database_read_only",
        "The database file {path} cannot be written",
        "Check the permissions of the file and its folder.",
    ),
    (
        "unable to open",
        "database_unreachable",
        "The database file {path} cannot be opened",
        "Check that the folder exists and may be written to.",
    ),
    (
        "malformed",
        "database_corrupt",
        "The database file {path} is damaged",
        "Bring back the last good copy with `recollect restore`.",
    ),
    (
        "not a database",
        "database_corrupt",
        "The file {path} is not a database",
        "Give another path, or bring back a copy with `recollect restore`.",
    ),
)


# Errors on connecting come straight from the driver, all others wrapped by SQLAlchemy.
DRIVER_ERRORS: Final = (DBAPIError, sqlite3.Error)


def storage_error(fault: DBAPIError | sqlite3.Error, path: Path) -> StorageError:
    """Return one of our errors for a driver's, with what to do about it."""
    text = str(fault.orig if isinstance(fault, DBAPIError) else fault)
    if "locked" in text or "busy" in text:
        return StorageBusy(
            "Another process kept the database locked; this call wrote nothing",
            hint="Try again; if this persists, look for a process that holds a long transaction.",
        )
    if "full" in text or ("disk I/O error" in text and has_no_room(path.parent)):
        return StorageError(
            "The disk is full; this call was not committed, everything before it was",
            code="disk_full",
            hint=what_to_free(path),
        )
    for sign, code, message, hint in _MEANINGS:
        if sign in text:
            return StorageError(message.format(path=path), code=code, hint=hint)
    return StorageError(f"The database refused: {text}")
