"""Whole histories out of a SQL database and into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, TypeVar

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Select,
    Table,
    and_,
    false,
    func,
    insert,
    or_,
    select,
    tuple_,
    union_all,
)

from recollect.backends.sql import schema
from recollect.backends.sql.archives import archive_from, find_blob
from recollect.backends.sql.commit import Commit
from recollect.backends.sql.database import Database, OnDatabase, reading, writing
from recollect.backends.sql.document_rows import document_from, source_hash
from recollect.backends.sql.forgotten import FORGOTTEN_AGENT, NAMELESS_SCOPES
from recollect.backends.sql.job_rows import insert_jobs
from recollect.backends.sql.rows import (
    Row,
    conflict_from,
    link_from,
    past_row,
    proposal_from,
    record_row,
    rows_of,
    scope_key,
    to_json,
    turn_from,
    turn_row,
    version_from,
)
from recollect.backends.sql.scopes import (
    collection_scopes,
    find_scopes,
    lock_or_make_scope,
    scopes_by_id,
)
from recollect.domain.archive import Archive, Blob, NewArchive
from recollect.domain.change import ChangeSet, RecordChange
from recollect.domain.document import Document, DocumentChange, as_given
from recollect.domain.item import StoredItem, encoded
from recollect.domain.record import USER_PROFILE, Version, is_user_profile, with_aliases
from recollect.domain.relation import Conflict, Link
from recollect.domain.scope import Scope
from recollect.domain.sharing import Proposal
from recollect.domain.times import to_micros
from recollect.domain.transfer import (
    Attached,
    ExportCounts,
    Item,
    ReadMark,
    RecordHistory,
    name_of,
    scope_of,
)
from recollect.domain.turn import Turn
from recollect.domain.write import Watermark
from recollect.items.rows import item_from, item_row
from recollect.ports.runtime import Clock
from recollect.ports.transfer import Added, Arrival, Extent, Outcome, Snapshot

# --- Conflicts, links, watermarks, proposals and items out of a SQL database and into it ----------

IMPORT: Final = "import"

_TURNS: Final = schema.turns.c
_MARKS: Final = schema.watermarks.c
_LAST_READ: Final = (
    select(_TURNS.id)
    .where(
        _TURNS.scope_id == _MARKS.scope_id,
        _TURNS.session == _MARKS.session,
        _TURNS.ordinal <= _MARKS.ordinal,
    )
    .order_by(_TURNS.ordinal.desc())
    .limit(1)
    .scalar_subquery()
)
# A watermark of which no turn is left keeps nothing from being read again.
READ_MARKS: Final = select(schema.watermarks, _LAST_READ.label("turn")).where(
    _LAST_READ.is_not(None)
)


def read_mark_from(row: Row, scope: Scope) -> ReadMark:
    return ReadMark(scope=scope, session=row["session"], ordinal=row["ordinal"], turn=row["turn"])


def add_attached(connection: Connection, item: Attached, now: datetime) -> Outcome:
    """Write one of them if it is new and what it is about is here."""
    if _is_forgotten(connection, item):
        return Outcome.FORGOTTEN
    match item:
        case StoredItem():
            return _add_item(connection, item)
        case Conflict():
            outcome = _meet_conflict(connection, item)
            changes = _changes(item, conflicts=(item,))
        case Link():
            outcome = _meet_link(connection, item)
            changes = _changes(item, links=(item,))
        case Proposal():
            outcome = _meet_proposal(connection, item)
            changes = _changes(item, proposals=(item,))
        case ReadMark():
            before = _mark_here(connection, item)
            outcome = _meet_mark(connection, item, before)
            mark = Watermark(
                scope=item.scope, session=item.session, ordinal=item.ordinal, before=before
            )
            changes = _changes(item, watermarks=(mark,))
    if outcome is Outcome.ADDED:
        commit = Commit(connection, changes, now)
        commit.write_keeping()
        commit.write_audit(IMPORT)
        commit.close()
    return outcome


def _changes(item: Attached, **written: Any) -> ChangeSet:
    return ChangeSet(principal=IMPORT, scope=item.scope, **written)


def _is_forgotten(connection: Connection, item: Attached) -> bool:
    """Return whether it, or anything that it is about, was forgotten here."""
    match item:
        case Conflict():
            named = [item.id, item.first, item.second]
        case Link():
            named = [*item.ends]
        case Proposal():
            named = [item.id, item.target, item.record]
        case ReadMark():
            named = [item.turn]
        case StoredItem():
            named = [item.id]
    stones = schema.tombstones.c.id
    return connection.scalar(select(stones).where(stones.in_(named)).limit(1)) is not None


def _meet_conflict(connection: Connection, item: Conflict) -> Outcome:
    stored = _stored(connection, schema.conflicts, item.id)
    if stored is not None:
        known = conflict_from(*stored)
        undecided = replace(known, resolved_at=None, resolved_by=None, resolution=None)
        return Outcome.UNCHANGED if item in (known, undecided) else Outcome.ID_TAKEN
    table = schema.conflicts.c
    pair = and_(table.first_id == item.first, table.second_id == item.second)
    if connection.scalar(select(table.id).where(pair)) is not None:
        return Outcome.PLACE_TAKEN
    records = schema.records.c
    scope_ids = connection.scalars(
        select(records.scope_id).where(records.id.in_([item.first, item.second]))
    ).all()
    scopes = scopes_by_id(connection, scope_ids)
    # It may be between records of two agents, but only of those who work for the same user.
    are_theirs = all(scope.of_user == item.scope.of_user for scope in scopes.values())
    return Outcome.ADDED if len(scope_ids) == 2 and are_theirs else Outcome.RECORD_MISSING


def _meet_link(connection: Connection, item: Link) -> Outcome:
    table = schema.links
    pair = select(table).where(table.c.newer == item.newer, table.c.older == item.older)
    for row in rows_of(connection, pair):
        scope = scopes_by_id(connection, [row["scope_id"]])[row["scope_id"]]
        return Outcome.UNCHANGED if link_from(row, scope) == item else Outcome.PLACE_TAKEN
    owners = (schema.records, schema.turns)
    both = union_all(
        *(select(owner.c.scope_id).where(owner.c.id.in_(item.ends)) for owner in owners)
    )
    scope_ids = connection.scalars(both).all()
    scopes = scopes_by_id(connection, scope_ids)
    are_theirs = all(it.of_user == item.scope.of_user for it in scopes.values())
    return Outcome.ADDED if len(scope_ids) == 2 and are_theirs else Outcome.RECORD_MISSING


def _meet_proposal(connection: Connection, item: Proposal) -> Outcome:
    stored = _stored(connection, schema.proposals, item.id)
    if stored is None:
        return Outcome.ADDED
    known = proposal_from(*stored)
    # What was decided since stays decided; with it the coordinator may have edited it.
    is_decided_since = item.status == "pending" != known.status
    is_same = item.scope == known.scope and item.created_at == known.created_at
    return (
        Outcome.UNCHANGED if item == known or (is_decided_since and is_same) else Outcome.ID_TAKEN
    )


def _add_item(connection: Connection, item: StoredItem) -> Outcome:
    """Add an item where nothing is in its place; what is there stays."""
    scope_id: int = lock_or_make_scope(connection, scope_key(item.scope))["id"]
    table = schema.items.c
    there = and_(
        table.scope_id == scope_id,
        table.namespace == encoded(item.namespace),
        table.key == item.key,
    )
    for row in rows_of(connection, select(schema.items).where(there)):
        known = item_from(row, item.scope)
        is_same = (known.id, known.value) == (item.id, item.value)
        return Outcome.UNCHANGED if is_same else Outcome.PLACE_TAKEN
    if _stored(connection, schema.items, item.id) is not None:
        return Outcome.ID_TAKEN
    last = connection.scalar(select(func.max(table.position)).where(table.scope_id == scope_id))
    row = item_row(replace(item, position=(last or 0) + 1), scope_id)
    connection.execute(insert(schema.items), row)
    return Outcome.ADDED


def _meet_mark(connection: Connection, item: ReadMark, before: int) -> Outcome:
    if before >= item.ordinal:
        return Outcome.UNCHANGED
    last_read = connection.scalar(
        select(_TURNS.id)
        .where(
            _TURNS.scope_id.in_(find_scopes(connection, [item.scope])),
            _TURNS.session == item.session,
            _TURNS.ordinal <= item.ordinal,
        )
        .order_by(_TURNS.ordinal.desc())
        .limit(1)
    )
    # Other turns that are there may not have been read.
    return Outcome.ADDED if last_read == item.turn else Outcome.PLACE_TAKEN


def _mark_here(connection: Connection, item: ReadMark) -> int:
    here = _MARKS.scope_id.in_(find_scopes(connection, [item.scope]))
    mark = select(_MARKS.ordinal).where(here, _MARKS.session == item.session)
    return connection.scalar(mark) or 0


def _stored(connection: Connection, table: Table, ident: str) -> tuple[Row, Scope] | None:
    for row in rows_of(connection, select(table).where(table.c.id == ident)):
        return row, scopes_by_id(connection, [row["scope_id"]])[row["scope_id"]]
    return None


# --- Everything that is exported, read scope after scope within one snapshot of the database ------

_PAGE_ROWS: Final = 200


def snapshot(connection: Connection, extent: Extent | None) -> Snapshot:
    """Return what the extent holds; with None all but what is being forgotten."""
    chosen = _Everything() if extent is None else _chosen(connection, extent)
    return Snapshot(
        schema=schema.HEAD_REVISION,
        counts=_counts(connection, chosen),
        items=_items(connection, chosen),
        blob=lambda archive: _blob_of(connection, archive),
    )


def histories(
    connection: Connection, rows: Sequence[Row], scopes: Mapping[int, Scope]
) -> Iterator[RecordHistory]:
    """Yield the records of these rows with their past versions."""
    table = schema.versions.c
    changed = [row["id"] for row in rows if row["version"] > 1]
    past: dict[str, list[Version]] = {}
    if changed:
        statement = select(schema.versions).where(table.record_id.in_(changed))
        for row in rows_of(connection, statement.order_by(table.record_id, table.version)):
            version = version_from(
                past_row(row["body"]), scopes[row["scope_id"]], row["replaced_at"]
            )
            past.setdefault(row["record_id"], []).append(version)
    for row in rows:
        current = version_from(row, scopes[row["scope_id"]], None)
        yield RecordHistory(versions=(*past.get(row["id"], ()), current))


class _Everything:
    """All scopes, in the order of their names, since their numbers differ between databases."""

    def whole(self, scope_id: Column[int]) -> ColumnElement[bool]:
        """Return the condition that everything of a scope is read."""
        return scope_id.not_in(NAMELESS_SCOPES)

    @property
    def records(self) -> ColumnElement[bool]:
        """That a record is read."""
        return self.whole(schema.records.c.scope_id)

    def scopes(self, connection: Connection) -> Iterator[tuple[int, Scope]]:
        table = schema.scopes.c
        key = (table.org, table.workspace, table.agent, table.user)
        named = select(schema.scopes).where(table.agent != FORGOTTEN_AGENT)
        for rows in _pages(connection, named, *key):
            scopes = scopes_by_id(connection, [row["id"] for row in rows])
            yield from ((row["id"], scopes[row["id"]]) for row in rows)


@dataclass(slots=True, kw_only=True)
class _Chosen(_Everything):
    """Some scopes, in the same order, and of some of them only the records about the user."""

    found: Mapping[int, Scope]
    profiles: Mapping[int, Scope]
    # Records that speak of the user now and did not always: nobody may bring them back.
    mixed: Sequence[str] = field(default=())

    def whole(self, scope_id: Column[int]) -> ColumnElement[bool]:
        return scope_id.in_(self.found)

    @property
    def records(self) -> ColumnElement[bool]:
        table = schema.records.c
        about_user = and_(_is_profile(self.profiles), table.id.not_in(self.mixed))
        return or_(self.whole(table.scope_id), about_user if self.profiles else false())

    def scopes(self, connection: Connection) -> Iterator[tuple[int, Scope]]:
        every = {**self.found, **self.profiles}.items()
        yield from sorted(every, key=lambda pair: tuple(scope_key(pair[1]).values()))


def _chosen(connection: Connection, extent: Extent) -> _Chosen:
    found = {
        **find_scopes(connection, extent.scopes),
        **collection_scopes(connection, extent.scopes),
    }
    profiles = find_scopes(connection, extent.profiles)
    versions = schema.versions.c
    past = (
        select(versions.record_id, versions.body)
        .join(schema.records, schema.records.c.id == versions.record_id)
        .where(_is_profile(profiles))
    )
    mixed = {
        row["record_id"]
        for row in (rows_of(connection, past) if profiles else ())
        if not is_user_profile(past_row(row["body"])["category"])
    }
    return _Chosen(found=found, profiles=profiles, mixed=sorted(mixed))


def _is_profile(scopes: Mapping[int, Scope]) -> ColumnElement[bool]:
    table = schema.records.c
    return and_(table.scope_id.in_(scopes), table.category.in_(sorted(with_aliases(USER_PROFILE))))


@dataclass(frozen=True, slots=True)
class _Part:
    """One kind of what is exported: the query for it, its order in a scope, and how it is read."""

    rows: Select[Any]
    table: Table
    order: tuple[str, ...]
    read: Callable[[Connection, Sequence[Row], Mapping[int, Scope]], Iterator[Item]]

    def count(self, connection: Connection) -> int:
        found = self.rows.with_only_columns(self.table.c.scope_id).subquery()
        return connection.scalar(select(func.count()).select_from(found)) or 0

    def items(self, connection: Connection, scope_id: int, scope: Scope) -> Iterator[Item]:
        of_scope = self.rows.where(self.table.c.scope_id == scope_id)
        for rows in _pages(connection, of_scope, *(self.table.c[name] for name in self.order)):
            yield from self.read(connection, rows, {scope_id: scope})


def _each(
    read: Callable[[Row, Scope], Item],
) -> Callable[[Connection, Sequence[Row], Mapping[int, Scope]], Iterator[Item]]:
    """Return a function that reads rows one by one."""
    return lambda _, rows, scopes: (read(row, scopes[row["scope_id"]]) for row in rows)


def _owners(chosen: _Everything) -> dict[str, _Part]:
    """Return the records, turns, archives and documents, as `ExportCounts` calls them."""

    def every(table: Table, order: tuple[str, ...], read: Callable[[Row, Scope], Item]) -> _Part:
        rows = select(table).where(chosen.whole(table.c.scope_id))
        return _Part(rows, table, order, _each(read))

    records = select(schema.records).where(chosen.records)
    return {
        "records": _Part(records, schema.records, ("observed_at", "id"), histories),
        "turns": every(schema.turns, ("session", "ordinal"), turn_from),
        "archives": every(schema.archives, ("created_at", "id"), archive_from),
        "documents": every(
            schema.documents,
            ("created_at", "id"),
            lambda row, scope: as_given(document_from(row, scope)),
        ),
    }


def _attached(chosen: _Everything) -> dict[str, _Part]:
    """Return what is about records and turns, as `ExportCounts` calls it."""
    conflicts, links = schema.conflicts.c, schema.links.c
    read = select(schema.records.c.id).where(chosen.records)
    ends = union_all(read, select(schema.turns.c.id).where(chosen.whole(schema.turns.c.scope_id)))

    def part(
        table: Table,
        order: tuple[str, ...],
        read: Callable[[Row, Scope], Item],
        *where: ColumnElement[bool],
    ) -> _Part:
        rows = READ_MARKS if table is schema.watermarks else select(table)
        return _Part(rows.where(chosen.whole(table.c.scope_id), *where), table, order, _each(read))

    by_time = ("created_at", "id")
    return {
        # One of its records may be of another scope, or be forgotten just now.
        "conflicts": part(
            schema.conflicts,
            by_time,
            conflict_from,
            *(conflicts.first_id.in_(read), conflicts.second_id.in_(read)),
        ),
        "links": part(
            schema.links,
            ("newer", "older"),
            link_from,
            *(links.newer.in_(ends), links.older.in_(ends)),
        ),
        "watermarks": part(schema.watermarks, ("session",), read_mark_from),
        "proposals": part(schema.proposals, by_time, proposal_from),
        "items": part(schema.items, ("position", "id"), item_from),
    }


def _counts(connection: Connection, chosen: _Everything) -> ExportCounts:
    parts = {**_owners(chosen), **_attached(chosen)}
    counts: dict[str, Any] = {name: part.count(connection) for name, part in parts.items()}
    past = select(schema.versions.c.scope_id).join(
        schema.records, schema.records.c.id == schema.versions.c.record_id
    )
    replaced = select(func.count()).select_from(past.where(chosen.records).subquery())
    versions = counts["records"] + (connection.scalar(replaced) or 0)
    return ExportCounts(versions=versions, **counts)


def _items(connection: Connection, chosen: _Everything) -> Iterator[Item]:
    for parts in (_owners(chosen), _attached(chosen)):
        for scope_id, scope in chosen.scopes(connection):
            for part in parts.values():
                yield from part.items(connection, scope_id, scope)


def _pages(
    connection: Connection, statement: Select[Any], *place: Column[Any]
) -> Iterator[Sequence[Row]]:
    """Pages of a query in the order of `place`, which no two rows share."""
    page = statement.order_by(*place).limit(_PAGE_ROWS)
    rows = rows_of(connection, page)
    while rows:
        yield rows
        after = [rows[-1][column.name] for column in place]
        rows = (
            rows_of(connection, page.where(tuple_(*place) > after))
            if len(rows) == _PAGE_ROWS
            else ()
        )


def _blob_of(connection: Connection, archive: Archive | Document) -> Blob:
    blob = find_blob(connection, archive.scope, archive.content_hash)
    assert blob is not None
    return blob


# --- Whole histories out of a SQL database and into it --------------------------------------------

T = TypeVar("T")


class SqlTransfer(OnDatabase):
    """Reads in one transaction, so that an export is one moment; writes a batch in one."""

    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database)
        self._clock = clock

    @reading
    def read(
        self, connection: Connection, extent: Extent | None, take: Callable[[Snapshot], T]
    ) -> T:
        """Run `take` in a thread on this extent, or on everything if None."""
        return take(snapshot(connection, extent))

    @writing
    def add(self, connection: Connection, arrivals: Sequence[Arrival]) -> Added:
        """Write the new items in one transaction, without changing existing content."""
        return _add(connection, arrivals, self._clock.now())

    @reading
    def preview(self, connection: Connection, arrivals: Sequence[Arrival]) -> list[Outcome]:
        """Return what would become of new records and items, without writing anything."""
        return _preview(connection, arrivals)


def _preview(connection: Connection, arrivals: Sequence[Arrival]) -> list[Outcome]:
    known = _known(connection, arrivals)
    return [
        _preview_attached(connection, arrival.item)
        if isinstance(arrival.item, Attached)
        else known.meet(arrival)
        for arrival in arrivals
    ]


def _preview_attached(connection: Connection, item: Attached) -> Outcome:
    if _is_forgotten(connection, item):
        return Outcome.FORGOTTEN
    table = schema.items
    is_here = isinstance(item, StoredItem) and _stored(connection, table, item.id) is not None
    return Outcome.UNCHANGED if is_here else Outcome.ADDED


def _add(connection: Connection, arrivals: Sequence[Arrival], now: datetime) -> Added:
    """Records, turns and archives first, then what is about them; told in the order given."""
    owners = [arrival for arrival in arrivals if not isinstance(arrival.item, Attached)]
    attached = [arrival.item for arrival in arrivals if isinstance(arrival.item, Attached)]
    added = add_owners(connection, owners, now)
    of_owners = iter(added.outcomes)
    of_attached = iter([add_attached(connection, item, now) for item in attached])
    outcomes = [
        next(of_attached if isinstance(arrival.item, Attached) else of_owners)
        for arrival in arrivals
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
        histories={
            history.current.id: history for history in histories(connection, record_rows, scopes)
        },
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
    """Return an archive as it was before anybody loaded it or told better what it says."""
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
