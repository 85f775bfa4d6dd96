"""Everything that is exported, read scope after scope within one snapshot of the database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Select,
    and_,
    false,
    func,
    or_,
    select,
    tuple_,
    union_all,
)

from recollect.backends.sql import schema
from recollect.backends.sql.archives import archive_from
from recollect.backends.sql.attached_rows import conflict_from, link_from, proposal_from
from recollect.backends.sql.documents import document_from
from recollect.backends.sql.erasers_find import FORGOTTEN_AGENT
from recollect.backends.sql.items import item_from
from recollect.backends.sql.rows import (
    Row,
    past_row,
    rows_of,
    scope_key,
    turn_from,
    version_from,
)
from recollect.backends.sql.scopes import collection_scopes, find_scopes, scopes_by_id
from recollect.backends.sql.transfer_attached import (
    READ_MARKS,
    read_mark_from,
)
from recollect.domain.archive import Archive, Blob
from recollect.domain.document import Document, as_given
from recollect.domain.record import USER_PROFILE, Version, is_user_profile, with_aliases
from recollect.domain.scope import Scope
from recollect.domain.transfer import Attached, ExportCounts, Item, RecordHistory
from recollect.ports.transfer import Extent, Snapshot

_PAGE: Final = 200
_FORGOTTEN: Final = select(schema.scopes.c.id).where(schema.scopes.c.agent == FORGOTTEN_AGENT)


def snapshot(connection: Connection, extent: Extent | None) -> Snapshot:
    """What the extent holds; with None all but what is being forgotten."""
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
    """The records of these rows with their past versions."""
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
        """That everything of a scope is read."""
        return scope_id.not_in(_FORGOTTEN)

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


def _counts(connection: Connection, chosen: _Everything) -> ExportCounts:
    def count(statement: Select[Any]) -> int:
        return connection.scalar(select(func.count()).select_from(statement.subquery())) or 0

    records, turns, archives = schema.records.c, schema.turns.c, schema.archives.c
    documents = schema.documents.c
    current = count(select(records.id).where(chosen.records))
    past = select(records.id).join(schema.versions, schema.versions.c.record_id == records.id)
    attached = _attached(chosen)
    return ExportCounts(
        records=current,
        versions=current + count(past.where(chosen.records)),
        turns=count(select(turns.id).where(chosen.whole(turns.scope_id))),
        archives=count(select(archives.id).where(chosen.whole(archives.scope_id))),
        documents=count(select(documents.id).where(chosen.whole(documents.scope_id))),
        conflicts=count(attached.conflicts),
        links=count(attached.links),
        watermarks=count(attached.marks),
        proposals=count(attached.proposals),
        items=count(attached.items),
    )


def _items(connection: Connection, chosen: _Everything) -> Iterator[Item]:
    for scope_id, scope in chosen.scopes(connection):
        yield from _owners(connection, chosen, scope_id, scope)
    for scope_id, scope in chosen.scopes(connection):
        yield from _about_them(connection, _attached(chosen), scope_id, scope)


def _owners(
    connection: Connection, chosen: _Everything, scope_id: int, scope: Scope
) -> Iterator[Item]:
    scopes = {scope_id: scope}
    records = schema.records.c
    of_scope = select(schema.records).where(records.scope_id == scope_id, chosen.records)
    for rows in _pages(connection, of_scope, records.observed_at, records.id):
        yield from histories(connection, rows, scopes)
    turns = schema.turns.c
    of_scope = select(schema.turns).where(turns.scope_id == scope_id, chosen.whole(turns.scope_id))
    for rows in _pages(connection, of_scope, turns.session, turns.ordinal):
        yield from (turn_from(row, scope) for row in rows)
    archives = schema.archives.c
    of_scope = select(schema.archives).where(
        archives.scope_id == scope_id, chosen.whole(archives.scope_id)
    )
    for rows in _pages(connection, of_scope, archives.created_at, archives.id):
        yield from (archive_from(row, scope) for row in rows)
    documents = schema.documents.c
    of_scope = select(schema.documents).where(
        documents.scope_id == scope_id, chosen.whole(documents.scope_id)
    )
    for rows in _pages(connection, of_scope, documents.created_at, documents.id):
        yield from (as_given(document_from(row, scope)) for row in rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attached:
    """The queries for what is about records and turns."""

    conflicts: Select[Any]
    links: Select[Any]
    marks: Select[Any]
    proposals: Select[Any]
    items: Select[Any]


def _attached(chosen: _Everything) -> _Attached:
    conflicts, links, proposals = schema.conflicts.c, schema.links.c, schema.proposals.c
    read = select(schema.records.c.id).where(chosen.records)
    turns = select(schema.turns.c.id).where(chosen.whole(schema.turns.c.scope_id))
    ends = union_all(read, turns)
    return _Attached(
        # One of its records may be of another scope, or be forgotten just now.
        conflicts=select(schema.conflicts).where(
            chosen.whole(conflicts.scope_id),
            conflicts.first_id.in_(read),
            conflicts.second_id.in_(read),
        ),
        links=select(schema.links).where(
            chosen.whole(links.scope_id), links.newer.in_(ends), links.older.in_(ends)
        ),
        marks=READ_MARKS.where(chosen.whole(schema.watermarks.c.scope_id)),
        proposals=select(schema.proposals).where(chosen.whole(proposals.scope_id)),
        items=select(schema.items).where(chosen.whole(schema.items.c.scope_id)),
    )


def _about_them(
    connection: Connection, attached: _Attached, scope_id: int, scope: Scope
) -> Iterator[Attached]:
    conflicts, marks, proposals = schema.conflicts.c, schema.watermarks.c, schema.proposals.c
    of_scope = attached.conflicts.where(conflicts.scope_id == scope_id)
    for rows in _pages(connection, of_scope, conflicts.created_at, conflicts.id):
        yield from (conflict_from(row, scope) for row in rows)
    links = schema.links.c
    of_scope = attached.links.where(links.scope_id == scope_id)
    for rows in _pages(connection, of_scope, links.newer, links.older):
        yield from (link_from(row, scope) for row in rows)
    of_scope = attached.marks.where(marks.scope_id == scope_id)
    for rows in _pages(connection, of_scope, marks.session):
        yield from (read_mark_from(row, scope) for row in rows)
    of_scope = attached.proposals.where(proposals.scope_id == scope_id)
    for rows in _pages(connection, of_scope, proposals.created_at, proposals.id):
        yield from (proposal_from(row, scope) for row in rows)
    items = schema.items.c
    of_scope = attached.items.where(items.scope_id == scope_id)
    for rows in _pages(connection, of_scope, items.position, items.id):
        yield from (item_from(row, scope) for row in rows)


def _pages(
    connection: Connection, statement: Select[Any], *place: Column[Any]
) -> Iterator[Sequence[Row]]:
    """Pages of a query in the order of `place`, which no two rows share."""
    page = statement.order_by(*place).limit(_PAGE)
    rows = rows_of(connection, page)
    while rows:
        yield rows
        after = [rows[-1][column.name] for column in place]
        rows = rows_of(connection, page.where(tuple_(*place) > after)) if len(rows) == _PAGE else ()


def _blob_of(connection: Connection, archive: Archive | Document) -> Blob:
    blobs, scope = schema.blobs.c, archive.scope
    its = (
        blobs.org == scope.org,
        blobs.workspace == scope.workspace,
        blobs.hash == archive.content_hash,
    )
    (row,) = rows_of(connection, select(schema.blobs).where(*its))
    return Blob(
        hash=row["hash"],
        key=row["key"],
        size=row["size"],
        stored_size=row["stored_size"],
        stored_hash=row["stored_hash"],
    )
