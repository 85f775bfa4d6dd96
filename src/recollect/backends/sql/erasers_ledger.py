"""What the ledger says of a forgetting, and what it means in a database."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator
from typing import Final

from sqlalchemy import Connection, func, select, union

from recollect.backends.sql import schema
from recollect.backends.sql.database import ledger_beside
from recollect.backends.sql.erasers_find import FORGOTTEN_AGENT, Found
from recollect.backends.sql.forget_ledger import Entry, salted
from recollect.backends.sql.prepared_statement import Quick
from recollect.backends.sql.rows import rows_of
from recollect.domain.forgetting import Person, Target
from recollect.domain.scope import Scope

_SALT_BYTES: Final = 16
_NONE: Final = "-"
_STONES: Final = schema.tombstones.c
# Ids rise with time, so the highest is of the forgetting that began last.
_LAST_BEGUN: Final = Quick(
    select(_STONES.forgotten_at).where(
        _STONES.id == select(func.max(_STONES.forget_id)).scalar_subquery()
    )
)


def entry_of(target: Target, found: Found, forget_id: str) -> Entry:
    """What the ledger says of a forgetting."""
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
    """Those forgettings that this database has not seen: it is older than they are."""
    stones = schema.tombstones.c
    return {*noted} - {*connection.scalars(select(stones.id).where(stones.kind == "forget"))}


def begun_since(connection: Connection, at: int) -> list[Entry]:
    """The forgettings that began at this moment or later."""
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
    noted = [Entry.from_json(json.loads(it)["entry"]) for it in working]
    return [it for it in noted if it.forget_id in begun] + ledger_beside(connection).read(begun)


def targets(connection: Connection, entries: Iterable[Entry]) -> Iterator[tuple[str, Target]]:
    """What each of these forgettings means in this database."""
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
