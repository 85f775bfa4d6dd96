"""What belongs to something that is to be forgotten: found in one snapshot, nothing changed."""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Column, ColumnElement, Connection, and_, or_, select, true, union

from recollect.backends.sql import schema
from recollect.backends.sql.forget_ledger import Entry, salted
from recollect.backends.sql.forgotten import FORGOTTEN_AGENT, names_in
from recollect.backends.sql.portable import holds, listed, listed_numbers
from recollect.backends.sql.rows import Row, rows_of, to_json
from recollect.backends.sql.scopes import collection_scopes, rows_of_scopes
from recollect.domain.forgetting import Person, Target
from recollect.domain.scope import SHARED_AGENT, Scope

_FEW: Final = 30
_TELLING: Final = 8


@dataclass(slots=True)
class Part:
    """The part of a remaining scope that is forgotten."""

    sessions: set[str] = field(default_factory=set[str])
    records: set[str] = field(default_factory=set[str])
    turns: set[str] = field(default_factory=set[str])
    archives: set[str] = field(default_factory=set[str])
    documents: set[str] = field(default_factory=set[str])
    writes: set[str] = field(default_factory=set[str])
    proposals: set[str] = field(default_factory=set[str])
    state: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])


@dataclass(slots=True)
class Found:
    """Scopes that go as a whole, and what goes of others, by their ids."""

    whole: tuple[int, ...] = ()
    parts: dict[int, Part] = field(default_factory=dict[int, Part])
    # Of the same people as the parts: what was made of these may lie there.
    related: tuple[int, ...] = ()
    shared: tuple[int, ...] = ()
    evidence_left: tuple[str, ...] = ()

    def part(self, scope_id: int) -> Part:
        return self.parts.setdefault(scope_id, Part())

    @property
    def ids(self) -> set[str]:
        """Everything that goes of scopes which stay, by its id."""
        owners = (
            {*part.records, *part.turns, *part.archives, *part.documents}
            for part in self.parts.values()
        )
        return set[str]().union(*owners)


def find(connection: Connection, target: Target) -> Found:
    """Return everything that belongs to the target or was derived from it."""
    found = Found(whole=_whole_scopes(connection, target))
    _take_sessions(connection, target, found)
    named = _take_records(connection, target, found)
    named |= _take_derived_records(connection, found)
    evidence = _turns_within(connection, target, named)
    _take_turns(connection, [*target.turns, *(evidence if target.with_evidence else ())], found)
    _take_documents(connection, target, found)
    found.evidence_left = tuple(sorted(evidence - found.ids))
    for scope_id in found.whole:
        found.parts.pop(scope_id, None)
    _take_surroundings(connection, target, found)
    _take_what_was_made_of_it(connection, found)
    return found


def _whole_scopes(connection: Connection, target: Target) -> tuple[int, ...]:
    table, person = schema.scopes.c, target.person
    numbers = {row["id"] for _, row in rows_of_scopes(connection, target.scopes)}
    numbers.update(collection_scopes(connection, target.scopes))
    if person is not None:
        of_person = (
            table.org == person.org,
            table.workspace == person.workspace,
            table.user == person.name,
            table.agent != FORGOTTEN_AGENT,
        )
        numbers.update(connection.scalars(select(table.id).where(*of_person)))
    return tuple(sorted(numbers))


def _take_sessions(connection: Connection, target: Target, found: Found) -> None:
    for scope, session in target.sessions:
        for _, row in rows_of_scopes(connection, [scope]):
            part = found.part(row["id"])
            part.sessions.add(session)
            for table, ids in (
                (schema.records, part.records),
                (schema.turns, part.turns),
                (schema.archives, part.archives),
                (schema.writes, part.writes),
            ):
                columns = table.c
                its = and_(columns.scope_id == row["id"], columns.session == session)
                ids.update(connection.scalars(select(columns.id).where(its)))


def _take_records(connection: Connection, target: Target, found: Found) -> set[str]:
    """Take records by their ids; the turns they rest on."""
    table = schema.records.c
    wanted = select(table.id, table.scope_id, table.evidence).where(table.id.in_(listed("ids")))
    evidence: set[str] = set()
    for row in rows_of(connection, wanted, _ids(target.records)):
        found.part(row["scope_id"]).records.add(row["id"])
        evidence |= _evidence(row)
    return evidence


def _take_derived_records(connection: Connection, found: Found) -> set[str]:
    """Take records that rest on nothing but turns that go; the other turns such records name."""
    table = schema.records.c
    evidence: set[str] = set()
    for scope_id, part in found.parts.items():
        if not part.turns:
            continue
        resting = select(table.id, table.evidence).where(
            table.scope_id == scope_id, table.evidence != "[]"
        )
        for row in rows_of(connection, resting):
            rests_on = _evidence(row)
            if rests_on <= part.turns:
                part.records.add(row["id"])
            elif row["id"] in part.records:
                evidence |= rests_on
    return evidence


def _turns_within(connection: Connection, target: Target, turns: Collection[str]) -> set[str]:
    """Return the turns that exist in these scopes."""
    table = schema.turns.c
    scopes = [row["id"] for _, row in rows_of_scopes(connection, target.within)]
    here = and_(table.id.in_(listed("ids")), table.scope_id.in_(scopes))
    return set(connection.scalars(select(table.id).where(here), _ids(turns)))


def _take_turns(connection: Connection, turns: Collection[str], found: Found) -> None:
    table = schema.turns.c
    wanted = select(table.id, table.scope_id, table.session).where(table.id.in_(listed("ids")))
    for row in rows_of(connection, wanted, _ids(turns)):
        part = found.part(row["scope_id"])
        part.turns.add(row["id"])
        # What a session is in the middle of was made of what was said in it.
        part.state.update(_state_of(connection, row["scope_id"], row["session"]))


def _take_documents(connection: Connection, target: Target, found: Found) -> None:
    table = schema.documents.c
    wanted = select(table.id, table.scope_id).where(table.id.in_(listed("ids")))
    for row in rows_of(connection, wanted, _ids(target.documents)):
        found.part(row["scope_id"]).documents.add(row["id"])


def _take_surroundings(connection: Connection, target: Target, found: Found) -> None:
    """Find the scopes in which something made of it may lie."""
    table = schema.scopes.c
    of_parts = select(table.org, table.workspace, table.user).where(
        table.id.in_(listed_numbers("ids"))
    )
    people = [tuple(it) for it in connection.execute(of_parts, _ids([*found.parts, *found.whole]))]
    if target.person is not None:
        # Somebody without a scope may still have been proposed for.
        people.append((target.person.org, target.person.workspace, target.person.name))
    if not people:
        return
    live = table.agent != FORGOTTEN_AGENT
    same = [
        and_(table.org == org, table.workspace == place, table.user == user)
        for org, place, user in dict.fromkeys(people)
    ]
    related = set(connection.scalars(select(table.id).where(live, or_(*same))))
    workspaces = {(org, place) for org, place, _ in people}
    common = [
        and_(table.org == org, table.workspace == place, table.agent == SHARED_AGENT)
        for org, place in workspaces
    ]
    shared = set(connection.scalars(select(table.id).where(or_(*common))))
    found.shared = tuple(sorted(shared - set(found.whole)))
    found.related = tuple(sorted((related | shared) - set(found.whole))) if found.parts else ()
    if target.person is not None:
        _take_proposals_for(connection, target.person.name, found)


def _take_proposals_for(connection: Connection, user: str, found: Found) -> None:
    """Take what agents that worked for this user proposed to everybody."""
    table = schema.proposals.c
    theirs = and_(table.user == user, table.scope_id.in_(listed_numbers("ids")))
    wanted = select(table.id, table.scope_id).where(theirs)
    for row in rows_of(connection, wanted, _ids(found.shared)):
        found.part(row["scope_id"]).proposals.add(row["id"])


def _take_what_was_made_of_it(connection: Connection, found: Found) -> None:
    """Take traces, proposals and states of sessions that name it or say the same."""
    ids = found.ids
    if not ids:
        return
    here = _ids(found.related)
    writes, proposals, state = schema.writes.c, schema.proposals.c, schema.state.c
    traces = _of_related(writes.id, writes.scope_id, writes.steps).where(_names(writes.steps, ids))
    for row in rows_of(connection, traces, here):
        if not ids.isdisjoint(names_in(row["steps"])):
            found.part(row["scope_id"]).writes.add(row["id"])
    columns = (proposals.id, proposals.scope_id, proposals.record_id, proposals.target_id)
    for row in rows_of(connection, _of_related(*columns, proposals.body), here):
        if not ids.isdisjoint({row["record_id"], row["target_id"], *names_in(row["body"])}):
            found.part(row["scope_id"]).proposals.add(row["id"])
    texts = _texts_of(connection, found)
    columns = (state.scope_id, state.session, state.name, state.value)
    for row in rows_of(connection, _of_related(*columns), here):
        value = row["value"]
        if not ids.isdisjoint(names_in(value)) or any(text in value for text in texts):
            found.part(row["scope_id"]).state.add((row["session"], row["name"]))


def _names(column: Column[str], ids: Collection[str]) -> ColumnElement[bool]:
    """Return the condition that a text may name one of these; of many it is asked one by one."""
    if len(ids) > _FEW:
        return true()
    return or_(*(holds(column, it) for it in sorted(ids)))


def _texts_of(connection: Connection, found: Found) -> set[str]:
    """Return what the records say and said, as it is spelled within JSON."""
    records, versions = schema.records.c, schema.versions.c
    ids = _ids([it for part in found.parts.values() for it in part.records])
    now = select(records.content).where(records.id.in_(listed("ids")))
    then = select(versions.body).where(versions.record_id.in_(listed("ids")))
    texts = set(connection.scalars(now, ids))
    texts.update(json.loads(body)["content"] for body in connection.scalars(then, ids))
    # What is very short is said by chance.
    return {to_json(text)[1:-1] for text in texts if len(text) >= _TELLING}


def _state_of(connection: Connection, scope_id: int, session: str) -> set[tuple[str, str]]:
    table = schema.state.c
    its = and_(table.scope_id == scope_id, table.session == session)
    return {(session, name) for name in connection.scalars(select(table.name).where(its))}


def _evidence(row: Row) -> set[str]:
    return {item["turn"] for item in json.loads(row["evidence"])}


def _of_related(*columns: Column[Any]) -> Any:
    (scope_id,) = (column for column in columns if column.name == "scope_id")
    within: ColumnElement[bool] = scope_id.in_(listed_numbers("ids"))
    return select(*columns).where(within)


def _ids(values: Collection[str] | Collection[int]) -> Mapping[str, str]:
    return {"ids": to_json(list(values))}


# --- What the ledger says of a forgetting, and what it means in a database ------------------------

_SALT_BYTES: Final = 16
_NONE: Final = "-"


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
                    (person for person in people if _hash_of_person(salt, person) in entry.people),
                    None,
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
    sessions = (select(table.c.session).where(table.c.scope_id == scope_id) for table in tables)
    return [it for it in connection.scalars(union(*sessions)) if it is not None]


def _person(scope: Scope) -> Person:
    return Person(org=scope.org, workspace=scope.workspace, name=scope.user or _NONE)


def _hash_of_person(salt: str, person: Person) -> str:
    return salted(salt, "person", person.org, person.workspace, person.name)
