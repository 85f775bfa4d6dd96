"""Erasing in a SQL database: begun in one transaction, gone on with in batches, then cleaned."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from sqlalchemy import Connection, Table, and_, delete, insert, or_, select, tuple_, update

from recollect.agents.copying import copies_left
from recollect.backends.sql import schema
from recollect.backends.sql.database import Database
from recollect.backends.sql.dialects import dialect_of
from recollect.backends.sql.forget_ledger import Entry
from recollect.backends.sql.forgotten import FORGOTTEN_AGENT, FORGOTTEN_USER, names_in
from recollect.backends.sql.index_generations import has_tokens
from recollect.backends.sql.journaled_database import JournaledDatabase
from recollect.backends.sql.portable import holds, listed, listed_numbers
from recollect.backends.sql.prepared_statement import PreparedStatement
from recollect.backends.sql.rows import rows_of, scope_key, to_json
from recollect.backends.sql.scopes import lock_or_make_scope, lock_scopes, scopes_by_id
from recollect.backends.sql.sqlite_database import SqliteDatabase
from recollect.domain.forgetting import FORGET, Person, Target
from recollect.domain.ids import new_id
from recollect.domain.item import texts_in
from recollect.domain.job import is_gone, new_holder
from recollect.domain.scope import Scope
from recollect.domain.times import to_micros
from recollect.domain.unit import ARCHIVE
from recollect.erasure import targets as erasure_targets
from recollect.erasure.audit_entries import Pseudonym, erase_audit_of, rename_in_audit
from recollect.erasure.erasers import Batch, count_all, erase_some
from recollect.erasure.files import overwrite, rewrite
from recollect.erasure.targets import Found, Part, find
from recollect.ports.erasure import Cleaning, Erased
from recollect.ports.runtime import Clock

# --------------------------------------------------------------------------------------------------
# The first transaction of a forgetting: what is to go is moved where nobody can ask for it.
# A scope that goes as a whole loses its names and keeps its number, which is never used again. Of a
# scope that stays, what goes is moved into a scope without names. From then on nothing of it can be
# seen, and the batches that erase it need to know nothing but the numbers of those scopes.

_PARTS: Final = re.compile(r"[/:|]")
# How somebody may have come in; `server.identity` names them.
_MEANS: Final = ("key", "cookie", "token")
_KEY_ACTIONS: Final = ("create_key", "revoke_key")


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenTarget:
    """The scopes that hide what is to be erased: some lost their names, others were made for it."""

    renamed: tuple[int, ...]
    made: tuple[int, ...]
    counts: Counter[str] = field(hash=False)
    evidence_left: tuple[str, ...]
    found: Found = field(hash=False)
    # The names that the scopes had of which something goes.
    names: Mapping[int, Scope] = field(hash=False)

    @property
    def scopes(self) -> tuple[int, ...]:
        return (*self.renamed, *self.made)


def hide(connection: Connection, target: Target, forget_id: str, now: int) -> HiddenTarget:
    """Hide all of the target, and erase at once what does not lie in a scope of its own."""
    found = find(connection, target)
    if dialect_of(connection).is_server:
        # Others may write there at this moment; what they have written is found with the rest.
        lock_scopes(connection, (*found.whole, *found.parts, *found.related, *found.shared))
        found = find(connection, target)
    names = scopes_by_id(connection, {*found.whole, *found.parts, *found.related, *found.shared})
    counts: Counter[str] = Counter()
    counts["audit"] += _erase_audit(connection, found, forget_id, now)
    pseudonym = None
    if target.person is not None:
        pseudonym = _pseudonymise_keys(connection, target.person, forget_id, now)
        counts["keys"] += len(pseudonym.keys)
        counts["names"] += _rename_actors(connection, pseudonym, found.shared)
        counts["audit"] += _rename_in_audit(
            connection, target.person, pseudonym, found, forget_id, now
        )
    counts["jobs"] += _drop_jobs(connection, target, found)
    counts["requests"] += _blank_requests(connection, found)
    _keep_stone(connection, found, forget_id, now)
    made = tuple(_move(connection, scope_id, part) for scope_id, part in found.parts.items())
    _rename(connection, found.whole, None if pseudonym is None else pseudonym.name)
    return HiddenTarget(
        renamed=found.whole,
        made=made,
        counts=+counts,
        evidence_left=found.evidence_left,
        found=found,
        names=names,
    )


def _rename(connection: Connection, scopes: Sequence[int], pseudonym: str | None) -> None:
    """Take the names of scopes away; their keys then belong to nobody."""
    table = schema.scopes
    for scope_id in scopes:
        nobody = secrets.token_hex(16) if pseudonym is None else f"{pseudonym}.{scope_id}"
        nameless = {"agent": FORGOTTEN_AGENT, "user": nobody}
        connection.execute(update(table).where(table.c.id == scope_id).values(nameless))
    if scopes:
        dialect_of(connection).raise_generation(connection)


def _move(connection: Connection, scope_id: int, part: Part) -> int:
    """Move what goes of a scope into one made for it; the number of that."""
    places = schema.scopes.c
    (source,) = rows_of(connection, select(schema.scopes).where(places.id == scope_id))
    key = {"org": source["org"], "workspace": source["workspace"]}
    key |= {"agent": FORGOTTEN_AGENT, "user": secrets.token_hex(16)}
    made: int = lock_or_make_scope(connection, key)["id"]
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
    """Log what a remaining scope has lost, so that caches of it are refreshed."""
    lost = [
        *(("record", record) for record in sorted(part.records)),
        *(("turn", turn) for turn in sorted(part.turns)),
        *((ARCHIVE, archive) for archive in sorted(part.archives)),
        *(("document", document) for document in sorted(part.documents)),
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


def _pseudonymise_keys(
    connection: Connection, person: Person, forget_id: str, now: int
) -> Pseudonym:
    """Revoke a person's keys and put a pseudonym in the place of the person in every key.

    One that others have too goes on for them. The pseudonym comes from the forgetting, so that a
    copy of the database to which it is applied again has the same.
    """
    table, revoked = schema.keys, dict[str, str]()
    pseudonym = f"{FORGOTTEN_USER}{forget_id.rpartition('_')[2].lower()}"
    here = f"{person.org}/{person.workspace}"
    # Names of other scripts are stored with escapes, or without where they were renamed once.
    written = {json.dumps(person.name)[1:-1], to_json(person.name)[1:-1]}
    has_person = or_(*(holds(table.c.users, name) for name in sorted(written)))
    for row in rows_of(connection, select(table).where(has_person)):
        users, workspaces = json.loads(row["users"]), json.loads(row["workspaces"])
        if person.name not in users or (workspaces and here not in workspaces):
            continue
        values: dict[str, Any] = {
            "users": to_json([pseudonym if user == person.name else user for user in users])
        }
        if users == [person.name]:
            revoked[row["id"]] = row["name"]
            values |= {"name": pseudonym, "revoked_at": row["revoked_at"] or now}
            signed_in = schema.sign_ins
            connection.execute(delete(signed_in).where(signed_in.c.key_id == row["id"]))
        connection.execute(update(table).where(table.c.id == row["id"]).values(values))
    actors = {person.name: pseudonym}
    for means in _MEANS:
        for name in (person.name, *revoked.values()):
            actors[f"{means}:{name}"] = f"{means}:{pseudonym}"
    return Pseudonym(name=pseudonym, user=person.name, actors=actors, keys=revoked)


def _scopes_around(connection: Connection, person: Person, found: Found) -> list[int]:
    """Return the other scopes in which entries may name a person."""
    scopes, audit = schema.scopes.c, schema.audit.c
    beside = select(scopes.id).where(scopes.org == person.org, scopes.workspace == person.workspace)
    about_keys = select(audit.scope_id).where(audit.action.in_(_KEY_ACTIONS)).distinct()
    around = {*connection.scalars(beside), *connection.scalars(about_keys)}
    return sorted(around - {*found.whole, *found.shared})


def _rename_in_audit(
    connection: Connection,
    person: Person,
    pseudonym: Pseudonym,
    found: Found,
    forget_id: str,
    now: int,
) -> int:
    """Put the pseudonym of a person into the audit entries of scopes that stay."""
    around = _scopes_around(connection, person, found)
    return sum(
        rename_in_audit(
            connection, scopes, pseudonym, only_people=only_people, forget_id=forget_id, now=now
        )
        for scopes, only_people in ((found.shared, False), (around, True))
    )


def _erase_audit(connection: Connection, found: Found, forget_id: str, now: int) -> int:
    """Blank audit entries: all of whole scopes, elsewhere those that name what goes."""
    erased = erase_audit_of(connection, found.whole, forget_id=forget_id, now=now)
    names = found.ids | {it for part in found.parts.values() for it in part.sessions}
    if names:
        erased += erase_audit_of(
            connection, found.related, naming=names, forget_id=forget_id, now=now
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
    """Return what a job names: the texts in its key and its payload, whole and in parts."""
    named: set[str] = set()
    for text in (key, *texts_in(json.loads(payload))):
        named |= {text, *_PARTS.split(text), *names_in(text)}
    return named


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


def _rename_actors(connection: Connection, pseudonym: Pseudonym, scopes: Sequence[int]) -> int:
    """Put a pseudonym in the place of a person in what everybody shares and stays."""
    renamed = 0
    for table, column in (
        (schema.records, "changed_by"),
        (schema.conflicts, "resolved_by"),
        (schema.proposals, "proposer"),
        (schema.proposals, "decided_by"),
    ):
        for actor, name in pseudonym.actors.items():
            theirs = and_(table.c.scope_id.in_(scopes), table.c[column] == actor)
            values: dict[str, Any] = {column: name}
            renamed += connection.execute(update(table).where(theirs).values(values)).rowcount
    versions = schema.versions.c
    past = select(schema.versions).where(versions.scope_id.in_(scopes))
    for row in rows_of(connection, past):
        body = json.loads(row["body"])
        if (name := pseudonym.actors.get(body["changed_by"])) is not None:
            its = (versions.record_id == row["record_id"], versions.version == row["version"])
            values = {"body": to_json({**body, "changed_by": name})}
            connection.execute(update(schema.versions).where(*its).values(values))
            renamed += 1
    return renamed


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


# --------------------------------------------------------------------------------------------------
# Erasing in a SQL database: begun in one transaction, gone on with in batches, then cleaned.

# So long nobody else goes on with a forgetting that was interrupted; every batch renews it.
_LEASE: Final = timedelta(seconds=3)
# A file up to this size is rewritten at once: 64 MB take 1.3 s, in which others cannot write.
_MAX_BYTES_AT_ONCE: Final = 64 << 20
# Cleaning renews nothing; so many bytes are cleaned in a second even on a busy machine.
_CLEANED_PER_SECOND: Final = 8 << 20
# So long is waited for whoever reads from the log.
_PAUSE: Final = timedelta(seconds=1)
_JOBS: Final = schema.jobs.c
_UNFINISHED: Final = PreparedStatement(
    select(_JOBS.id, _JOBS.lease_owner, _JOBS.lease_until).where(
        _JOBS.kind == FORGET, _JOBS.gave_up <= 1
    )
)


class _Foreseen(Exception):
    """Carries what was found out of a transaction that is taken back."""

    def __init__(self, erased: Erased) -> None:
        super().__init__()
        self.erased = erased


class SqlErasure:
    """Erases from a SQL database, with the ledger beside it.

    `in_place` overwrites remains inside the live file instead of rewriting it.
    """

    def __init__(self, database: Database, clock: Clock, *, in_place: bool = False) -> None:
        self._in_place = in_place
        self._database = database
        self._clock = clock
        self._write = partial(database.write, is_removal=True)

    async def foresee(self, target: Target) -> Erased:
        """Return what would be erased, without changing anything."""
        now = to_micros(self._clock.now())

        def look(connection: Connection) -> None:
            begun = hide(connection, target, "", now)
            # Done and taken back: what would go can only be what goes.
            raise _Foreseen(_all_of(connection, begun))

        try:
            await self._write(look)
        except _Foreseen as seen:
            return seen.erased
        raise AssertionError("a dry run ends with what it has seen")

    async def begin(self, target: Target, forget_id: str) -> Erased:
        """Hide all of it durably; return the counts."""
        return await self._begin(target, forget_id, _LEASE)

    async def _begin(self, target: Target, forget_id: str, lease: timedelta) -> Erased:
        now = self._clock.now()

        def start(connection: Connection) -> Erased:
            begun = hide(connection, target, forget_id, to_micros(now))
            entry = erasure_targets.entry_of(target, begun.found, forget_id)
            scopes = {"renamed": begun.renamed, "made": begun.made}
            scopes["staying"] = tuple(sorted({*begun.names} - {*begun.renamed}))
            touched = (*begun.found.whole, *begun.found.parts, *begun.found.shared)
            payload = {**scopes, "entry": entry.as_json()}
            _add_job(connection, forget_id, payload, touched, now, lease)
            return _all_of(connection, begun)

        return await self._write(start)

    async def begin_purge(self, agent: str, forget_id: str) -> Erased:
        """Begin to erase the copies of an agent's memory that do not serve; nothing is forgotten.

        What is in the store that serves stays, and may come here again.
        """
        now = self._clock.now()

        def start(connection: Connection) -> Erased:
            micros = to_micros(now)
            scopes = copies_left(connection, agent, micros)
            erase_audit_of(connection, scopes, forget_id=forget_id, now=micros)
            payload = {"renamed": scopes, "made": (), "entry": None}
            _add_job(connection, forget_id, payload, scopes, now, _LEASE)
            return Erased(counts=count_all(connection, scopes))

        return await self._write(start)

    async def advance(self, forget_id: str) -> Erased | None:
        """Erase the next batch; return None if nothing is left. Others can write between calls."""
        payload = await self._payload(forget_id)
        if payload is None:
            return None
        if payload["blobs"]:
            # Given out before, and perhaps not deleted before a crash.
            return Erased(counts={}, blobs=tuple(payload["blobs"]))
        # Durable before anything is erased, so that no older copy can bring it back.
        is_forgotten = payload["entry"] is not None
        if is_forgotten:
            entry = Entry.from_json(payload["entry"])
            await asyncio.to_thread(self._database.ledger.append, [entry])
        now = self._clock.now()

        def step(connection: Connection) -> Erased | None:
            scopes = [*payload["renamed"], *payload["made"]]
            batch = Batch(connection, scopes, forget_id, to_micros(now), is_forgotten)
            went_on = bool(scopes) and erase_some(batch)
            noted = to_json({**payload, "blobs": batch.blobs})
            self._keep(connection, forget_id, payload=noted)
            return Erased(counts=batch.counts, blobs=tuple(batch.blobs)) if went_on else None

        return await self._write(step)

    async def dropped(self, forget_id: str) -> None:
        """Confirm that the blobs returned so far were deleted."""
        await self._note(forget_id, lambda payload: {"blobs": []})

    async def put_off(self, forget_id: str) -> None:
        """Leave the blobs returned so far for the end: they cannot be deleted now."""
        await self._note(
            forget_id,
            lambda payload: {"blobs": [], "left": [*payload.get("left", ()), *payload["blobs"]]},
        )

    async def left(self, forget_id: str) -> list[str]:
        """Return the blobs that could not be deleted."""
        payload = await self._payload(forget_id)
        return [] if payload is None else payload.get("left", [])

    async def dropped_left(self, forget_id: str) -> None:
        """Confirm that these were deleted."""
        await self._note(forget_id, lambda payload: {"left": []})

    async def touched(self, forget_id: str) -> dict[int, Scope | None]:
        """Return the scopes of which something goes; those that lost their names have none."""
        payload = await self._payload(forget_id)
        if payload is None or payload["entry"] is None:
            return {}
        staying: list[int] = payload.get("staying", [])
        named = await self._database.read(lambda it: scopes_by_id(it, staying))
        return {**dict.fromkeys(payload["renamed"]), **named}

    async def copies_erased(self, forget_id: str, name: str) -> None:
        """Confirm that a derived store has nothing of it any more."""
        await self._note(forget_id, lambda payload: {"done": [*payload.get("done", ()), name]})

    async def erased_in(self, forget_id: str) -> list[str]:
        """Return the derived stores that have nothing of it any more."""
        payload = await self._payload(forget_id)
        return [] if payload is None else payload.get("done", [])

    async def _note(
        self, forget_id: str, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    ) -> None:
        payload = await self._payload(forget_id)
        if payload is not None:
            noted = to_json({**payload, **change(payload)})
            written = update(schema.jobs).where(_its(forget_id)).values(payload=noted)
            await self._write(lambda connection: connection.execute(written))

    async def clean(self, forget_id: str, *, even_large: bool) -> Cleaning:
        """Remove what remains in the files.

        Without `even_large`, a file so large that others would have to wait is left to the job.
        """
        payload = await self._payload(forget_id)
        if payload is None:
            # Somebody else has finished it.
            return "done"
        is_first = True
        # Merging takes the longer the more others have in the full text; small scopes have nothing.
        while payload.get("has_tokens", True) and await self._write(
            partial(self._merge, forget_id, is_first)
        ):
            is_first = False
        if not isinstance(self._database, SqliteDatabase):
            # A server's files and backups are out of reach; its rows are gone.
            return "done"
        size = await asyncio.to_thread(lambda: self._database.path.stat().st_size)
        if not (self._in_place or even_large or size <= _MAX_BYTES_AT_ONCE):
            return "waits"
        lease = _LEASE + timedelta(seconds=size / _CLEANED_PER_SECOND)
        await self._write(lambda connection: self._keep(connection, forget_id, lease))
        clean = overwrite if self._in_place else rewrite
        return await asyncio.to_thread(clean, self._database.path)

    def _merge(self, forget_id: str, is_first: bool, connection: Connection) -> bool:
        """Write a part of the full text anew; return whether there is more to do.

        Taking a unit out only adds that it is gone. Its terms go when all is merged, in steps.
        """
        self._keep(connection, forget_id)
        return dialect_of(connection).merge_tokens(connection, is_first=is_first)

    def _keep(
        self, connection: Connection, forget_id: str, lease: timedelta = _LEASE, **values: str
    ) -> None:
        """Keep others from going on with it while somebody does."""
        until = to_micros(self._clock.now() + lease)
        kept = update(schema.jobs).where(_its(forget_id)).values(lease_until=until, **values)
        connection.execute(kept)

    async def finish(self, forget_id: str) -> None:
        """Mark the erasure as finished."""
        payload = await self._payload(forget_id)

        def end(connection: Connection) -> None:
            if payload is not None:
                _tidy(connection, payload["renamed"], payload["made"])
            connection.execute(delete(schema.jobs).where(_its(forget_id)))
            if isinstance(self._database, JournaledDatabase):
                # Its earlier lines say what was forgotten.
                self._database.compacts_next = True

        await self._write(end)

    async def postpone(self, forget_id: str) -> None:
        """Leave the rest to the job."""
        free = {"lease_until": 0, "lease_owner": "", "attempts": 0, "gave_up": 0}
        free |= {"run_after": to_micros(self._clock.now() + _PAUSE)}
        freed = update(schema.jobs).where(_its(forget_id)).values(free)
        await self._write(lambda connection: connection.execute(freed))

    async def reapply(self) -> list[str]:
        """Begin again what was forgotten after the copy was made that this database comes from."""
        noted = await asyncio.to_thread(self._database.ledger.ids)
        if not noted:
            return []
        new = await self._database.read(lambda it: erasure_targets.not_applied(it, noted))
        entries = await asyncio.to_thread(self._database.ledger.read, new) if new else []
        begun = await self._database.read(lambda it: list(erasure_targets.targets(it, entries)))
        for forget_id, target in begun:
            # Whoever works on jobs may go on with it at once.
            await self._begin(target, forget_id, timedelta())
        return [forget_id for forget_id, _ in begun]

    async def rouse(self) -> None:
        """Make interrupted forgettings due now, unless somebody alive works on them."""
        rows = await self._database.read(lambda it: _UNFINISHED.rows(it, {}), is_quick=True)
        now = to_micros(self._clock.now())
        idle = [
            row["id"] for row in rows if row["lease_until"] <= now or is_gone(row["lease_owner"])
        ]
        if idle:
            due = {"lease_until": 0, "lease_owner": "", "gave_up": 0, "attempts": 0}
            due["run_after"] = now
            again = update(schema.jobs).where(_JOBS.id.in_(idle)).values(due)
            await self._write(lambda connection: connection.execute(again))

    async def _payload(self, forget_id: str) -> Mapping[str, Any] | None:
        wanted = select(_JOBS.payload).where(_its(forget_id))
        stored = await self._database.read(lambda connection: connection.scalar(wanted))
        return None if stored is None else json.loads(stored)


def _add_job(
    connection: Connection,
    forget_id: str,
    payload: Mapping[str, Any],
    touched: Sequence[int],
    now: datetime,
    lease: timedelta,
) -> None:
    """Add the job that goes on with an erasure if whoever began it does not."""
    in_full_text = any(has_tokens(connection, scope_id) for scope_id in touched)
    stored = to_json({**payload, "blobs": (), "has_tokens": in_full_text})
    row = {"id": new_id("job"), "kind": FORGET, "key": forget_id, "payload": stored}
    row |= {"run_after": to_micros(now), "lease_until": to_micros(now + lease)}
    row |= {"lease_owner": new_holder(), "attempts": 0, "gave_up": 0, "last_error": ""}
    connection.execute(insert(schema.jobs), row)


def _all_of(connection: Connection, begun: HiddenTarget) -> Erased:
    """Return the counts of what is erased at once and what is erased in batches."""
    counts = begun.counts + count_all(connection, begun.scopes)
    return Erased(counts=counts, evidence_left=begun.evidence_left, scopes=begun.names)


def _tidy(connection: Connection, renamed: Sequence[int], made: Sequence[int]) -> None:
    """Leave of scopes that lost their names the numbers, and nothing of those made for this."""
    scopes, changes, audit = schema.scopes, schema.changes.c, schema.audit.c
    emptied = {"unit_count": 0, "unit_length": 0}
    connection.execute(update(scopes).where(scopes.c.id.in_(renamed)).values(emptied))
    beside = schema.editions
    connection.execute(delete(beside).where(beside.c.scope_id.in_(renamed)))
    connection.execute(delete(schema.changes).where(changes.scope_id.in_(made)))
    told_of = select(audit.scope_id).where(audit.scope_id.in_(made))
    connection.execute(delete(scopes).where(scopes.c.id.in_(made), scopes.c.id.not_in(told_of)))


def _its(forget_id: str) -> Any:
    return (_JOBS.kind == FORGET) & (_JOBS.key == forget_id)
