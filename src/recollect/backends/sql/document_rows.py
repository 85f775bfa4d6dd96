"""Documents and sections as a commit writes them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, delete, insert, select, update

from recollect.backends.sql import schema
from recollect.backends.sql.archives import release_blob, take_blob
from recollect.backends.sql.rows import RowForm, rows_of
from recollect.domain.document import Document, DocumentChange, Section
from recollect.errors import Conflict, NotFound, StaleVersion

_DOCUMENTS: Final = schema.documents
_SECTIONS: Final = schema.sections


def put_document(
    connection: Connection, change: DocumentChange, scope_id: int, now: int
) -> tuple[str, ...]:
    """Write a document's next state; return the keys of blobs that nothing needs now."""
    document = change.document
    before = _current(connection, document, scope_id)
    unused: tuple[str, ...] = ()
    held = () if before is None else before.hashes
    for content in document.hashes:
        if content not in held:
            brought = change.blob
            unused += take_blob(
                connection,
                document.scope,
                content,
                brought if brought is not None and brought.hash == content else None,
                now,
            )
    source = {"source_hash": source_hash(document.source)}
    row = {**_DOCUMENT.row(document, scope_id), **source}
    if before is None:
        connection.execute(insert(_DOCUMENTS), row)
    else:
        same = _DOCUMENTS.c.id == document.id
        connection.execute(update(_DOCUMENTS).where(same).values(row))
    if change.sections is not None:
        _replace_sections(connection, document.id, change.sections)
    for content in held:
        if content not in document.hashes:
            unused += release_blob(connection, document.scope, content)
    return unused


def remove_document(connection: Connection, document: Document) -> tuple[str, ...] | None:
    """Delete a document; return the keys of blobs that nothing needs now, None if it was gone."""
    table = _DOCUMENTS.c
    for row in rows_of(connection, select(_DOCUMENTS).where(table.id == document.id)):
        current = document_from(row, document.scope)
        connection.execute(delete(_SECTIONS).where(_SECTIONS.c.document_id == document.id))
        connection.execute(delete(_DOCUMENTS).where(table.id == document.id))
        unused: tuple[str, ...] = ()
        for content in current.hashes:
            unused += release_blob(connection, document.scope, content)
        return unused
    return None


_DOCUMENT: Final = RowForm(Document, times=("created_at", "updated_at"), texts=("tags",))
document_from: Final = _DOCUMENT.value
_SECTION: Final = RowForm(Section, texts=("path",))
section_from: Final = _SECTION.value


def source_hash(source: str) -> str:
    """Return what a source is looked up by; the source itself is too long for an index."""
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()


def _current(connection: Connection, document: Document, scope_id: int) -> Document | None:
    """Return the state that is to be replaced, or None of a new document."""
    table = _DOCUMENTS.c
    wanted = select(_DOCUMENTS).where(table.id == document.id, table.scope_id == scope_id)
    for row in rows_of(connection, wanted):
        if row["version"] != document.version - 1:
            raise StaleVersion(
                f"{document.id} is at version {row['version']}, not {document.version - 1}",
                hint="Read the document again and repeat the change.",
            )
        return document_from(row, document.scope)
    if document.version > 1:
        raise NotFound(f"There is no document {document.id}")
    taken = select(table.id).where(
        table.scope_id == scope_id, table.source_hash == source_hash(document.source)
    )
    if (other := connection.scalar(taken)) is not None:
        raise Conflict(
            f"{document.source} is {other} already; nothing was stored",
            code="source_taken",
            hint="Add it again: a changed file becomes the next version of that document.",
        )
    return None


def _replace_sections(
    connection: Connection, document_id: str, sections: Sequence[Section]
) -> None:
    connection.execute(delete(_SECTIONS).where(_SECTIONS.c.document_id == document_id))
    rows = [{"document_id": document_id, **_SECTION.row(section)} for section in sections]
    if rows:
        connection.execute(insert(_SECTIONS), rows)
