"""Whole histories out of a SQL database and into it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import Connection, insert, select, tuple_

from recollect.backends.sql import schema
from recollect.backends.sql.archives import archive_from
from recollect.backends.sql.commit import Commit
from recollect.backends.sql.database import Database
from recollect.backends.sql.documents import document_from, source_hash
from recollect.backends.sql.jobs import insert_jobs
from recollect.backends.sql.rows import record_row, rows_of, to_json, turn_from, turn_row
from recollect.backends.sql.scopes import find_scopes, scopes_by_id
from recollect.backends.sql.transfer_attached import IMPORT, add_attached
from recollect.backends.sql.transfer_reading import histories, snapshot
from recollect.domain.archive import Archive, NewArchive
from recollect.domain.change import ChangeSet, RecordChange
from recollect.domain.document import Document, DocumentChange, as_given
from recollect.domain.record import Version
from recollect.domain.scope import Scope
from recollect.domain.times import to_micros
from recollect.domain.transfer import Attached, RecordHistory, name_of, scope_of
from recollect.domain.turn import Turn
from recollect.ports.runtime import Clock
from recollect.ports.transfer import Added, Arrival, Extent, Outcome, Snapshot

T = TypeVar("T")


class SqlTransfer:
    """Reads in one transaction, so that an export is one moment; writes a batch in one."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def read(self, extent: Extent | None, take: Callable[[Snapshot], T]) -> T:
        return await self._database.read(lambda connection: take(snapshot(connection, extent)))

    async def add(self, arrivals: Sequence[Arrival]) -> Added:
        return await self._database.write(
            lambda connection: _add(connection, arrivals, self._clock.now())
        )


def _add(connection: Connection, arrivals: Sequence[Arrival], now: datetime) -> Added:
    """Records, turns and archives first, then what is about them; told in the order given."""
    owners = [it for it in arrivals if not isinstance(it.item, Attached)]
    attached = [it.item for it in arrivals if isinstance(it.item, Attached)]
    added = add_owners(connection, owners, now)
    of_owners = iter(added.outcomes)
    of_attached = iter([add_attached(connection, item, now) for item in attached])
    outcomes = [
        next(of_attached if isinstance(it.item, Attached) else of_owners) for it in arrivals
    ]
    return Added(outcomes=outcomes, unused_blobs=added.unused_blobs)


# --- Records with their versions, turns and archives from elsewhere into a SQL database -----------


_Place = tuple[Scope, str, int]
_Content = tuple[str, str, str]


def add_owners(connection: Connection, arrivals: Sequence[Arrival], now: datetime) -> Added:
    """Write those that are new here."""
    known = _known(connection, arrivals)
    outcomes = [known.meet(arrival) for arrival in arrivals]
    new = [
        arrival
        for arrival, outcome in zip(arrivals, outcomes, strict=True)
        if outcome is Outcome.ADDED
    ]
    if not new:
        return Added(outcomes=outcomes)
    arriving = _Arriving(connection, new, now)
    arriving.write_turns()
    arriving.write_records()
    arriving.write_archives()
    arriving.write_documents()
    arriving.write_units()
    arriving.write_audit(IMPORT)
    committed = arriving.close()
    insert_jobs(connection, arriving.jobs, now)
    return Added(outcomes=outcomes, unused_blobs=committed.unused_blobs)


@dataclass(slots=True)
class _Known:
    """What is stored under the ids and in the places of a batch, growing as it is gone through."""

    histories: dict[str, RecordHistory]
    turns: dict[str, Turn]
    places: set[_Place]
    archives: dict[str, Archive]
    documents: dict[str, Document]
    sources: set[tuple[Scope, str]]
    contents: set[_Content]
    forgotten: set[str]

    def meet(self, arrival: Arrival) -> Outcome:
        item = arrival.item
        if name_of(item) in self.forgotten:
            return Outcome.FORGOTTEN
        match item:
            case RecordHistory():
                return self._meet_history(item)
            case Turn():
                return self._meet_turn(item)
            case Archive():
                return self._meet_archive(item, brings_content=arrival.blob is not None)
            case Document():
                return self._meet_document(item, brings_content=arrival.blob is not None)
            case _:
                raise AssertionError("what is about others is not met here")

    def _meet_history(self, item: RecordHistory) -> Outcome:
        history = self.histories.setdefault(item.current.id, item)
        if history is item:
            return Outcome.ADDED
        return Outcome.UNCHANGED if history.holds(item) else Outcome.ID_TAKEN

    def _meet_turn(self, item: Turn) -> Outcome:
        turn = self.turns.get(item.id)
        if turn is not None:
            return Outcome.UNCHANGED if turn == item else Outcome.ID_TAKEN
        if _place(item) in self.places:
            return Outcome.PLACE_TAKEN
        self.turns[item.id] = item
        self.places.add(_place(item))
        return Outcome.ADDED

    def _meet_archive(self, item: Archive, *, brings_content: bool) -> Outcome:
        archive = self.archives.get(item.id)
        if archive is not None:
            is_same = _as_archived(archive) == _as_archived(item)
            return Outcome.UNCHANGED if is_same else Outcome.ID_TAKEN
        if not brings_content and _content(item) not in self.contents:
            return Outcome.CONTENT_MISSING
        self.archives[item.id] = item
        self.contents.add(_content(item))
        return Outcome.ADDED

    def _meet_document(self, item: Document, *, brings_content: bool) -> Outcome:
        document = self.documents.get(item.id)
        if document is not None:
            is_same = _as_told(document) == _as_told(item)
            return Outcome.UNCHANGED if is_same else Outcome.ID_TAKEN
        if (item.scope, item.source) in self.sources:
            return Outcome.PLACE_TAKEN
        if not brings_content and _content(item) not in self.contents:
            return Outcome.CONTENT_MISSING
        self.documents[item.id] = item
        self.sources.add((item.scope, item.source))
        self.contents.add(_content(item))
        return Outcome.ADDED


def _known(connection: Connection, arrivals: Sequence[Arrival]) -> _Known:
    items = [arrival.item for arrival in arrivals]
    ids = [name_of(item) for item in items]
    turns = [item for item in items if isinstance(item, Turn)]
    with_content = [item for item in items if isinstance(item, Archive | Document)]
    documents = [item for item in items if isinstance(item, Document)]
    record_rows, turn_rows, archive_rows, document_rows = (
        rows_of(connection, select(table).where(table.c.id.in_(ids)))
        for table in (schema.records, schema.turns, schema.archives, schema.documents)
    )
    found = {row["scope_id"] for row in (*record_rows, *turn_rows, *archive_rows, *document_rows)}
    scopes = scopes_by_id(connection, found)
    stones = schema.tombstones.c.id
    return _Known(
        histories={it.current.id: it for it in histories(connection, record_rows, scopes)},
        turns={row["id"]: turn_from(row, scopes[row["scope_id"]]) for row in turn_rows},
        places=_taken_places(connection, turns),
        archives={row["id"]: archive_from(row, scopes[row["scope_id"]]) for row in archive_rows},
        documents={row["id"]: document_from(row, scopes[row["scope_id"]]) for row in document_rows},
        sources=_taken_sources(connection, documents),
        contents=_held_contents(connection, with_content),
        forgotten=set(connection.scalars(select(stones).where(stones.in_(ids)))),
    )


def _taken_places(connection: Connection, arrived: Sequence[Turn]) -> set[_Place]:
    scopes = find_scopes(connection, list({turn.scope for turn in arrived}))
    ids = {scope: scope_id for scope_id, scope in scopes.items()}
    wanted = [(ids[it.scope], it.session, it.ordinal) for it in arrived if it.scope in ids]
    table = schema.turns.c
    place = (table.scope_id, table.session, table.ordinal)
    rows = connection.execute(select(*place).where(tuple_(*place).in_(wanted)))
    return {(scopes[scope_id], session, ordinal) for scope_id, session, ordinal in rows}


def _held_contents(connection: Connection, arrived: Sequence[Archive | Document]) -> set[_Content]:
    table = schema.blobs.c
    content = (table.org, table.workspace, table.hash)
    wanted = [_content(archive) for archive in arrived]
    rows = connection.execute(select(*content).where(tuple_(*content).in_(wanted)))
    return {(org, workspace, hashed) for org, workspace, hashed in rows}


def _taken_sources(connection: Connection, arrived: Sequence[Document]) -> set[tuple[Scope, str]]:
    scopes = find_scopes(connection, list({document.scope for document in arrived}))
    table = schema.documents.c
    hashes = {source_hash(document.source) for document in arrived}
    rows = connection.execute(
        select(table.scope_id, table.source).where(
            table.scope_id.in_(list(scopes)), table.source_hash.in_(sorted(hashes))
        )
    )
    return {(scopes[scope_id], source) for scope_id, source in rows}


def _place(turn: Turn) -> _Place:
    return turn.scope, turn.session, turn.ordinal


def _content(archive: Archive | Document) -> _Content:
    return archive.scope.org, archive.scope.workspace, archive.content_hash


def _as_archived(archive: Archive) -> Archive:
    """An archive as it was before anybody loaded it or told better what it says."""
    return replace(archive, summary="", last_loaded=None, loads=0)


def _as_told(document: Document) -> Document:
    """Return a document as an export tells it, without when it was last read."""
    return replace(as_given(document), updated_at=document.created_at)


def _as_pending(document: Document) -> Document:
    """Return a document that arrives as one whose content waits to be read."""
    if document.status == "archived":
        return document
    return replace(document, content_hash="", pending_hash=document.content_hash)


class _Arriving(Commit):
    """A change set of things that bring their own times, versions and places along."""

    def __init__(self, connection: Connection, arrivals: Sequence[Arrival], now: datetime) -> None:
        items = [arrival.item for arrival in arrivals]
        self._histories = [item for item in items if isinstance(item, RecordHistory)]
        changes = ChangeSet(
            principal=IMPORT,
            scope=scope_of(items[0]),
            records=tuple(RecordChange(record=history.current) for history in self._histories),
            turns=tuple(item for item in items if isinstance(item, Turn)),
            units=tuple(arrival.units for arrival in arrivals if arrival.units is not None),
            archives=tuple(
                NewArchive(archive=arrival.item, blob=arrival.blob)
                for arrival in arrivals
                if isinstance(arrival.item, Archive)
            ),
            documents=tuple(
                DocumentChange(document=_as_pending(arrival.item), blob=arrival.blob)
                for arrival in arrivals
                if isinstance(arrival.item, Document)
            ),
            jobs=tuple(arrival.job for arrival in arrivals if arrival.job is not None),
            audit=tuple(arrival.audit for arrival in arrivals if arrival.audit is not None),
        )
        super().__init__(connection, changes, now)

    def write_turns(self) -> None:
        rows: list[dict[str, Any]] = []
        for turn in self._changes.turns:
            scope = self._scope(turn.scope)
            scope.changes.append(("turn", turn.id, "put"))
            rows.append(turn_row(turn, scope.id))
            self._note_turn(turn.scope, rows[-1])
        if rows:
            self._connection.execute(insert(schema.turns), rows)

    def write_records(self) -> None:
        current: list[dict[str, Any]] = []
        past: list[dict[str, Any]] = []
        for history in self._histories:
            scope = self._scope(history.current.scope)
            scope.changes.append(("record", history.current.id, "put"))
            for version in history.versions:
                self._note_record(history.current.scope, _row(version, scope.id))
            current.append(_row(history.versions[-1], scope.id))
            past.extend(_past_row(version, scope.id) for version in history.versions[:-1])
        if current:
            self._connection.execute(insert(schema.records), current)
            self._insert_tags(history.current for history in self._histories)
        if past:
            self._connection.execute(insert(schema.versions), past)


def _row(version: Version, scope_id: int) -> dict[str, Any]:
    return record_row(version.record, scope_id, version.changed_by, version.reason)


def _past_row(version: Version, scope_id: int) -> dict[str, Any]:
    assert version.replaced_at is not None
    row = _row(version, scope_id)
    return {
        "record_id": version.record.id,
        "version": version.number,
        "scope_id": scope_id,
        "recorded_at": row["recorded_at"],
        "replaced_at": to_micros(version.replaced_at),
        "body": to_json({column.name: row[column.name] for column in schema.records.c}),
    }
