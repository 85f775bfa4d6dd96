"""What was forgotten, kept outside of the database, so that no older copy brings it back.

An entry a forgetting: ids of records and turns, and salted hashes in the place of names. Nothing
in it says who or what it was; it only lets the same be recognised when it appears again. Of a
database file the ledger is a file beside it; of a database server it is in the blob store, which
every machine that uses the server shares.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Protocol

from recollect.backends.objects import BlobNotes
from recollect.backends.sql.rows import to_json
from recollect.domain.files import is_full, open_new, what_to_free
from recollect.domain.scope import Scope
from recollect.errors import StorageError

_FORGOTTEN: Final = "forgotten"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One forgetting."""

    forget_id: str
    salt: str
    people: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()

    def tells_of(self, scope: Scope, names: Collection[str]) -> bool:
        """Return whether an item of this scope that names these ids was forgotten."""
        salt, place = self.salt, (scope.org, scope.workspace)
        people = {scope.user, *names} if self.people else set[str]()
        sessions = names if self.sessions else ()
        return (
            not {*self.records, *self.turns, *self.documents}.isdisjoint(names)
            or salted(salt, "scope", scope.key) in self.scopes
            or any(
                salted(salt, "person", *place, person) in self.people for person in people if person
            )
            or any(
                salted(salt, "session", scope.key, session) in self.sessions for session in sessions
            )
        )

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Entry:
        lists = ("people", "scopes", "sessions", "records", "turns", "documents")
        return cls(
            forget_id=stored["forget_id"],
            salt=stored["salt"],
            # A ledger of before there were documents does not name any.
            **{name: tuple[str, ...](stored.get(name, ())) for name in lists},
        )


def salted(salt: str, *parts: str) -> str:
    """Return the hash that stands for a name in an entry with this salt."""
    told = "\0".join(parts).encode("utf-8", "surrogatepass")
    return blake2b(told, key=bytes.fromhex(salt), digest_size=16).hexdigest()


class Ledger(Protocol):
    """Every forgetting that was noted."""

    def ids(self) -> set[str]:
        """Return the ids of all forgettings."""
        ...

    def read(self, ids: Collection[str]) -> list[Entry]:
        """Return those of these forgettings that were noted."""
        ...

    def append(self, entries: Iterable[Entry]) -> None:
        """Note forgettings that are not noted yet; when this returns, they are durable."""
        ...

    def contents(self) -> Iterator[tuple[str, bytes]]:
        """Return everything as it is stored, by name, for a search in it."""
        ...


def merge(source: Ledger, target: Ledger) -> None:
    """Note in one ledger what another has noted."""
    if missing := source.ids() - target.ids():
        target.append(source.read(missing))


def ledger_of(database: Path) -> Path:
    """Return the path of a database's ledger; while it is being copied, beside the copy."""
    return database.with_name(f"{database.name.removesuffix('.copying')}-forgotten.jsonl")


class LedgerFile:
    """A `Ledger` with a line a forgetting."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def ids(self) -> set[str]:
        return {entry.forget_id for entry in self._entries()}

    def read(self, ids: Collection[str]) -> list[Entry]:
        return [entry for entry in self._entries() if entry.forget_id in ids]

    def append(self, entries: Iterable[Entry]) -> None:
        known = self.ids()
        new = [entry for entry in entries if entry.forget_id not in known]
        if not new:
            return
        try:
            with open_new(self._path, "ab+") as file:
                _cut_torn_line(file.fileno())
                file.write(b"".join(to_json(it.as_json()).encode() + b"\n" for it in new))
                file.flush()
                os.fsync(file.fileno())
        except OSError as problem:
            raise StorageError(
                f"The forget ledger {self._path} cannot be written: {problem.strerror}",
                code="disk_full" if is_full(problem) else "file_unwritable",
                hint=what_to_free(self._path)
                if is_full(problem)
                else "Check the permissions of its folder.",
            ) from problem

    def contents(self) -> Iterator[tuple[str, bytes]]:
        if self._path.is_file():
            yield self._path.name, self._path.read_bytes()

    def _entries(self) -> Iterator[Entry]:
        try:
            lines = self._path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return
        # A last line that was cut off by a crash is none.
        yield from (Entry.from_json(json.loads(line)) for line in lines[:-1] if line)


class LedgerNotes:
    """A `Ledger` in the blob store, with a note a forgetting."""

    def __init__(self, notes: BlobNotes) -> None:
        self._notes = notes

    def ids(self) -> set[str]:
        names = self._notes.names(_FORGOTTEN)
        return {name.removeprefix(f"{_FORGOTTEN}/").removesuffix(".json") for name in names}

    def read(self, ids: Collection[str]) -> list[Entry]:
        stored = (self._notes.read(_name(it)) for it in sorted(ids))
        return [Entry.from_json(json.loads(it)) for it in stored if it is not None]

    def append(self, entries: Iterable[Entry]) -> None:
        known = self.ids()
        for entry in entries:
            if entry.forget_id not in known:
                self._notes.write(_name(entry.forget_id), to_json(entry.as_json()).encode())

    def contents(self) -> Iterator[tuple[str, bytes]]:
        for name in self._notes.names(_FORGOTTEN):
            yield name, self._notes.read(name) or b""


def _name(forget_id: str) -> str:
    return f"{_FORGOTTEN}/{forget_id}.json"


def _cut_torn_line(descriptor: int) -> None:
    """Take away what a crash left of an unfinished line, or it would spoil the next one."""
    size = os.fstat(descriptor).st_size
    content = os.pread(descriptor, size, 0) if size else b""
    whole = content.rfind(b"\n") + 1
    if whole < size:
        os.ftruncate(descriptor, whole)
