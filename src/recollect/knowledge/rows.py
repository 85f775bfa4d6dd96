"""Documents and sections as rows, and the passages that a search found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import (
    Connection,
    and_,
    bindparam,
    exists,
    func,
    select,
    tuple_,
)

from recollect.backends.sql import schema
from recollect.backends.sql.archives import find_blob
from recollect.backends.sql.database import OnDatabase, reading, reading_quickly
from recollect.backends.sql.document_rows import (
    document_from,
    section_from,
    source_hash,
)
from recollect.backends.sql.portable import count_where, listed, listed_numbers
from recollect.backends.sql.prepared_statement import PreparedStatement
from recollect.backends.sql.rows import Row, rows_of, to_json
from recollect.backends.sql.scopes import collection_scopes, find_scopes, scopes_by_id
from recollect.domain.archive import Blob
from recollect.domain.document import (
    Collection,
    Document,
    DocumentStatus,
    Section,
    collection_name,
)
from recollect.domain.page import Cursor
from recollect.domain.scope import Scope
from recollect.ports.documents import LocatedChunk

_DOCUMENTS: Final = schema.documents
_SECTIONS: Final = schema.sections
_UNITS: Final = schema.units
_WITH_DOCUMENTS: Final = PreparedStatement(
    select(schema.scopes.c.id).where(
        schema.scopes.c.id.in_(listed_numbers("scopes")),
        exists().where(_DOCUMENTS.c.scope_id == schema.scopes.c.id),
    )
)


class SqlDocuments(OnDatabase):
    """Reads the documents of collections."""

    @reading
    def find(
        self,
        connection: Connection,
        scopes: Sequence[Scope],
        *,
        ids: Sequence[str] | None = None,
        sources: Sequence[str] | None = None,
        status: DocumentStatus | None = None,
        after: Cursor | None = None,
        limit: int | None = None,
    ) -> list[Document]:
        """Return the documents of these collections, last changed first."""
        table = _DOCUMENTS.c
        found = find_scopes(connection, scopes)
        wanted = select(_DOCUMENTS).where(table.scope_id.in_(list(found)))
        given: dict[str, Any] = {}
        if ids is not None:
            wanted = wanted.where(table.id.in_(listed("ids")))
            given["ids"] = to_json(list(ids))
        if sources is not None:
            wanted = wanted.where(table.source_hash.in_(listed("sources")))
            given["sources"] = to_json([source_hash(source) for source in sources])
        if status is not None:
            wanted = wanted.where(table.status == status)
        if after is not None:
            wanted = wanted.where(tuple_(table.updated_at, table.id) < (after.at, after.id))
        wanted = wanted.order_by(table.updated_at.desc(), table.id.desc()).limit(limit)
        rows = rows_of(connection, wanted, given)
        return [document_from(row, found[row["scope_id"]]) for row in rows]

    @reading_quickly
    def scopes(self, connection: Connection, owners: Sequence[Scope]) -> list[Scope]:
        """Return the scopes of the collections of these owners, without counting what they hold."""
        found = collection_scopes(connection, owners)
        filled = _WITH_DOCUMENTS.rows(connection, {"scopes": to_json(list(found))})
        return sorted((found[row["id"]] for row in filled), key=lambda scope: scope.key)

    @reading
    def collections(self, connection: Connection, owners: Sequence[Scope]) -> list[Collection]:
        """Return the collections of these scopes, and what they hold."""
        found = collection_scopes(connection, owners)
        table = _DOCUMENTS.c
        counted = (
            select(
                table.scope_id,
                func.count().label("documents"),
                func.sum(table.chunks).label("chunks"),
                func.sum(table.bytes).label("bytes"),
                count_where(table.error != "").label("failed"),
            )
            .where(table.scope_id.in_(list(found)))
            .group_by(table.scope_id)
        )
        collections = [
            Collection(
                name=collection_name(found[row.scope_id]),
                scope=found[row.scope_id],
                documents=row.documents,
                chunks=int(row.chunks),
                bytes=int(row.bytes),
                failed=row.failed,
            )
            for row in connection.execute(counted)
        ]
        return sorted(collections, key=lambda collection: collection.scope.key)

    @reading
    def sections(
        self, connection: Connection, document_id: str, *, after: int = -1, limit: int | None = None
    ) -> list[Section]:
        """Return the sections of a document in order."""
        table = _SECTIONS.c
        wanted = (
            select(_SECTIONS)
            .where(table.document_id == document_id, table.ordinal > after)
            .order_by(table.ordinal)
            .limit(limit)
        )
        return [section_from(row) for row in rows_of(connection, wanted)]

    @reading
    def locate(
        self, connection: Connection, units: Sequence[int], *, reach: int
    ) -> dict[int, LocatedChunk]:
        """Return the passages with these numbers from one snapshot.

        Missing ones and summaries are left out."""
        return _locate(connection, units, reach)

    @reading
    def pending(self, connection: Connection, *, after: str, limit: int) -> list[Document]:
        """Return documents of all collections whose content is not processed yet, by id."""
        table = _DOCUMENTS.c
        wanted = (
            select(_DOCUMENTS)
            .where(table.pending_hash != "", table.error == "", table.id > after)
            .order_by(table.id)
            .limit(limit)
        )
        rows = rows_of(connection, wanted)
        scopes = scopes_by_id(connection, {row["scope_id"] for row in rows})
        return [document_from(row, scopes[row["scope_id"]]) for row in rows]

    @reading
    def blob(self, connection: Connection, scope: Scope, content_hash: str) -> Blob | None:
        """Return the blob with this hash, if the scope's workspace has it."""
        return find_blob(connection, scope, content_hash)


_HIT: Final = _UNITS.alias("hit")
_NEAR: Final = _UNITS.alias("near")
_IS_HIT: Final = and_(
    _HIT.c.id.in_(listed_numbers("units")),
    _HIT.c.owner_kind == "document",
)
_IS_NEAR: Final = and_(
    _NEAR.c.owner_id == _HIT.c.owner_id,
    _NEAR.c.ordinal > 0,
    _NEAR.c.ordinal.between(
        _HIT.c.ordinal - bindparam("reach"), _HIT.c.ordinal + bindparam("reach")
    ),
)
# Each hit with itself and the chunks beside it.
_AROUND: Final = PreparedStatement(
    select(
        _HIT.c.id.label("unit"),
        _HIT.c.owner_id.label("document_id"),
        _HIT.c.ordinal.label("number"),
        _NEAR.c.ordinal,
        _NEAR.c.start,
        _NEAR.c.end,
    )
    .join_from(_HIT, _NEAR, _IS_NEAR)
    .where(_IS_HIT)
    .order_by(_NEAR.c.ordinal)
)
# The sections that each hit and its neighbours stand in, in order.
_SPAN: Final = (
    select(
        _HIT.c.id.label("unit"),
        _HIT.c.owner_id.label("owner_id"),
        func.min(_NEAR.c.start).label("first"),
        func.max(_NEAR.c.end).label("last"),
    )
    .join_from(_HIT, _NEAR, _IS_NEAR)
    .where(_IS_HIT)
    .group_by(_HIT.c.id, _HIT.c.owner_id)
    .subquery()
)
_SECTIONS_OF: Final = PreparedStatement(
    select(_SPAN.c.unit, _SECTIONS)
    .join_from(
        _SPAN,
        _SECTIONS,
        and_(
            _SECTIONS.c.document_id == _SPAN.c.owner_id,
            _SECTIONS.c.start < _SPAN.c.last,
            _SECTIONS.c.end > _SPAN.c.first,
        ),
    )
    .order_by(_SECTIONS.c.start)
)
_DOCUMENTS_BY_ID: Final = PreparedStatement(
    select(_DOCUMENTS).where(_DOCUMENTS.c.id.in_(listed("ids")))
)


def _locate(connection: Connection, units: Sequence[int], reach: int) -> dict[int, LocatedChunk]:
    given = {"units": to_json(list(units)), "reach": reach}
    around: dict[int, list[Row]] = {}
    for row in _AROUND.by_name(connection, given):
        around.setdefault(row["unit"], []).append(row)
    documents = _documents_by_id(connection, {rows[0]["document_id"] for rows in around.values()})
    sections: dict[int, list[Section]] = {}
    for row in _SECTIONS_OF.by_name(connection, given):
        sections.setdefault(row["unit"], []).append(section_from(row))
    located: dict[int, LocatedChunk] = {}
    for unit, rows in around.items():
        document, number = documents.get(rows[0]["document_id"]), rows[0]["number"]
        if document is None or not 0 < number <= document.chunks:
            continue
        # While an index is renewed, an owner has its chunks twice.
        spans = {
            (row["start"], row["end"]): row["ordinal"]
            for row in rows
            if row["ordinal"] <= document.chunks
        }
        span = next(span for span, ordinal in spans.items() if ordinal == number)
        located[unit] = LocatedChunk(
            unit=unit,
            document=document,
            section=next(it for it in sections[unit] if it.start <= span[0] < it.end),
            ordinal=number,
            span=span,
            neighbours=tuple(spans),
            sections=tuple(sections[unit]),
        )
    return located


def _documents_by_id(connection: Connection, ids: set[str]) -> dict[str, Document]:
    rows = _DOCUMENTS_BY_ID.by_name(connection, {"ids": to_json(sorted(ids))})
    scopes = scopes_by_id(connection, {row["scope_id"] for row in rows})
    return {row["id"]: document_from(row, scopes[row["scope_id"]]) for row in rows}
