"""The knowledge base as a caller sees it: which collections it may read and write."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from recollect.domain.document import (
    DEFAULT_COLLECTION,
    Document,
    Passages,
    collection_scope,
)
from recollect.domain.scope import Caller, Scope
from recollect.domain.sections import KnowledgeSettings
from recollect.errors import NotAllowed, NotFound
from recollect.knowledge.collections import ReadableCollections, writable_scopes
from recollect.knowledge.ingest import GivenFile, Ingested, Ingester, Originals, Tell
from recollect.knowledge.retrieval import Retriever

if TYPE_CHECKING:
    from recollect.knowledge.rows import SqlDocuments

_MAX_QUESTION_CHARS: Final = 2_000


@dataclass(eq=False)
class KnowledgeBase:
    """The services of the knowledge base, and the rules of access."""

    documents: SqlDocuments
    _collections: ReadableCollections
    originals: Originals
    ingester: Ingester
    retriever: Retriever
    _settings: KnowledgeSettings

    async def close(self) -> None:
        """Stop the process that reads files."""
        await self.ingester.close()

    async def scopes(self, caller: Caller, names: Iterable[str] | None = None) -> list[Scope]:
        """Return the scopes of the collections with these names that a caller may read."""
        return await self._collections.scopes(caller, names)

    async def document(self, caller: Caller, document_id: str) -> Document:
        """Return a document that the caller may read."""
        found = await self.documents.find(await self.scopes(caller), ids=[document_id])
        if not found:
            raise NotFound(
                f"There is no document {document_id!r}",
                code="unknown_document",
                hint="`recollect kb list` lists the documents with their ids.",
            )
        return found[0]

    async def own_document(self, caller: Caller, document_id: str) -> Document:
        """Return a document that the caller may change or delete."""
        document = await self.document(caller, document_id)
        if document.scope not in writable_scopes(caller, document.collection):
            raise NotAllowed(
                f"{caller.scope.key} may not change {document_id}; it was kept",
                hint="Only the owner of a collection may change its documents.",
            )
        return document

    async def passages(self, caller: Caller, question: str, *, max_tokens: int) -> Passages:
        """Return the passages that answer a question well enough for a prompt."""
        scopes = await self.scopes(caller)
        if not scopes:
            return Passages(passages=())
        return await self.retriever.search(
            scopes,
            question[:_MAX_QUESTION_CHARS],
            limit=self._settings.context_passages,
            min_score=self._settings.min_score,
            max_tokens=max_tokens,
        )

    async def add(
        self, caller: Caller, given: GivenFile, collection: str = DEFAULT_COLLECTION
    ) -> Ingested:
        """Store a file in a collection of the caller; it is read later."""
        scope = collection_scope(caller.scope, collection)
        return await self.ingester.add(scope, given, by=caller.principal)

    async def read(self, caller: Caller, document: Document, tell: Tell | None = None) -> Document:
        """Make pending content of a document searchable now."""
        return await self.ingester.read(document, by=caller.principal, tell=tell)
