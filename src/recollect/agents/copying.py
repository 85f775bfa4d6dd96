"""Copying the memory of one agent to another database, row by row, while it is in use.

Every pass makes the copy equal to the source: rows that are new there are added, rows that differ
are changed, rows that are gone are deleted. So the first pass copies, the next ones follow what was
written meanwhile, and one that finds no difference has verified the copy. The last pass runs in the
transaction that takes the agent away from the source, so that nothing is written between the two.

A copy that does not serve is in scopes without names, as is what is being forgotten. Numbers of
scopes, units and models differ between databases and are translated.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Select,
    Table,
    and_,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from recollect.backends.objects import ObjectBlobs
from recollect.backends.outbox import OutboxBlobs
from recollect.backends.sql import schema
from recollect.backends.sql.agent_marks import ARRIVING, AWAY, KEPT, LEAVING, read_marks, set_marks
from recollect.backends.sql.archives import find_blob, release_blob, take_blob
from recollect.backends.sql.audit_entries import note_copied
from recollect.backends.sql.database import Database
from recollect.backends.sql.dialects import dialect_of
from recollect.backends.sql.digests import Digests, merge_digests, record_digest, turn_digest
from recollect.backends.sql.forgotten import FORGOTTEN_AGENT
from recollect.backends.sql.full_text import UNIT_BITS
from recollect.backends.sql.job_rows import OPEN
from recollect.backends.sql.models import model_number, models_by_number
from recollect.backends.sql.portable import InsertOrIgnore
from recollect.backends.sql.rows import Row, past_row, rows_of, to_json
from recollect.backends.sql.scopes import lock_scopes
from recollect.domain.archive import Blob, new_blob_name
from recollect.domain.audit import ERASE, KEEP, MOVE_IN
from recollect.domain.embedding_jobs import MISSING_VECTORS
from recollect.domain.forgetting import FORGET
from recollect.domain.ids import new_id
from recollect.domain.job import Progress
from recollect.domain.scope import Scope
from recollect.errors import Conflict

_PAGE_ROWS: Final = 500
_COUNTER: Final = (1 << UNIT_BITS) - 1
_SCOPES: Final = schema.scopes.c
# Each after those that it refers to.
_TABLES: Final = (
    schema.editions,
    schema.records,
    schema.record_tags,
    schema.versions,
    schema.turns,
    schema.units,
    schema.vectors,
    schema.changes,
    schema.idempotency,
    schema.state,
    schema.archives,
    schema.items,
    schema.writes,
    schema.watermarks,
    schema.conflicts,
    schema.links,
)
# Their rows come and go, and do not change.
_UNCHANGING: Final = frozenset(
    {
        schema.record_tags,
        schema.versions,
        schema.turns,
        schema.units,
        schema.vectors,
        schema.changes,
    }
)
# What makes a scope one that holds something.
_CONTENTS: Final = (schema.records, schema.turns, schema.archives, schema.items)
# What of a scope is the same in the copy; the full text is made anew when it is needed.
_COUNTERS: Final = ("version", "next_unit", "unit_count", "unit_length", "first_unit")

T = TypeVar("T")
_Key = tuple[Any, ...]


def count_of(connection: Connection, agent: str) -> dict[str, int]:
    """Return how much a store holds of an agent, by kind; empty if nothing."""
    theirs = select(_SCOPES.id).where(_SCOPES.agent == agent)
    counts = {
        table.name: connection.scalar(
            select(func.count()).select_from(table).where(table.c.scope_id.in_(theirs))
        )
        for table in _CONTENTS
    }
    return {name: count for name, count in counts.items() if count}


def agents_in(connection: Connection) -> list[str]:
    """Return the agents of whom a store holds something."""
    named = select(_SCOPES.agent).where(_SCOPES.agent != "").distinct()
    return [it for it in connection.scalars(named) if not it.startswith("*")]


@dataclass(kw_only=True)
class AgentCopy:
    """A copy of an agent's memory in another database, as one move makes it."""

    agent: str
    move_id: str
    source: Database
    target: Database
    source_blobs: ObjectBlobs | OutboxBlobs
    target_blobs: ObjectBlobs | OutboxBlobs
    now: int
    progress: Progress | None = None
    rows: int = 0
    lost: set[str] = field(default_factory=set[str])

    def begin(self) -> None:
        """Let this move, and no other, write the copy and take the agent away.

        What an earlier attempt has copied is used.
        """
        self.source.write_here(self._begin_at_source)
        self.target.write_here(self._begin_at_target)

    def _begin_at_source(self, connection: Connection) -> None:
        if AWAY in read_marks(connection, self.agent):
            raise Conflict(
                f"The memory of {self.agent} is no longer in {self.source.name}",
                code="agent_moved",
                hint="It was moved meanwhile: recollect agents show shows where it is.",
            )
        erasing = select(schema.jobs.c.id).where(schema.jobs.c.kind == FORGET)
        if connection.scalar(erasing.where(schema.jobs.c.gave_up <= 1).limit(1)) is not None:
            raise Conflict(
                f"Something is being erased in {self.source.name}; nothing was moved",
                code="erasure_pending",
                hint="Try again when it has ended: recollect jobs list --kind forget",
            )
        set_marks(connection, self.agent, self.now, leaving=self.move_id)

    def _begin_at_target(self, connection: Connection) -> None:
        nothing: dict[str, Any] = {"scopes": {}, "audit": {}}
        arriving: dict[str, Any] = read_marks(connection, self.agent).get(ARRIVING) or nothing
        for number in arriving["scopes"].values():
            # A move that was killed in its last moment has named them already.
            _hide(connection, number)
        here = connection.scalars(select(_SCOPES.id).where(_SCOPES.agent == self.agent)).all()
        held = count_of(connection, self.agent)
        if held:
            told = ", ".join(f"{count:,} {name}" for name, count in held.items())
            raise Conflict(
                f"{self.target.name} holds memory of {self.agent} already ({told}); nothing was "
                "moved",
                code="target_not_empty",
                hint="Choose another store; `recollect export` and `import` add to what is there.",
            )
        for number in here:
            _hide(connection, number)
        dialect_of(connection).raise_generation(connection)
        mark = {**arriving, "move": self.move_id}
        set_marks(connection, self.agent, self.now, arriving=mark, away=None)

    def run(self, connection: Connection) -> int:
        """Do a pass over one snapshot of the source; return how many rows differed."""
        return self._pass(connection, is_last=False)

    def copy_once(self, connection: Connection) -> dict[str, int]:
        """Copy one snapshot of the source, which goes on serving; return the rows by table."""
        self.target.write_here(self._begin_at_target)
        while self.run(connection):
            pass
        self.write(lambda target: self._name_scopes(connection, target, ()))
        self.target.write_here(lambda it: set_marks(it, self.agent, self.now, arriving=None))
        numbers = connection.scalars(select(_SCOPES.id).where(_SCOPES.agent == self.agent)).all()
        return {
            table.name: sum(_count_in(connection, table, number) for number in numbers)
            for table in _TABLES
        }

    def take_over(self, connection: Connection, told: str) -> None:
        """Do the last pass and take the agent away from the source, in one transaction.

        Nobody can write to the agent's scopes meanwhile. When this is committed, the copy serves.
        """
        its = select(_SCOPES.id).where(_SCOPES.agent == self.agent)
        lock_scopes(connection, connection.scalars(its).all())
        if read_marks(connection, self.agent).get(LEAVING) != self.move_id:
            raise self._taken_over()
        while self._pass(connection, is_last=True):
            pass
        jobs = self._jobs(connection)
        self.write(lambda target: self._name_scopes(connection, target, jobs))
        connection.execute(
            delete(schema.jobs).where(schema.jobs.c.id.in_([job["id"] for job in jobs]))
        )
        set_marks(connection, self.agent, self.now, leaving=None, away=told)

    def _pass(self, connection: Connection, *, is_last: bool) -> int:
        scopes = rows_of(connection, select(schema.scopes).where(_SCOPES.agent == self.agent))
        total = 0 if is_last else sum(_count(connection, it["id"]) for it in scopes)
        done = changed = 0
        for scope in scopes:
            number = self.write(lambda target, scope=scope: self._scope_at(target, scope))
            owner = Scope(org=scope["org"], workspace=scope["workspace"])
            part = _ScopeCopy(self, connection, scope["id"], number, owner)
            changed += part.remove_missing()
            for table in _TABLES:
                for seen, differing in part.copy(table, is_quick=is_last and table in _UNCHANGING):
                    done, changed = done + seen, changed + differing
                    if self.progress is not None and total:
                        self.progress(min(done, total), total)
            part.copy_audit()
            self.write(lambda target, part=part, scope=scope: part.set_counters(target, scope))
        self._copy_forgettings(connection, scopes)
        if not is_last:
            self.rows = max(self.rows, total)
        return changed

    def write(self, work: Callable[[Connection], Any]) -> Any:
        """Write to the target, unless another move has taken over meanwhile."""

        def checked(connection: Connection) -> Any:
            arriving: dict[str, Any] | None = read_marks(connection, self.agent).get(ARRIVING)
            if arriving is None or arriving["move"] != self.move_id:
                raise self._taken_over()
            return work(connection)

        return self.target.write_here(checked)

    def _taken_over(self) -> Conflict:
        return Conflict(
            f"Another process is moving {self.agent}; this one has stopped",
            code="move_taken_over",
            hint="Wait until it has finished: recollect agents show reports its progress.",
        )

    def arrived(self, connection: Connection) -> dict[str, Any]:
        """Return what has come so far, as the target notes it."""
        return read_marks(connection, self.agent)[ARRIVING]

    def note_arrived(self, connection: Connection, arriving: Mapping[str, Any]) -> None:
        set_marks(connection, self.agent, self.now, arriving=arriving)

    def _scope_at(self, connection: Connection, scope: Row) -> int:
        """Return the number of a scope's copy, which is made when it is missing."""
        arriving = self.arrived(connection)
        known: int | None = arriving["scopes"].get(str(scope["id"]))
        if known is not None:
            return known
        key = {"org": scope["org"], "workspace": scope["workspace"]}
        row = {**key, **_nameless(), **dict.fromkeys(_COUNTERS, 0), "full_text_to": 0}
        (made,) = connection.execute(insert(schema.scopes), row).inserted_primary_key or (0,)
        arriving["scopes"][str(scope["id"])] = made
        self.note_arrived(connection, arriving)
        return made

    def _name_scopes(self, source: Connection, target: Connection, jobs: Sequence[Row]) -> None:
        """Give the copies the names of their scopes, and the jobs that wait for them."""
        scopes = self.arrived(target)["scopes"]
        for scope in rows_of(source, select(schema.scopes).where(_SCOPES.agent == self.agent)):
            names = {"agent": scope["agent"], "user": scope["user"]}
            its = _SCOPES.id == scopes[str(scope["id"])]
            target.execute(update(schema.scopes).where(its).values(names))
        dialect_of(target).raise_generation(target)
        missing = {
            "id": new_id("job"),
            "kind": MISSING_VECTORS.kind,
            "key": MISSING_VECTORS.key,
            "payload": "{}",
            "run_after": self.now,
            "lease_until": 0,
            "lease_owner": "",
            "attempts": 0,
            "gave_up": OPEN,
            "last_error": "",
        }
        for job in (*jobs, missing):
            target.execute(
                InsertOrIgnore(schema.jobs), [{**job, "lease_until": 0, "lease_owner": ""}]
            )

    def _jobs(self, connection: Connection) -> list[Row]:
        """Return the waiting jobs that are about the agent alone."""
        jobs = schema.jobs.c
        waiting = select(schema.jobs).where(jobs.gave_up == OPEN, jobs.payload.contains('"agent"'))
        rows = rows_of(connection, waiting)
        return [row for row in rows if json.loads(row["payload"]).get("agent") == self.agent]

    def _copy_forgettings(self, connection: Connection, scopes: Sequence[Row]) -> None:
        """Let the target know what was forgotten, so that no older copy brings it back."""
        stones = schema.tombstones.c
        places = {("", ""), *((scope["org"], scope["workspace"]) for scope in scopes)}
        here = or_(*(and_(stones.org == org, stones.workspace == it) for org, it in places))
        rows = rows_of(connection, select(schema.tombstones).where(here).order_by(stones.id))
        if not rows:
            return
        known = self.target.read_here(lambda it: set(it.scalars(select(stones.id))))
        for page in _pages(dict(row) for row in rows if row["id"] not in known):
            self.write(lambda it, page=page: it.execute(InsertOrIgnore(schema.tombstones), page))
        begun = {row["forget_id"] for row in rows}
        if missing := begun - self.target.ledger.ids():
            self.target.ledger.append(self.source.ledger.read(missing))


@dataclass
class _ScopeCopy:
    """The copy of one scope in one pass."""

    copy_of: AgentCopy
    source: Connection
    scope_id: int
    number: int
    owner: Scope
    models: dict[int, int] = field(default_factory=dict[int, int])

    def remove_missing(self) -> int:
        """Delete from the copy what the source no longer has; return how many rows."""
        gone = 0
        for table in reversed(_TABLES):
            key = list(table.primary_key)
            there = select(*key).where(_within(table, self.number))
            found = self.copy_of.target.read_here(
                lambda target, there=there: [tuple(it) for it in target.execute(there)]
            )
            if not found:
                continue
            rows = rows_of(self.source, self._of_source(table, *key))
            kept = {self._key(table, self._translated(table, row)) for row in rows}
            for keys in _pages(it for it in found if it not in kept):
                unused = self.copy_of.write(
                    lambda target, table=table, keys=keys: self._delete(target, table, keys)
                )
                self.copy_of.target_blobs.delete_here(unused)
                gone += len(keys)
        return gone

    def copy(self, table: Table, *, is_quick: bool) -> Iterator[tuple[int, int]]:
        """Add and change what differs, by page; yield how many rows were seen and differed.

        When it `is_quick`, rows that are on both sides are taken as equal.
        """
        key, by = list(table.primary_key), _paged_by(table)
        is_archives = table is schema.archives
        chosen = self._of_source(table, *(key if is_quick else table.c)).order_by(*key)
        for some in self.source.execute(chosen).mappings().partitions(_PAGE_ROWS):
            wanted = {
                self._key(table, row): row for row in (self._translated(table, it) for it in some)
            }
            there = select(*(key if is_quick else table.c)).where(
                _within(table, self.number), by.in_({row[by.name] for row in wanted.values()})
            )
            found = {
                self._key(table, row): dict(row)
                for row in self.copy_of.target.read_here(
                    lambda target, there=there: rows_of(target, there)
                )
            }
            new = [it for it in wanted if it not in found]
            added = (
                list(self._whole(table, new)) if is_quick and new else [wanted[it] for it in new]
            )
            changed = [
                (wanted[it], found[it]) for it in wanted if it in found and wanted[it] != found[it]
            ]
            if added or changed:
                brought = [self._bring(row["content_hash"]) for row in added if is_archives]
                unused = self.copy_of.write(
                    lambda target, added=added, changed=changed, brought=brought: self._put(
                        target, table, added, changed, brought
                    )
                )
                self.copy_of.target_blobs.delete_here(unused)
            yield len(wanted), len(added) + len(changed)

    def _whole(self, table: Table, keys: Sequence[_Key]) -> Iterator[dict[str, Any]]:
        """Yield the whole rows of the source with these keys of the copy."""
        wanted = set(keys)
        for some in (
            self.source.execute(self._of_source(table, *table.c)).mappings().partitions(_PAGE_ROWS)
        ):
            for row in some:
                translated = self._translated(table, row)
                if self._key(table, translated) in wanted:
                    yield translated

    def _of_source(self, table: Table, *columns: ColumnElement[Any]) -> Select[Any]:
        chosen = select(*columns).where(_within(table, self.scope_id))
        if table is schema.conflicts:
            # The other record may be somebody else's, who stays.
            of_agent = (
                select(schema.records.c.id)
                .join(schema.scopes, _SCOPES.id == schema.records.c.scope_id)
                .where(_SCOPES.agent == self.copy_of.agent)
            )
            chosen = chosen.where(table.c.first_id.in_(of_agent), table.c.second_id.in_(of_agent))
        return chosen

    def _key(self, table: Table, row: Mapping[str, Any]) -> _Key:
        return tuple(row[column.name] for column in table.primary_key)

    def _translated(self, table: Table, row: Mapping[Any, Any]) -> dict[str, Any]:
        """Return a row of the source with the numbers that the target has."""
        made: dict[str, Any] = dict(row)
        if "scope_id" in made:
            made["scope_id"] = self.number
        if table is schema.units:
            made["id"] = self._unit(made["id"])
        elif table is schema.vectors:
            made["unit_id"] = self._unit(made["unit_id"])
            made["model_id"] = self._model(made["model_id"])
        elif table is schema.changes and made.get("entity") == "unit":
            made["id"] = str(self._unit(int(made["id"])))
        elif table is schema.editions and "full_text_to" in made:
            made["full_text_to"] = 0
        return made

    def _unit(self, number: int) -> int:
        return self.number << UNIT_BITS | number & _COUNTER

    def _model(self, number: int) -> int:
        if number not in self.models:
            model = models_by_number(self.source, [number])[number]
            self.models[number] = self.copy_of.write(lambda target: model_number(target, model))
        return self.models[number]

    def _put(
        self,
        target: Connection,
        table: Table,
        added: Sequence[dict[str, Any]],
        changed: Sequence[tuple[dict[str, Any], dict[str, Any]]],
        brought: Sequence[Blob | None],
    ) -> list[str]:
        """Add and change rows; return the keys of contents that were brought in vain."""
        unused: list[str] = []
        for row, blob in zip(added, brought, strict=False):
            content, now = row["content_hash"], self.copy_of.now
            unused += take_blob(target, self.owner, content, blob, now)
        if added:
            target.execute(insert(table), list(added))
        if changed:
            key = [column.name for column in table.primary_key]
            its = [table.c[name] == bindparam(f"its_{name}") for name in key]
            values: dict[str, Any] = {
                it.name: bindparam(f"new_{it.name}") for it in table.c if it.name not in key
            }
            target.execute(
                update(table).where(*its).values(values),
                [
                    {f"{'its' if name in key else 'new'}_{name}": row[name] for name in row}
                    for row, _ in changed
                ],
            )
        digests = _digests(table, added)
        for row, before in changed:
            if (digest := _digests(table, [row])) != _digests(table, [before]):
                merge_digests(digests, digest)
        if digests:
            note_copied(target, self.number, self.copy_of.now, {"digests": digests})
        return unused

    def _delete(self, target: Connection, table: Table, keys: Sequence[_Key]) -> list[str]:
        """Delete rows; return the keys of contents that nobody needs any more."""
        unused: list[str] = []
        if table is schema.archives:
            ids = [ident for (ident,) in keys]
            gone = select(table.c.content_hash).where(table.c.id.in_(ids))
            for content in target.scalars(gone).all():
                unused += release_blob(target, self.owner, content)
        names = [column.name for column in table.primary_key]
        its = [table.c[name] == bindparam(f"its_{name}") for name in names]
        rows = [{f"its_{name}": it for name, it in zip(names, key, strict=True)} for key in keys]
        target.execute(delete(table).where(*its), rows)
        if table in (schema.records, schema.turns):
            note_copied(
                target, self.number, self.copy_of.now, {"purged": {it: 0 for (it,) in keys}}
            )
        return unused

    def _bring(self, content: str) -> Blob | None:
        """Copy a content that the target does not have; return where it lies there."""
        copy, owner = self.copy_of, self.owner
        if copy.target.read_here(lambda it: find_blob(it, owner, content)) is not None:
            return None
        blob = find_blob(self.source, owner, content)
        stored = None if blob is None else copy.source_blobs.get_here(blob.key)
        if blob is None or stored is None:
            copy.lost.add(content)
            return blob
        if hashlib.sha256(stored).hexdigest() != blob.stored_hash:
            copy.lost.add(content)
        # A key of its own: both stores may keep their contents in the same place.
        key = copy.target_blobs.new_key_here(new_blob_name(owner, content))
        copy.target_blobs.put_here(key, stored)
        return replace(blob, key=key)

    def copy_audit(self) -> None:
        """Copy what was done in the scope; the chain of the target seals it."""
        audit, copy = schema.audit.c, self.copy_of
        arriving = copy.target.read_here(copy.arrived)
        page = (
            select(schema.audit)
            .where(audit.scope_id == self.scope_id, audit.salt != "")
            .where(audit.action.not_in((ERASE, KEEP, MOVE_IN)))
            .order_by(audit.id)
            .limit(_PAGE_ROWS)
        )
        after: int = arriving["audit"].get(str(self.scope_id), 0)
        while rows := rows_of(self.source, page.where(audit.id > after)):
            after = rows[-1]["id"]
            copy.write(lambda target, rows=rows, after=after: self._add_audit(target, rows, after))

    def _add_audit(self, target: Connection, rows: Sequence[Row], after: int) -> None:
        made: list[dict[str, Any]] = [
            {
                **{name: row[name] for name in row if name != "id"},
                "scope_id": self.number,
                "payload": _without_digests(row["payload"]),
                "seq": None,
            }
            for row in rows
        ]
        target.execute(insert(schema.audit), made)
        arriving = self.copy_of.arrived(target)
        arriving["audit"][str(self.scope_id)] = after
        self.copy_of.note_arrived(target, arriving)

    def set_counters(self, target: Connection, scope: Row) -> None:
        """Set the version and the counters of the copy to those of the scope."""
        model = scope["model_id"]
        if model is not None and model not in self.models:
            (known,) = models_by_number(self.source, [model]).values()
            self.models[model] = model_number(target, known)
        values = {name: scope[name] for name in _COUNTERS}
        values["model_id"] = None if model is None else self.models[model]
        target.execute(update(schema.scopes).where(_SCOPES.id == self.number).values(values))


def copies_left(connection: Connection, agent: str, now: int) -> list[int]:
    """Return the scopes of copies that do not serve, which are then known no more."""
    put_away(connection, agent, now)
    marks = read_marks(connection, agent)
    arriving: dict[str, Any] = marks.get(ARRIVING) or {"scopes": {}}
    begun = select(_SCOPES.id).where(
        _SCOPES.id.in_(arriving["scopes"].values()), _SCOPES.agent == FORGOTTEN_AGENT
    )
    found = {*marks.get(KEPT, ()), *connection.scalars(begun)}
    set_marks(connection, agent, now, kept=None, arriving=None)
    return sorted(found)


def put_away(connection: Connection, agent: str, now: int) -> None:
    """Take the names of the scopes that an agent has left, so that nobody finds them any more."""
    marks = read_marks(connection, agent)
    if AWAY not in marks:
        return
    left = connection.scalars(select(_SCOPES.id).where(_SCOPES.agent == agent)).all()
    for number in left:
        _hide(connection, number)
    if left:
        dialect_of(connection).raise_generation(connection)
        kept = sorted({*marks.get(KEPT, ()), *left})
        set_marks(connection, agent, now, kept=kept)


def _hide(connection: Connection, number: int) -> None:
    connection.execute(update(schema.scopes).where(_SCOPES.id == number).values(_nameless()))


def _nameless() -> dict[str, str]:
    return {"agent": FORGOTTEN_AGENT, "user": secrets.token_hex(16)}


def _within(table: Table, scope_id: int) -> ColumnElement[bool]:
    """Return the condition that a row belongs to a scope."""
    if table is schema.record_tags:
        records = schema.records.c
        return table.c.record_id.in_(select(records.id).where(records.scope_id == scope_id))
    if table is schema.vectors:
        first = scope_id << UNIT_BITS
        return table.c.unit_id.between(first, first | _COUNTER)
    return table.c.scope_id == scope_id


def _paged_by(table: Table) -> Column[Any]:
    """Return the column by which the rows of a page are found in the other database."""
    if table is schema.idempotency:
        return table.c.key
    key = list(table.primary_key)
    return next((it for it in key if it.name != "scope_id"), key[0])


def _pages(rows: Iterable[T]) -> Iterator[list[T]]:
    page = list(rows)
    yield from (page[at : at + _PAGE_ROWS] for at in range(0, len(page), _PAGE_ROWS))


def _count(connection: Connection, scope_id: int) -> int:
    return sum(_count_in(connection, table, scope_id) for table in _TABLES)


def _count_in(connection: Connection, table: Table, scope_id: int) -> int:
    counted = select(func.count()).select_from(table).where(_within(table, scope_id))
    return connection.scalar(counted) or 0


def _digests(table: Table, rows: Iterable[Mapping[str, Any]]) -> Digests:
    """Return the digests by which the audit of the target proves these rows."""
    if table is schema.records:
        return {row["id"]: {str(row["version"]): record_digest(row)} for row in rows}
    if table is schema.turns:
        return {row["id"]: turn_digest(row) for row in rows}
    made: Digests = {}
    for row in rows if table is schema.versions else ():
        past = {**past_row(row["body"]), "scope_id": row["scope_id"]}
        merge_digests(made, {row["record_id"]: {str(row["version"]): record_digest(past)}})
    return made


def _without_digests(payload: str) -> str:
    """Return what an entry tells without what it proves in the source."""
    told = json.loads(payload)
    told.pop("digests", None)
    told.pop("purged", None)
    return to_json(told)
