"""Documents, their sections and their chunks, as the knowledge base reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from recollect.domain.archive import Blob
from recollect.domain.document import Collection, Document, DocumentStatus, Section
from recollect.domain.page import Cursor
from recollect.domain.scope import Scope

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedChunk:
    """A chunk that a search found, with the section it stands in and its neighbours there.

    `neighbours` are the spans of the chunks around it, its own among them, in their order.
    """

    unit: int
    document: Document
    section: Section
    ordinal: int
    span: Span
    neighbours: tuple[Span, ...]


class Documents(Protocol):
    """The documents of the collections that somebody may read."""

    async def find(
        self,
        scopes: Sequence[Scope],
        *,
        ids: Sequence[str] | None = None,
        sources: Sequence[str] | None = None,
        status: DocumentStatus | None = None,
        after: Cursor | None = None,
        limit: int | None = None,
    ) -> list[Document]:
        """Return the documents of these collections, the last changed first."""
        ...

    async def collections(self, owners: Sequence[Scope]) -> list[Collection]:
        """Return the collections that belong to these keys, and what they hold."""
        ...

    async def sections(
        self, document_id: str, *, after: int = -1, limit: int | None = None
    ) -> list[Section]:
        """Return the sections of a document in their order."""
        ...

    async def chunk_spans(self, document_id: str, *, after: int, limit: int) -> list[Span]:
        """Return where the chunks with a number above `after` stand, in their order."""
        ...

    async def locate(self, units: Sequence[int], *, reach: int) -> dict[int, LocatedChunk]:
        """Return the chunks with these numbers, all from one snapshot; one that is gone is left
        out, and so is a summary."""
        ...

    async def pending(self, *, after: str, limit: int) -> list[Document]:
        """Return documents of all collections, by id, whose content waits to be read."""
        ...

    async def blob(self, scope: Scope, content_hash: str) -> Blob | None:
        """Return where the content with this hash lies, if the scope's workspace holds it."""
        ...
