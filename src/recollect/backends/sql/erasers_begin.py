"""The first transaction of a forgetting: what is to go is moved where nobody can ask for it.

A scope that goes as a whole loses its names and keeps its number, which is never used again. Of
a scope that stays, what goes is moved into a scope without names. From then on nothing of it can
be seen, and the batches that erase it need to know nothing but the numbers of those scopes.
"""

from __future__ import annotations

import json
import re
import secrets
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from sqlalchemy import Connection, Table, and_, delete, insert, select, tuple_, update

from recollect.backends.sql import schema
from recollect.backends.sql.audits import erase_audit_of
from recollect.backends.sql.dialects import dialect_of
from recollect.backends.sql.erasers_find import FORGOTTEN_AGENT, Found, Part, find, names_in
from recollect.backends.sql.portable import listed, listed_numbers
from recollect.backends.sql.rows import rows_of, scope_key, to_json
from recollect.backends.sql.scope_locks import lock_scopes, locked_or_made
from recollect.domain.forgetting import FORGET, Target
from recollect.domain.unit import ARCHIVE

# Whoever did something in the name of a forgotten person.
_NOBODY: Final = "forgotten"
_PARTS: Final = re.compile(r"[/:|]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """What was hidden: in scopes that lost their names, and in scopes made for it."""

    renamed: tuple[int, ...]
    made: tuple[int, ...]
    counts: Counter[str] = field(hash=False)
    evidence_left: tuple[str, ...]
    found: Found = field(hash=False)

    @property
    def scopes(self) -> tuple[int, ...]:
        return (*self.renamed, *self.made)


def hide(connection: Connection, target: Target, forget_id: str, now: int) -> Begun:
    """Hide all of the target, and erase at once what does not lie in a scope of its own."""
    found = find(connection, target)
    if dialect_of(connection).is_server:
        # Others may write there at this moment; what they have written is found with the rest.
        lock_scopes(connection, (*found.whole, *found.parts, *found.related, *found.shared))
        found = find(connection, target)
    counts: Counter[str] = Counter()
    counts["audit"] += _erase_audit(connection, target, found, forget_id, now)
    counts["jobs"] += _drop_jobs(connection, target, found)
    counts["requests"] += _blank_requests(connection, found)
    if target.person is not None:
        counts["names"] += _blank_names(connection, target.person.name, found.shared)
    _keep_stone(connection, found, forget_id, now)
    made = tuple(_move(connection, scope_id, part) for scope_id, part in found.parts.items())
    _rename(connection, found.whole)
    return Begun(
        renamed=found.whole,
        made=made,
        counts=+counts,
        evidence_left=found.evidence_left,
        found=found,
    )


def _rename(connection: Connection, scopes: Sequence[int]) -> None:
    """Take the names of scopes away; their keys then belong to nobody."""
    table = schema.scopes
    for scope_id in scopes:
        nameless = {"agent": FORGOTTEN_AGENT, "user": secrets.token_hex(16)}
        connection.execute(update(table).where(table.c.id == scope_id).values(nameless))
    if scopes:
        dialect_of(connection).raise_generation(connection)


def _move(connection: Connection, scope_id: int, part: Part) -> int:
    """Move what goes of a scope into one made for it; the number of that."""
    places = schema.scopes.c
    (source,) = rows_of(connection, select(schema.scopes).where(places.id == scope_id))
    key = {"org": source["org"], "workspace": source["workspace"]}
    key |= {"agent": FORGOTTEN_AGENT, "user": secrets.token_hex(16)}
    made: int = locked_or_made(connection, key)["id"]
    for table, ids in (
        (schema.records, part.records),
        (schema.turns, part.turns),
        (schema.archives, part.archives),
        (schema.documents, part.documents),
        (schema.writes, part.writes),
        (schema.proposals, part.proposals),
    ):
        _move_rows(connection, table, "id", ids, made)
    _move_rows(connection, schema.versions, "record_id", part.records, made)
    _move_state(connection, scope_id, part, made)
    _list_changes(connection, scope_id, source["version"] + 1, part)
    return made


def _move_rows(
    connection: Connection, table: Table, column: str, ids: Collection[str], made: int
) -> None:
    if ids:
        theirs = table.c[column].in_(listed("ids"))
        given = {"ids": to_json(list(ids))}
        connection.execute(update(table).where(theirs).values(scope_id=made), given)


def _move_state(connection: Connection, scope_id: int, part: Part, made: int) -> None:
    """Move the states and watermarks of whole sessions, and the single states that go."""
    for table in (schema.state, schema.watermarks):
        of_sessions = and_(table.c.scope_id == scope_id, table.c.session.in_(sorted(part.sessions)))
        connection.execute(update(table).where(of_sessions).values(scope_id=made))
    table = schema.state
    place = tuple_(table.c.session, table.c.name)
    single = and_(table.c.scope_id == scope_id, place.in_(sorted(part.state)))
    connection.execute(update(table).where(single).values(scope_id=made))


def _list_changes(connection: Connection, scope_id: int, version: int, part: Part) -> None:
    """Say in the scope that stays what it has lost: whoever keeps answers of it asks again."""
    lost = [
        *(("record", it) for it in sorted(part.records)),
        *(("turn", it) for it in sorted(part.turns)),
        *((ARCHIVE, it) for it in sorted(part.archives)),
        *(("document", it) for it in sorted(part.documents)),
    ]
    rows = [
        {"scope_id": scope_id, "version": version, "seq": seq}
        | {"entity": entity, "id": ident, "op": "purge"}
        for seq, (entity, ident) in enumerate(lost)
    ]
    if rows:
        connection.execute(insert(schema.changes), rows)
        its = schema.scopes.c.id == scope_id
        connection.execute(update(schema.scopes).where(its).values(version=version))


def _erase_audit(
    connection: Connection, target: Target, found: Found, forget_id: str, now: int
) -> int:
    """Blank what the audit tells of it: all of whole scopes, elsewhere what names it."""
    erased = erase_audit_of(connection, found.whole, forget_id=forget_id, now=now)
    names = found.ids | {it for part in found.parts.values() for it in part.sessions}
    if names:
        erased += erase_audit_of(
            connection, found.related, naming=names, forget_id=forget_id, now=now
        )
    if target.person is not None:
        by_name = {target.person.name}
        erased += erase_audit_of(
            connection, found.shared, naming=by_name, forget_id=forget_id, now=now
        )
    return erased


def _drop_jobs(connection: Connection, target: Target, found: Found) -> int:
    """Delete jobs that are about it."""
    ids, together = found.ids, _named_together(target)
    table = schema.jobs
    wanted = select(table.c.id, table.c.key, table.c.payload).where(table.c.kind != FORGET)
    about: list[str] = []
    for row in rows_of(connection, wanted):
        named = _named(row["key"], row["payload"])
        if not ids.isdisjoint(named) or any(names <= named for names in together):
            about.append(row["id"])
    connection.execute(delete(table).where(table.c.id.in_(about)))
    return len(about)


def _named_together(target: Target) -> list[set[str]]:
    """Names of which a job that is about the target has all: the same user may be elsewhere too."""
    together = [set(filter(None, scope_key(scope).values())) for scope in target.scopes]
    for scope, session in target.sessions:
        together.append({session, *filter(None, scope_key(scope).values())})
    if (person := target.person) is not None:
        together.append({person.org, person.workspace, person.name})
    return together


def _named(key: str, payload: str) -> set[str]:
    """What a job names: the texts in its key and its payload, whole and in parts."""
    named: set[str] = set()
    for text in (key, *_texts(json.loads(payload))):
        named |= {text, *_PARTS.split(text), *names_in(text)}
    return named


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for inner in cast("dict[str, object]", value).values():
                yield from _texts(inner)
        case list():
            for inner in cast("list[object]", value):
                yield from _texts(inner)
        case _:
            pass


def _blank_requests(connection: Connection, found: Found) -> int:
    """Blank the results of requests that brought it.

    The key stays taken as long as it would have: the same request again must not bring it back.
    """
    table, ids = schema.idempotency, found.ids
    if not ids:
        return 0
    wanted = select(table).where(table.c.scope_id.in_(listed_numbers("ids")))
    about = [
        row
        for row in rows_of(connection, wanted, {"ids": to_json(list(found.related))})
        if not ids.isdisjoint(names_in(row["result"]))
    ]
    for row in about:
        its = [table.c[name] == row[name] for name in ("principal", "scope_id", "key")]
        connection.execute(update(table).where(*its).values(body_hash="", result="{}"))
    return len(about)


def _blank_names(connection: Connection, name: str, scopes: Sequence[int]) -> int:
    """Take a person's name off what everybody shares and stays."""
    blanked = 0
    for table, column in (
        (schema.records, "changed_by"),
        (schema.conflicts, "resolved_by"),
        (schema.proposals, "proposer"),
        (schema.proposals, "decided_by"),
    ):
        theirs = and_(table.c.scope_id.in_(scopes), table.c[column] == name)
        nameless: dict[str, Any] = {column: _NOBODY}
        blanked += connection.execute(update(table).where(theirs).values(nameless)).rowcount
    versions = schema.versions.c
    past = select(schema.versions).where(versions.scope_id.in_(scopes))
    for row in rows_of(connection, past):
        body = json.loads(row["body"])
        if body["changed_by"] == name:
            its = (versions.record_id == row["record_id"], versions.version == row["version"])
            nameless = {"body": to_json({**body, "changed_by": _NOBODY})}
            connection.execute(update(schema.versions).where(*its).values(nameless))
            blanked += 1
    return blanked


def _keep_stone(connection: Connection, found: Found, forget_id: str, now: int) -> None:
    """Keep that this was done, also when there was nothing: it is not to be done again."""
    places = select(schema.scopes.c.org, schema.scopes.c.workspace)
    affected = [*found.whole, *found.parts]
    row = connection.execute(places.where(schema.scopes.c.id.in_(affected)).limit(1)).one_or_none()
    org, workspace = ("", "") if row is None else (row.org, row.workspace)
    connection.execute(
        insert(schema.tombstones),
        {"id": forget_id, "kind": FORGET, "org": org, "workspace": workspace}
        | {"forgotten_at": now, "forget_id": forget_id},
    )
