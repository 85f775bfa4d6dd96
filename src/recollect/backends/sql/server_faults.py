"""What an error of a database server means to the person who meets it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from recollect.errors import StorageBusy, StorageError


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
                return cls(getattr(inner, "sqlstate", None) or "", str(inner).strip())

    @property
    def is_passing(self) -> bool:
        """Return whether the same work, done again, may well succeed."""
        return self.code in _PASSING

    @property
    def is_taken(self) -> bool:
        """Return whether a key was taken, perhaps by somebody who wrote at the same time."""
        return self.code in _TAKEN


# Deadlocks, conflicts of snapshots and locks that were waited for too long.
_PASSING: Final = frozenset({"40001", "40P01", "55P03", "1213", "1205", "1020"})
_TAKEN: Final = frozenset({"23505", "1062"})

_UNREACHABLE: Final = (
    "database_unreachable",
    "The database server {name} cannot be reached",
    "Check that it runs, and the host and port in the URL; `recollect doctor` tries again.",
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
    "Grant it all rights on this database; it makes its own tables (CREATE, and for PostgreSQL "
    "also USAGE on the schema).",
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
    **dict.fromkeys(("42501", "1142", "1044", "1227", "1370"), _PERMISSION),
    **dict.fromkeys(("25006", "1290", "1792", "1836"), _READ_ONLY),
    **dict.fromkeys(("53100", "1021", "1114"), _DISK_FULL),
    **dict.fromkeys(("57P01", "57P02", "57P03", "08006", "08003", "2006", "2013", "2055"), _LOST),
    **dict.fromkeys(("08001", "2002", "2003", "2005"), _UNREACHABLE),
}
# Errors on connecting have no number in PostgreSQL.
_TEXTS: Final = (
    ("authentication failed", _LOGIN),
    ("no password supplied", _LOGIN),
    ('role "', _LOGIN),
    ("does not exist", _NO_DATABASE),
    ("terminating connection", _LOST),
    ("server closed the connection", _LOST),
    ("connection is closed", _LOST),
    ("connection is lost", _LOST),
    ("onnection refused", _UNREACHABLE),
    ("connection failed", _UNREACHABLE),
    ("could not", _UNREACHABLE),
    ("timeout expired", _UNREACHABLE),
    ("No such file", _UNREACHABLE),
    ("failed to resolve", _UNREACHABLE),
    ("name resolution", _UNREACHABLE),
)
_BUSY: Final = frozenset({"53300", "1040", "1203", "1226"})


def server_error(error: BaseException, name: str) -> StorageError:
    """Return one of our errors for a driver's, with what to do about it."""
    fault = Fault.of(error)
    if fault.is_passing:
        return StorageBusy(
            "Others kept writing to the same place; nothing of this call was written",
            hint="Try again; if it stays so, look for a process that holds a long transaction.",
        )
    if fault.code in _BUSY:
        return StorageBusy(
            f"The database server {name} has no connection left; nothing was written",
            hint="Raise max_connections there, or lower storage.connections here.",
        )
    meaning = _MEANINGS.get(fault.code)
    if meaning is None and not fault.code:
        meaning = next((it for sign, it in _TEXTS if sign in fault.text), None)
    if meaning is None:
        return StorageError(f"The database refused: {fault.text}")
    code, message, hint = meaning
    return StorageError(message.format(name=name, text=fault.text), code=code, hint=hint)


# What SQLAlchemy raises for anything that a driver or the server says.
SERVER_ERRORS: Final = (SQLAlchemyError,)
