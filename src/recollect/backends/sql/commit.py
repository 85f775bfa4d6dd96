"""Writing one change set inside a transaction that somebody else begins and commits."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, delete, update

from recollect.backends.sql import audits, schema, statements
from recollect.backends.sql import index_generations as generations
from recollect.backends.sql import record_attachments as attachments
from recollect.backends.sql.archives import add_archive, remove_archive
from recollect.backends.sql.dialects.base import KEY_BYTES
from recollect.backends.sql.digests import Digests, record_digest, turn_digest
from recollect.backends.sql.documents import put_document, remove_document
from recollect.backends.sql.full_text import take_out
from recollect.backends.sql.idempotency import find_result, keep_result
from recollect.backends.sql.jobs import insert_jobs
from recollect.backends.sql.models import model_number
from recollect.backends.sql.open_scope import OpenScope, unit_rows, units_of
from recollect.backends.sql.record_attachments import add_feedback, count_accesses, next_row
from recollect.backends.sql.rows import Row, record_row, scope_key, to_json, turn_row
from recollect.backends.sql.scope_locks import locked_or_made
from recollect.domain.change import ChangeSet, Committed, RecordChange
from recollect.domain.embedding import MISSING_VECTORS
from recollect.domain.job import NewJob
from recollect.domain.record import Record, Status
from recollect.domain.scope import Scope
from recollect.domain.times import EPOCH, from_micros, to_micros
from recollect.domain.unit import ARCHIVE, OwnerUnits
from recollect.errors import Conflict, NotFound, StaleVersion


def write(connection: Connection, changes: ChangeSet, now: datetime) -> Committed:
    """Write all of it, or raise with nothing changed once the caller rolls back."""
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
        # Of what is stored, for the audit.
        self._digests: dict[Scope, Digests] = {}

    def _earliest(self) -> datetime:
        """A version's time is after the one it replaces, even if the clock was set back."""
        old = [change.record.id for change in self._changes.records if change.record.version > 1]
        if not old:
            return EPOCH
        ((newest,),) = statements.LAST_RECORDED.rows(self._connection, {"ids": to_json(old)})
        return from_micros((newest or 0) + 1)

    def replayed(self) -> Committed | None:
        """The stored result when this idempotency key was used before with the same body."""
        wanted = self._changes.idempotency
        if wanted is None:
            return None
        # Made when missing: of two equal requests at once, one waits here for the other.
        found = locked_or_made(self._connection, scope_key(self._changes.scope))
        principal = self._changes.principal
        return find_result(self._connection, wanted, principal, found["id"], self._now)

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
            attachments.remove_links_of(self._connection, record.id)
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
            attachments.require_records(
                self._connection, scope, opened.id, version, opened.version - 1
            )
        for conflict in self._changes.conflicts:
            attachments.put_conflict(self._connection, conflict, self._scope(conflict.scope).id)
        for link in self._changes.removed_links:
            attachments.remove_link(self._connection, link)
            self._scope(link.scope).changes.append(("link", link.newer, "remove"))
        for link in self._changes.links:
            attachments.put_link(self._connection, link, self._scope(link.scope).id)
            self._scope(link.scope).changes.append(("link", link.newer, "put"))
        for proposal in self._changes.proposals:
            attachments.put_proposal(self._connection, proposal, self._scope(proposal.scope).id)
        traces = ((trace, self._scope(trace.scope).id) for trace in self._changes.traces)
        attachments.add_traces(self._connection, traces)
        for mark in self._changes.watermarks:
            scope_id = self._scope(mark.scope).id
            attachments.raise_watermark(self._connection, mark, scope_id, self._micros)

    def write_audit(self, action: str = "") -> None:
        """Say what was done, by whom and why; `action` is a name for all of it."""
        known = {scope: opened.id for scope, opened in self._open.items()}
        audits.add_entries(
            self._connection, self._changes, self._micros, known, action, self._digests
        )

    def _note_record(self, scope: Scope, row: Row) -> None:
        digests = self._digests.setdefault(scope, {}).setdefault(row["id"], {})
        digests[str(row["version"])] = record_digest(row)

    def _note_turn(self, scope: Scope, row: Row) -> None:
        self._digests.setdefault(scope, {})[row["id"]] = turn_digest(row)

    def write_idempotency(self) -> None:
        given = self._changes.idempotency
        if given is not None:
            scope_id = self._scope(self._changes.scope).id
            keep_result(self._connection, given, self._changes.principal, scope_id, self._now)

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
        for scope in self._open.values():
            scope.version -= not scope.changes  # a version without changes leads readers nowhere
            scope.bring_full_text_up(self._connection)
            statements.CLOSE_SCOPE.run(self._connection, [scope.counters()])
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
        """Whether that model answers in a scope; where none does, it is the one from now on."""
        if scope.model is None:
            scope.model = self._model
        return scope.model == self._model

    def _scope(self, scope: Scope) -> OpenScope:
        """The scope's row, made when missing and locked until the transaction ends."""
        if scope not in self._open:
            row = locked_or_made(self._connection, scope_key(scope))
            self._open[scope] = OpenScope(
                id=row["id"],
                version=row["version"] + 1,
                next_unit=row["next_unit"],
                length=row["unit_length"],
                model=row["model_id"],
                full_text_to=row["full_text_to"],
                first_unit=row["first_unit"],
            )
        return self._open[scope]

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
            answering = generations.without_those_beside(self._connection, scope.id, rows)
        for row in answering:
            scope.added_units -= 1
            scope.added_length -= len(row["terms"]) // KEY_BYTES
            scope.changes.append(("unit", str(row["id"]), "remove"))
        units = [(row["id"], row["terms"]) for row in answering]
        take_out(self._connection, scope.id, units)
        statements.DELETE_UNITS_OF_OWNER.run(self._connection, [owned])

    def _is_current(self, owner: OwnerUnits) -> bool:
        """Whether it is still as it was read; a turn and an archive are there or not."""
        found = statements.CURRENT[owner.owner_kind].rows(
            self._connection, {"owner": owner.owner_id}
        )
        has_versions = owner.owner_kind in ("record", "document")
        return bool(found) and (not has_versions or found[0][0] == owner.version)
