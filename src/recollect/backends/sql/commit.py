"""Writing one change set inside a transaction that somebody else begins and commits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from struct import pack
from typing import Any, Final

from sqlalchemy import Connection, Table, delete, insert, or_, select, update

from recollect.backends.sql import audit_entries, schema, statements
from recollect.backends.sql import index_generations as generations
from recollect.backends.sql.agent_marks import require_here
from recollect.backends.sql.archives import add_archive, remove_archive
from recollect.backends.sql.database import LeftToWriter, Outdated, left_behind
from recollect.backends.sql.dialects.base import KEY_BYTES
from recollect.backends.sql.digests import Digests, record_digest, turn_digest
from recollect.backends.sql.document_rows import put_document, remove_document
from recollect.backends.sql.full_text import UNIT_BITS, catch_up, space_of, take_out
from recollect.backends.sql.job_rows import insert_jobs
from recollect.backends.sql.kept_results import find_results, keep_results
from recollect.backends.sql.models import model_number
from recollect.backends.sql.rows import (
    Row,
    conflict_row,
    details_json,
    link_row,
    procedure_from,
    proposal_row,
    record_row,
    scope_key,
    to_json,
    turn_row,
)
from recollect.backends.sql.scopes import close_as_left, lock_or_make_scope, lock_scope
from recollect.domain.change import Access, ChangeSet, Committed, Feedback, RecordChange
from recollect.domain.embedding_jobs import MISSING_VECTORS
from recollect.domain.job import NewJob
from recollect.domain.record import Record, Status
from recollect.domain.relation import Conflict as RecordConflict
from recollect.domain.relation import Link
from recollect.domain.scope import Scope
from recollect.domain.sharing import Proposal, already_decided
from recollect.domain.times import EPOCH, from_micros, to_micros
from recollect.domain.unit import ARCHIVE, OwnerUnits
from recollect.domain.write import Step, Trace, Watermark
from recollect.errors import Conflict, NotFound, StaleVersion

# --- A scope that a transaction writes to, and the units that it gets -----------------------------

# The part of a unit's number that its scope's counter gave.
COUNTER: Final = (1 << UNIT_BITS) - 1
# A scope with fewer terms is not in the full text: a search reads all of them until it is packed.
# That takes some 50 ms for 10,000 records, less than adding them would take on every writer.
_LARGE_SCOPE_TERMS: Final = 1_000_000
# Fewer units than this are read one by one rather than added to the full text.
_BEHIND: Final = 1_024


@dataclass(slots=True)
class OpenScope:
    """A scope that this transaction writes to: its row is locked, `version` is its next one."""

    id: int
    version: int
    next_unit: int
    # How many terms its units had together when it was opened.
    length: int
    # The number of the model whose vectors answer here.
    model: int | None
    # Up to this counter the units are in the full text.
    full_text_to: int
    # From this counter on they answer.
    first_unit: int
    added_units: int = 0
    added_length: int = 0
    # The state that an earlier transaction left, if it was not read: it may not be so any more.
    left: Row | None = None
    changes: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    # Of what is stored in it, for the audit.
    digests: Digests = field(default_factory=dict[str, Any])

    def answers_with(self, unit: int) -> bool:
        """Return whether a unit of this scope is one of those that answer."""
        return self.first_unit <= unit & COUNTER < self.next_unit

    def counters(self) -> dict[str, int | None]:
        """Return the counters to store in the row of the scope."""
        return {
            "new_id": self.id,
            "new_version": self.version,
            "new_next_unit": self.next_unit,
            "new_units": self.added_units,
            "new_length": self.added_length,
            "new_model": self.model,
            "new_full_text_to": self.full_text_to,
        }

    def state(self) -> Row:
        """Return its row as it is when these counters are stored."""
        return {
            "id": self.id,
            "version": self.version,
            "next_unit": self.next_unit,
            "unit_length": self.length + self.added_length,
            "model_id": self.model,
            "full_text_to": self.full_text_to,
            "first_unit": self.first_unit,
        }

    def bring_full_text_up(self, connection: Connection) -> None:
        """Add what came since to the full text, when that is worth it."""
        is_large = self.length + self.added_length >= _LARGE_SCOPE_TERMS
        if is_large and self.next_unit - 1 - self.full_text_to >= _BEHIND:
            if left_behind(connection).is_at_once:
                raise LeftToWriter
            base = self.id << UNIT_BITS
            space = space_of(self.id, self.first_unit)
            catch_up(connection, space, base | self.full_text_to + 1, base | self.next_unit - 1)
            self.full_text_to = self.next_unit - 1


def unit_rows(scope: OpenScope, owner: OwnerUnits, place: int | None) -> Iterator[dict[str, Any]]:
    """Yield the rows of an owner's units, numbered by the scope's counter.

    An owner's units have numbers in a row. `place` is that of a turn written in this transaction.
    """
    for unit in owner.units:
        number = scope.id << UNIT_BITS | scope.next_unit
        scope.next_unit += 1
        scope.added_units += 1
        scope.added_length += len(unit.terms)
        scope.changes.append(("unit", str(number), "add"))
        yield {
            "id": number,
            "scope_id": scope.id,
            "owner_kind": owner.owner_kind,
            "owner_id": owner.owner_id,
            "ordinal": unit.ordinal,
            "start": unit.start,
            "end": unit.end,
            "terms": pack(f"<{len(unit.terms)}Q", *unit.terms),
            "analyzer": owner.analyzer,
            "observed_at": to_micros(owner.observed_at),
            "cluster": owner.setting.cluster,
            "place": owner.setting.place if place is None else place,
            "speaker": owner.setting.speaker,
            "traits": owner.setting.traits,
            "size": owner.setting.size,
            "variety": owner.setting.variety,
        }


def units_of(
    connection: Connection, scope: Scope, wanted: Iterable[int]
) -> Sequence[tuple[int, str]]:
    """Return those of these units that the scope still has, and their owners.

    A scope that was forgotten has none.
    """
    row = lock_scope(connection, scope_key(scope))
    if row is None:
        return []
    given = {"units": to_json(list(wanted)), "scope": row["id"]}
    return [(unit, owner) for unit, owner in statements.OWNERS_OF_UNITS.rows(connection, given)]


# --------------------------------------------------------------------------------------------------
# Writing what belongs to records: conflicts, links, proposals, traces of writes and watermarks.


def require_records(
    connection: Connection, scope: Scope, scope_id: int, expected: int, found: int
) -> None:
    """Refuse to write on the ground of records that somebody else has changed since.

    Turns and vectors that came meanwhile were not judged; what was forgotten may have been.
    """
    if found == expected:
        return
    between = {"scope": scope_id, "expected": expected, "found": found}
    ((listed, judged),) = statements.CHANGES_SINCE.rows(connection, between)
    # A list that is no longer whole may have told of some.
    if judged or listed != found - expected:
        raise StaleVersion(
            f"{scope.key} was changed meanwhile", hint="Read it again and repeat the change."
        )


def put_conflict(connection: Connection, conflict: RecordConflict, scope_id: int) -> None:
    """Keep the newest state of a conflict."""
    _put(connection, schema.conflicts, conflict_row(conflict, scope_id))


def put_link(connection: Connection, link: Link, scope_id: int) -> None:
    """Keep the latest verdict on two records or turns."""
    _put(connection, schema.links, link_row(link, scope_id))


def remove_link(connection: Connection, link: Link) -> None:
    table = schema.links.c
    its = (table.newer == link.newer, table.older == link.older)
    connection.execute(delete(schema.links).where(*its))


def remove_links_of(connection: Connection, owner: str) -> None:
    """Remove every link of a record or turn that is gone."""
    table = schema.links.c
    connection.execute(delete(schema.links).where(or_(table.newer == owner, table.older == owner)))


def put_proposal(connection: Connection, proposal: Proposal, scope_id: int) -> None:
    """Keep a new proposal, or what became of one that waits; it is decided once until reopened."""
    status = select(schema.proposals.c.status).where(schema.proposals.c.id == proposal.id)
    stored = connection.scalar(status)
    if proposal.is_reopened and stored not in (None, "approved", "rejected"):
        raise StaleVersion(
            f"{proposal.id} is {stored} by now", hint="Look at it again before you reopen it."
        )
    if not proposal.is_reopened and stored not in (None, "pending"):
        raise already_decided(proposal.id)
    _put(connection, schema.proposals, proposal_row(proposal, scope_id))


def add_traces(connection: Connection, traces: Iterable[tuple[Trace, int]]) -> None:
    """Keep how things were written, each with the number of its scope."""
    rows = [
        {
            "id": trace.id,
            "scope_id": scope_id,
            "session": trace.session,
            "created_at": to_micros(trace.created_at),
            "steps": to_json([_step(step) for step in trace.steps]),
        }
        for trace, scope_id in traces
    ]
    if rows:
        statements.INSERT_TRACES.run(connection, rows)


def _step(step: Step) -> dict[str, Any]:
    timed = {} if step.ms is None else {"ms": step.ms}
    return {"name": step.name, "result": step.result, **timed}


def raise_watermark(connection: Connection, mark: Watermark, scope_id: int, now: int) -> None:
    """Move the watermark of a session, unless another process has read the same turns.

    Turns that were forgotten meanwhile were read in vain: nothing made of them may be kept.
    """
    place = {"scope": scope_id, "place": mark.session}
    if not statements.READ_TURN.rows(connection, {**place, "last": mark.ordinal}):
        raise StaleVersion(
            f"The turns of session {mark.session} up to {mark.ordinal} were forgotten meanwhile",
            hint="There is nothing to read any more.",
        )
    known = statements.WATERMARK.rows(connection, place)
    if (known[0][0] if known else 0) != mark.before:
        raise StaleVersion(
            f"The turns of session {mark.session} after {mark.before} were read by somebody else",
            hint="Read on from where they stopped.",
        )
    row = {"scope_id": scope_id, "session": mark.session}
    row |= {"ordinal": mark.ordinal, "updated_at": now}
    if known:
        statements.RAISE_WATERMARK.run(connection, [statements.prefixed(row)])
    else:
        statements.INSERT_WATERMARK.run(connection, [row])


def _put(connection: Connection, table: Table, row: Mapping[str, Any]) -> None:
    """Change the row with this key, or insert it when there is none."""
    key = {column.name for column in table.primary_key}
    here = [table.c[name] == row[name] for name in key]
    others = {name: value for name, value in row.items() if name not in key}
    if not connection.execute(update(table).where(*here).values(others)).rowcount:
        connection.execute(insert(table).values(**row))


# --- Writing how records are used, beside what they say: no version is made of it -----------------


def add_feedback(connection: Connection, current: Row, feedback: Feedback) -> None:
    """Count a use or a rejection of the record whose row this is."""
    table = schema.records
    counter = table.c.helped if feedback.helped else table.c.rejected
    values: dict[str, Any] = {counter.name: counter + 1}
    procedure = procedure_from(current)
    if procedure is not None and feedback.was_used:
        values["details"] = details_json(procedure.after_use(success=feedback.helped))
    connection.execute(update(table).where(table.c.id == current["id"]).values(values))


def count_accesses(connection: Connection, accesses: Sequence[Access]) -> None:
    """Add to the counters of records; one that is gone needs none."""
    rows = [
        {"new_id": access.record_id, "new_count": access.count, "new_at": to_micros(access.at)}
        for access in accesses
    ]
    if rows:
        statements.COUNT_ACCESSES.run(connection, rows)


def next_row(row: dict[str, Any], before: Row) -> dict[str, Any]:
    """Return the row of a record's next version, with the uses that the version before has by now.

    Whoever edits a record has read it some time ago; what was counted since must not be lost.
    """
    written = {name: row[name] for name in ("id", *statements.CHANGING)}
    procedure, used = procedure_from(row), procedure_from(before)
    if procedure is not None and used is not None and _feedback(row) != _feedback(before):
        written["details"] = details_json(procedure.with_uses_of(used))
    return written


def _feedback(row: Row) -> tuple[int, int]:
    return row["helped"], row["rejected"]


# --- Writing one change set inside a transaction that somebody else begins and commits ------------

_KEY_BYTES: Final = 8


def write(connection: Connection, changes: ChangeSet, now: datetime) -> Committed:
    """Write the whole change set, or raise; the caller rolls back and nothing has changed."""
    commit = Commit(connection, changes, now)
    if (replayed := commit.replayed()) is not None:
        return replayed
    commit.write_turns()
    commit.retract_turns()
    commit.write_records()
    commit.purge()
    commit.write_uses()
    commit.write_archives()
    commit.write_documents()
    commit.write_units()
    commit.write_vectors()
    commit.write_keeping()
    commit.write_audit()
    commit.write_idempotency()
    committed = commit.close()
    insert_jobs(connection, commit.jobs, now, committed.turn_ordinals)
    return committed


class Commit:
    """One change set on its way into the tables."""

    def __init__(self, connection: Connection, changes: ChangeSet, now: datetime) -> None:
        self._connection = connection
        self._changes = changes
        self._now = max(now, self._earliest())
        self._micros = to_micros(self._now)
        self._open: dict[Scope, OpenScope] = {}
        self._ordinals: tuple[int, ...] = ()
        self._unused_blobs: tuple[str, ...] = ()
        self._lacks_vectors = False
        self._without_vectors: dict[str, int] = {}
        # The last one that was asked for: most change sets write to one.
        self._last: tuple[Scope, OpenScope] | None = None

    def _earliest(self) -> datetime:
        """Return a time after the version that is replaced, even if the clock was set back."""
        old = [change.record.id for change in self._changes.records if change.record.version > 1]
        if not old:
            return EPOCH
        ((newest,),) = statements.LAST_RECORDED.rows(self._connection, {"ids": to_json(old)})
        return from_micros((newest or 0) + 1)

    def replayed(self) -> Committed | None:
        """Return the stored result when an idempotency key was used before with the same body.

        Nothing is written then, also of requests that are written together with that one.
        """
        wanted = self._changes.idempotency
        if not wanted:
            return None
        # Made when missing: of two equal requests at once, one waits here for the other.
        found = lock_or_make_scope(self._connection, scope_key(self._changes.scope))
        principal = self._changes.principal
        before = find_results(self._connection, wanted, principal, found["id"], self._now)
        return next(iter(before), None)

    def write_turns(self) -> None:
        """Append turns to their sessions, numbering them in the order given."""
        if not self._changes.turns:
            return
        next_ordinal: dict[tuple[int, str], int] = {}
        rows: list[dict[str, Any]] = []
        for turn in self._changes.turns:
            scope = self._scope(turn.scope)
            place = (scope.id, turn.session)
            if place not in next_ordinal:
                next_ordinal[place] = self._last_ordinal(*place) + 1
            row = turn_row(turn, scope.id)
            row |= {"ordinal": next_ordinal[place], "recorded_at": self._micros}
            next_ordinal[place] += 1
            rows.append(row)
            self._note_turn(turn.scope, row)
            scope.changes.append(("turn", turn.id, "put"))
        statements.INSERT_TURNS.run(self._connection, rows)
        self._ordinals = tuple(row["ordinal"] for row in rows)

    def retract_turns(self) -> None:
        """Mark turns as taken back; they stay, and are not found any more."""
        for turn in self._changes.retracted:
            its = schema.turns.c.id == turn.id
            self._connection.execute(update(schema.turns).where(its).values(act="retracted"))
            self._scope(turn.scope).changes.append(("turn", turn.id, "put"))

    def write_records(self) -> None:
        """Insert new records; keep the old version of changed ones."""
        new = [change for change in self._changes.records if change.record.version == 1]
        if new:
            rows = [self._row(change) for change in new]
            for change, row in zip(new, rows, strict=True):
                self._note_record(change.record.scope, row)
            statements.INSERT_RECORDS.run(self._connection, rows)
            self._insert_tags(change.record for change in new)
        for change in self._changes.records:
            if change.record.version > 1:
                self._replace(change)

    def purge(self) -> None:
        """Remove deleted records with their versions and units."""
        for record in self._changes.purged:
            current = self._current(record)
            if current["status"] != Status.DELETED:
                raise Conflict(
                    f"{record.id} is {current['status']}; only a deleted record can be purged",
                    code="not_deleted",
                    hint="Delete it first.",
                )
            self._remove_units(self._scope(record.scope), record.id)
            remove_links_of(self._connection, record.id)
            self._connection.execute(delete(schema.records).where(schema.records.c.id == record.id))
            self._scope(record.scope).changes.append(("record", record.id, "purge"))

    def write_uses(self) -> None:
        """Count what was used. Only what helped or not changes what a recall answers."""
        for feedback in self._changes.feedback:
            record = feedback.record
            self._scope(record.scope).changes.append(("record", record.id, "use"))
            add_feedback(self._connection, self._current(record), feedback)
        count_accesses(self._connection, self._changes.accesses)

    def write_archives(self) -> None:
        """Add archives and remove others, with the count of references to each blob."""
        for new in self._changes.archives:
            scope = self._scope(new.archive.scope)
            self._unused_blobs += add_archive(self._connection, new, scope.id, self._micros)
            scope.changes.append((ARCHIVE, new.archive.id, "put"))
        for archive in self._changes.removed_archives:
            unused = remove_archive(self._connection, archive)
            # Somebody else may have removed it in between.
            if unused is not None:
                self._unused_blobs += unused
                scope = self._scope(archive.scope)
                self._remove_units(scope, archive.id)
                scope.changes.append((ARCHIVE, archive.id, "purge"))

    def write_documents(self) -> None:
        """Write the next states of documents and remove others, with their raw contents."""
        for change in self._changes.documents:
            scope = self._scope(change.document.scope)
            self._unused_blobs += put_document(self._connection, change, scope.id, self._micros)
            scope.changes.append(("document", change.document.id, "put"))
        for document in self._changes.removed_documents:
            unused = remove_document(self._connection, document)
            if unused is not None:
                self._unused_blobs += unused
                scope = self._scope(document.scope)
                self._remove_units(scope, document.id)
                scope.changes.append(("document", document.id, "purge"))

    def write_units(self) -> None:
        """Replace the units of every owner named in the change set."""
        new = {turn.id for turn in self._changes.turns}
        new |= {change.record.id for change in self._changes.records if change.record.version == 1}
        new |= {added.archive.id for added in self._changes.archives}
        # Imported turns have their places already.
        written = self._changes.turns[: len(self._ordinals)]
        places = dict(zip((it.id for it in written), self._ordinals, strict=True))
        rows: list[dict[str, Any]] = []
        vectors: list[dict[str, Any]] = []
        for owner in self._changes.units:
            if owner.owner_id not in new and not self._is_current(owner):
                continue
            scope = self._scope(owner.scope)
            if owner.owner_id not in new:
                self._remove_units(scope, owner.owner_id)
            added = list(unit_rows(scope, owner, places.get(owner.owner_id)))
            rows += added
            made = [
                {"unit_id": row["id"], "vector": unit.vector}
                for row, unit in zip(added, owner.units, strict=True)
                if unit.vector is not None
            ]
            if not added or self._model is None:
                continue
            if not self._answers(scope):
                self._lacks_vectors = True
            elif made:
                vectors += made
            else:
                self._without_vectors[owner.owner_id] = added[0]["id"]
        if rows:
            statements.INSERT_UNITS.run(self._connection, rows)
            self._insert_vectors(vectors)

    def write_vectors(self) -> None:
        """Add vectors to units that were stored without; a unit that is gone needs none."""
        for scope, group in groupby(self._changes.vectors, key=attrgetter("scope")):
            given = {vector.unit: vector for vector in group}
            owners = units_of(self._connection, scope, given)
            made = {
                unit: given[unit].vector for unit, owner in owners if given[unit].owner == owner
            }
            if not made:
                continue
            opened = self._scope(scope)
            for unit, other in generations.counterparts(self._connection, opened.id, made):
                made[other] = made[unit]
            self._insert_vectors([{"unit_id": unit, "vector": it} for unit, it in made.items()])
            # Units, and a model, that do not answer here yet change nothing for anybody.
            if self._answers(opened):
                answering = filter(opened.answers_with, made)
                opened.changes += [("vector", str(unit), "put") for unit in answering]

    def write_keeping(self) -> None:
        """Keep what belongs to records: conflicts, links, proposals, traces and watermarks."""
        for scope, version in self._changes.expected.items():
            opened = self._scope(scope)
            require_records(self._connection, scope, opened.id, version, opened.version - 1)
        for conflict in self._changes.conflicts:
            put_conflict(self._connection, conflict, self._scope(conflict.scope).id)
        for link in self._changes.removed_links:
            remove_link(self._connection, link)
            self._scope(link.scope).changes.append(("link", link.newer, "remove"))
        for link in self._changes.links:
            put_link(self._connection, link, self._scope(link.scope).id)
            self._scope(link.scope).changes.append(("link", link.newer, "put"))
        for proposal in self._changes.proposals:
            put_proposal(self._connection, proposal, self._scope(proposal.scope).id)
        traces = ((trace, self._scope(trace.scope).id) for trace in self._changes.traces)
        add_traces(self._connection, traces)
        for mark in self._changes.watermarks:
            scope_id = self._scope(mark.scope).id
            raise_watermark(self._connection, mark, scope_id, self._micros)

    def write_audit(self, action: str = "") -> None:
        """Add audit entries: what was done, by whom and why; `action` names the whole change."""
        known = {scope: opened.id for scope, opened in self._open.items()}
        digests = {scope: it.digests for scope, it in self._open.items() if it.digests}
        audit_entries.add_entries(
            self._connection, self._changes, self._micros, known, action, digests
        )

    def _note_record(self, scope: Scope, row: Row) -> None:
        digests = self._scope(scope).digests.setdefault(row["id"], {})
        digests[str(row["version"])] = record_digest(row)

    def _note_turn(self, scope: Scope, row: Row) -> None:
        self._scope(scope).digests[row["id"]] = turn_digest(row)

    def write_idempotency(self) -> None:
        given = self._changes.idempotency
        if given:
            scope_id = self._scope(self._changes.scope).id
            keep_results(self._connection, given, self._changes.principal, scope_id, self._now)

    @property
    def jobs(self) -> tuple[NewJob, ...]:
        """The work to do after it; another model answers where vectors were left out."""
        return (*self._changes.jobs, *[MISSING_VECTORS] * self._lacks_vectors)

    def close(self) -> Committed:
        """List what changed in each scope and store its counters."""
        rows = [
            {
                "scope_id": scope.id,
                "version": scope.version,
                "seq": seq,
                "entity": entity,
                "id": ident,
                "op": op,
            }
            for scope in self._open.values()
            for seq, (entity, ident, op) in enumerate(scope.changes)
        ]
        if rows:
            statements.INSERT_CHANGES.run(self._connection, rows)
        left = left_behind(self._connection)
        for key, scope in self._open.items():
            scope.version -= not scope.changes  # a version without changes leads readers nowhere
            scope.bring_full_text_up(self._connection)
            if scope.left is None:
                statements.CLOSE_SCOPE.run(self._connection, [scope.counters()])
            elif not close_as_left(self._connection, key, scope.counters(), scope.left):
                raise Outdated
            left.new[key] = scope.state()
        return Committed(
            recorded_at=self._now,
            versions={scope: opened.version for scope, opened in self._open.items()},
            turn_ordinals=self._ordinals,
            unused_blobs=self._unused_blobs,
            without_vectors=self._without_vectors,
        )

    def _insert_vectors(self, rows: list[dict[str, Any]]) -> None:
        if rows and self._model is not None:
            made = [{**row, "model_id": self._model} for row in rows]
            statements.INSERT_VECTORS.run(self._connection, made)

    @cached_property
    def _model(self) -> int | None:
        """The number of the model that made these vectors."""
        model = self._changes.model
        return None if model is None else model_number(self._connection, model)

    def _answers(self, scope: OpenScope) -> bool:
        """Return whether a model serves a scope; a scope that has none gets this one."""
        if scope.model is None:
            scope.model = self._model
        return scope.model == self._model

    def _scope(self, scope: Scope) -> OpenScope:
        """Return the scope's row, made when missing and locked until the transaction ends."""
        if self._last is not None and self._last[0] is scope:
            return self._last[1]
        if scope not in self._open:
            left: Row | None = left_behind(self._connection).take(scope)
            if left is None:
                row = lock_or_make_scope(self._connection, scope_key(scope))
            else:
                row = left
                require_here(self._connection, scope.agent or "")
            self._open[scope] = OpenScope(
                id=row["id"],
                version=row["version"] + 1,
                next_unit=row["next_unit"],
                length=row["unit_length"],
                model=row["model_id"],
                full_text_to=row["full_text_to"],
                first_unit=row["first_unit"],
                left=left,
            )
        self._last = scope, self._open[scope]
        return self._last[1]

    def _last_ordinal(self, scope_id: int, session: str) -> int:
        place = {"scope": scope_id, "place": session}
        ((found,),) = statements.LAST_ORDINAL.rows(self._connection, place)
        return found or 0

    def _row(self, change: RecordChange) -> dict[str, Any]:
        scope = self._scope(change.record.scope)
        scope.changes.append(("record", change.record.id, "put"))
        row = record_row(change.record, scope.id, self._changes.principal, change.reason)
        row["recorded_at"] = self._micros
        return row

    def _replace(self, change: RecordChange) -> None:
        record = change.record
        before = self._current(record)
        if before["version"] != record.version - 1:
            raise StaleVersion(
                f"{record.id} is at version {before['version']}, not {record.version - 1}",
                hint="Read the record again and repeat the change.",
            )
        version = {
            "record_id": record.id,
            "version": before["version"],
            "scope_id": before["scope_id"],
            "recorded_at": before["recorded_at"],
            "replaced_at": self._micros,
            "body": to_json(before),
        }
        statements.INSERT_VERSIONS.run(self._connection, [version])
        row = next_row(self._row(change), before)
        self._note_record(record.scope, row)
        statements.UPDATE_RECORD.run(self._connection, [statements.prefixed(row)])
        if to_json(record.tags) != before["tags"]:
            tags = schema.record_tags
            self._connection.execute(delete(tags).where(tags.c.record_id == record.id))
            self._insert_tags([record])

    def _current(self, record: Record) -> dict[str, Any]:
        # One that is being forgotten lies in another scope and must not come back.
        place = {"record": record.id, "scope": self._scope(record.scope).id}
        for row in statements.RECORD_IN_SCOPE.by_name(self._connection, place):
            return dict(row)
        raise NotFound(f"There is no record {record.id}")

    def _insert_tags(self, changed: Iterable[Record]) -> None:
        rows = [{"record_id": record.id, "tag": tag} for record in changed for tag in record.tags]
        if rows:
            statements.INSERT_TAGS.run(self._connection, rows)

    def _remove_units(self, scope: OpenScope, owner_id: str) -> None:
        owned = {"owner": owner_id}
        rows = statements.UNITS_OF_OWNER.by_name(self._connection, owned)
        if not rows:
            return
        answering = rows
        if not all(scope.answers_with(row["id"]) for row in rows):
            answering = generations.drop_from_generation(self._connection, scope.id, rows)
        for row in answering:
            scope.added_units -= 1
            scope.added_length -= len(row["terms"]) // KEY_BYTES
            scope.changes.append(("unit", str(row["id"]), "remove"))
        units = [(row["id"], row["terms"]) for row in answering]
        take_out(self._connection, scope.id, units)
        statements.DELETE_UNITS_OF_OWNER.run(self._connection, [owned])

    def _is_current(self, owner: OwnerUnits) -> bool:
        """Return whether the owner is unchanged since it was read; turns and archives only go."""
        found = statements.CURRENT[owner.owner_kind].rows(
            self._connection, {"owner": owner.owner_id}
        )
        has_versions = owner.owner_kind in ("record", "document")
        return bool(found) and (not has_versions or found[0][0] == owner.version)
