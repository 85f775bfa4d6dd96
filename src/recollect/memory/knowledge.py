"""`memory.knowledge`: documents that an agent can rely on."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from recollect.domain.document import (
    DEFAULT_COLLECTION,
    Chunk,
    Collection,
    Document,
    DocumentStatus,
    Passages,
    Section,
    SyncedFolder,
    collection_scope,
)
from recollect.domain.fields import MAX_CONTENT, checked_items, checked_text
from recollect.domain.job import Progress
from recollect.domain.operation import Operation
from recollect.domain.page import Cursor, Page, PageWanted
from recollect.domain.scope import Caller, Role, Scope
from recollect.domain.times import to_micros

if TYPE_CHECKING:
    from recollect.assemble.container import Wiring


class KnowledgeDocuments:
    """The documents that this caller may read, in collections, and may add to."""

    def __init__(self, parts: Wiring, caller: Caller) -> None:
        self._parts = parts
        self._caller = caller

    @property
    def _owner(self) -> Scope:
        """Return the scope whose collections this caller adds to."""
        return self._caller.scope

    @Operation(
        "PUT",
        "/v1/knowledge/documents",
        "add_document",
        Role.WRITER,
        repeat="repeatable",
        command="kb add",
    )
    async def add(
        self,
        content: bytes | str | BinaryIO,
        source: str,
        *,
        collection: str = DEFAULT_COLLECTION,
        title: str = "",
        tags: Iterable[str] = (),
        wait: bool = True,
        progress: Progress | None = None,
    ) -> Document:
        """Add a document, or the next version of the one with this source.

        An open file is read piece by piece. Adding unchanged content changes nothing. Without
        `wait` the document is read in the background, and its status says how that went.
        """
        from recollect.knowledge.ingest import GivenFile

        given = GivenFile(
            source=source,
            content=as_file(content),
            title=title,
            tags=tuple(checked_items(tags, "tags")),
        )
        base = self._parts.knowledge
        added = await base.add(self._caller, given, collection)
        if not wait or not added.document.pending_hash:
            return added.document
        return await base.read(self._caller, added.document, progress)

    async def sync(
        self,
        folder: str | Path,
        *,
        collection: str = DEFAULT_COLLECTION,
        tags: Iterable[str] = (),
        archive: bool = True,
        progress: Progress | None = None,
    ) -> SyncedFolder:
        """Bring a collection to the state of a local file or folder.

        New files are added and changed ones updated; with `archive`, documents whose files are gone
        are archived. A file that cannot be read does not stop the others.
        """
        from recollect.knowledge.folder_sync import FolderSync

        scope = collection_scope(self._owner, collection)
        sync = FolderSync(self, scope, tuple(checked_items(tags, "tags")), progress)
        return await sync.run(folder, archive=archive)

    @Operation(
        "GET", "/v1/knowledge/collections", "list_collections", Role.READER, command="kb stats"
    )
    async def collections(self) -> tuple[Collection, ...]:
        """Return the collections that this caller may read, with counts."""
        return tuple(await self._parts.collections.all(self._caller))

    @Operation("GET", "/v1/knowledge/documents", "list_documents", Role.READER, command="kb ls")
    async def list(
        self,
        *,
        collection: str | None = None,
        source: str | None = None,
        status: DocumentStatus | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Document]:
        """Return a page of the documents of one collection or of all, last changed first.

        With `source`, only those that are known by it.
        """
        base = self._parts.knowledge
        page = PageWanted(limit=limit, cursor=cursor)
        names = None if collection is None else [collection]
        found = await base.documents.find(
            await base.scopes(self._caller, names),
            sources=None if source is None else [source],
            status=status,
            after=page.after,
            limit=page.one_more,
        )
        return page.of(
            [
                (Cursor(at=to_micros(document.updated_at), id=document.id), document)
                for document in found
            ]
        )

    @Operation(
        "GET",
        "/v1/knowledge/documents/{document_id}",
        "get_document",
        Role.READER,
        command="kb show",
    )
    async def get(self, document_id: str) -> Document:
        """Return a document without its text."""
        return await self._parts.knowledge.document(self._caller, document_id)

    @Operation(
        "GET",
        "/v1/knowledge/documents/{document_id}/sections",
        "list_sections",
        Role.READER,
        command="kb show",
    )
    async def sections(
        self, document_id: str, *, after: int = -1, limit: int = 100
    ) -> tuple[Section, ...]:
        """Return the sections of a document in order, with their text."""
        document = await self.get(document_id)
        documents = self._parts.knowledge.documents
        return tuple(await documents.sections(document.id, after=after, limit=limit))

    @Operation(
        "GET",
        "/v1/knowledge/documents/{document_id}/chunks",
        "list_chunks",
        Role.READER,
        command="kb show",
    )
    async def chunks(
        self, document_id: str, *, after: int = 0, limit: int = 100
    ) -> tuple[Chunk, ...]:
        """Return the chunks of a document in order, beginning after the number `after`."""
        from recollect.knowledge.splitting import split_chunks

        document = await self.get(document_id)
        sections = await self._parts.knowledge.documents.sections(document.id)
        chunks = split_chunks(sections, document.type)
        return tuple(chunk for chunk in chunks if chunk.ordinal > after)[:limit]

    @Operation(
        "GET", "/v1/knowledge/documents/{document_id}/original", "load_original", Role.READER
    )
    async def original(self, document_id: str) -> bytes:
        """Return the original file."""
        document = await self.get(document_id)
        content = document.content_hash or document.pending_hash
        return await self._parts.knowledge.originals.read(document.scope, content)

    @Operation(
        "POST",
        "/v1/knowledge/search",
        "search_knowledge",
        Role.READER,
        repeat="read",
        command="kb search",
        tool="knowledge_search",
    )
    async def search(
        self,
        query: str,
        *,
        collections: str | Iterable[str] | None = None,
        types: str | Iterable[str] | None = None,
        tags: str | Iterable[str] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 5,
        min_score: float = 0.0,
        max_tokens: int | None = None,
    ) -> Passages:
        """Return the passages that answer a question, each with its citation."""
        from recollect.knowledge.retrieval import make_filter

        checked_text(query, "query", MAX_CONTENT)
        base = self._parts.knowledge
        names = None if collections is None else _several(collections, "collections")
        where = make_filter(
            types=_several(types, "types"),
            tags=_several(tags, "tags"),
            since=since,
            until=until,
        )
        return await base.retriever.search(
            await base.scopes(self._caller, names),
            query,
            limit=limit,
            min_score=min_score,
            max_tokens=max_tokens,
            where=where,
        )

    @Operation(
        "POST",
        "/v1/knowledge/documents/{document_id}/archive",
        "archive_document",
        Role.WRITER,
        repeat="repeatable",
    )
    async def archive(self, document_id: str) -> Document:
        """Archive a document, so that no search finds it; adding it again restores it."""
        base = self._parts.knowledge
        document = await base.own_document(self._caller, document_id)
        return await base.ingester.archive(document, by=self._caller.principal)

    @Operation(
        "DELETE",
        "/v1/knowledge/documents/{document_id}",
        "delete_document",
        Role.WRITER,
        command="kb rm",
    )
    async def delete(self, document_id: str) -> Document:
        """Delete a document, its chunks and its original file for good."""
        base = self._parts.knowledge
        document = await base.own_document(self._caller, document_id)
        await base.ingester.remove([document], by=self._caller.principal)
        return document

    @Operation(
        "POST",
        "/v1/knowledge/documents/{document_id}/retry",
        "retry_document",
        Role.WRITER,
        repeat="repeatable",
        patient=True,
    )
    async def retry(self, document_id: str) -> Document:
        """Read a document again whose content is pending or could not be read."""
        base = self._parts.knowledge
        document = await base.own_document(self._caller, document_id)
        return await base.read(self._caller, document)


def as_file(content: bytes | str | BinaryIO) -> BinaryIO:
    """Return content as a file to read from."""
    if isinstance(content, str):
        return BytesIO(content.encode())
    return BytesIO(content) if isinstance(content, bytes) else content


def _several(given: str | Iterable[str] | None, name: str) -> tuple[str, ...]:
    if given is None:
        return ()
    return (given,) if isinstance(given, str) else tuple(checked_items(given, name))
