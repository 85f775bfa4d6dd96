"""What was forgotten, kept outside of the database, so that no older copy brings it back.

An entry a forgetting: ids of records and turns, and salted hashes in the place of names. Nothing
in it says who or what it was; it only lets the same be recognised when it appears again. Of a
database file the ledger is a file beside it; of a database server it is in the blob store, which
every machine that uses the server shares.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Protocol

from sqlalchemy import Connection, func, select, union

from recollect.backends.objects import BlobNotes
from recollect.backends.sql import schema
from recollect.backends.sql.database import ledger_beside
from recollect.backends.sql.erasure_targets import FORGOTTEN_AGENT, Found
from recollect.backends.sql.prepared_statement import PreparedStatement
from recollect.backends.sql.rows import rows_of, to_json
from recollect.domain.files import is_full, open_new, what_to_free
from recollect.domain.forgetting import Person, Target
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
            or any(salted(salt, "person", *place, it) in self.people for it in people if it)
            or any(salted(salt, "session", scope.key, it) in self.sessions for it in sessions)
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


# --- What the ledger says of a forgetting, and what it means in a database ------------------------

_SALT_BYTES: Final = 16
_NONE: Final = "-"
_STONES: Final = schema.tombstones.c
# Ids rise with time, so the highest is of the forgetting that began last.
_LAST_BEGUN: Final = PreparedStatement(
    select(_STONES.forgotten_at).where(
        _STONES.id == select(func.max(_STONES.forget_id)).scalar_subquery()
    )
)


def entry_of(target: Target, found: Found, forget_id: str) -> Entry:
    """Return what the ledger says of a forgetting."""
    salt = secrets.token_hex(_SALT_BYTES)
    parts = found.parts.values()
    person = target.person
    return Entry(
        forget_id=forget_id,
        salt=salt,
        people=() if person is None else (_hash_of_person(salt, person),),
        scopes=tuple(salted(salt, "scope", scope.key) for scope in target.scopes),
        sessions=tuple(
            salted(salt, "session", scope.key, session) for scope, session in target.sessions
        ),
        records=tuple(sorted(it for part in parts for it in part.records)),
        turns=tuple(sorted(it for part in parts for it in part.turns)),
        documents=tuple(sorted(it for part in parts for it in part.documents)),
    )


def not_applied(connection: Connection, noted: Iterable[str]) -> set[str]:
    """Return the forgettings that this database is too old to contain."""
    stones = schema.tombstones.c
    return {*noted} - {*connection.scalars(select(stones.id).where(stones.kind == "forget"))}


def begun_since(connection: Connection, at: int) -> list[Entry]:
    """Return the forgettings that began at this moment or later."""
    stones, jobs = schema.tombstones.c, schema.jobs.c
    # In nearly every case the last one tells that there were none.
    last = next((row[0] for row in _LAST_BEGUN.rows(connection, {})), 0)
    if last < at:
        return []
    later = select(stones.id).where(stones.kind == "forget", stones.forgotten_at >= at)
    begun = set(connection.scalars(later))
    # One that is not in the ledger yet is in its job.
    is_open = jobs.gave_up <= 1
    working = connection.scalars(select(jobs.payload).where(jobs.kind == "forget", is_open))
    entries = [json.loads(it)["entry"] for it in working]
    noted = [Entry.from_json(it) for it in entries if it is not None]
    return [it for it in noted if it.forget_id in begun] + ledger_beside(connection).read(begun)


def targets(connection: Connection, entries: Iterable[Entry]) -> Iterator[tuple[str, Target]]:
    """Yield what each of these forgettings means in this database."""
    scopes = list(_scopes(connection))
    for entry in entries:
        salt = entry.salt
        people = {_person(scope) for _, scope in scopes if scope.user is not None}
        yield (
            entry.forget_id,
            Target(
                scopes=tuple(
                    scope
                    for _, scope in scopes
                    if salted(salt, "scope", scope.key) in entry.scopes
                    or (
                        scope.user is not None
                        and _hash_of_person(salt, _person(scope)) in entry.people
                    )
                ),
                person=next(
                    (it for it in people if _hash_of_person(salt, it) in entry.people), None
                ),
                sessions=tuple(
                    (scope, session)
                    for number, scope in scopes
                    if entry.sessions
                    for session in _sessions(connection, number)
                    if salted(salt, "session", scope.key, session) in entry.sessions
                ),
                records=entry.records,
                turns=entry.turns,
                documents=entry.documents,
            ),
        )


def _scopes(connection: Connection) -> Iterator[tuple[int, Scope]]:
    live = select(schema.scopes).where(schema.scopes.c.agent != FORGOTTEN_AGENT)
    for row in rows_of(connection, live):
        place = {"org": row["org"], "workspace": row["workspace"]}
        yield row["id"], Scope(**place, agent=row["agent"] or None, user=row["user"] or None)


def _sessions(connection: Connection, scope_id: int) -> Iterable[str]:
    tables = (schema.turns, schema.records, schema.archives, schema.state)
    sessions = (select(it.c.session).where(it.c.scope_id == scope_id) for it in tables)
    return [it for it in connection.scalars(union(*sessions)) if it is not None]


def _person(scope: Scope) -> Person:
    return Person(org=scope.org, workspace=scope.workspace, name=scope.user or _NONE)


def _hash_of_person(salt: str, person: Person) -> str:
    return salted(salt, "person", person.org, person.workspace, person.name)
