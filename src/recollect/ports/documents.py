"""Reading documents, their sections and their passages for the knowledge base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from recollect.domain.archive import Blob
    from recollect.domain.document import Collection, Document, DocumentStatus, Section
    from recollect.domain.page import Cursor
    from recollect.domain.scope import Scope

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedChunk:
    """A passage that a search found, with its section and what stands beside it.

    `neighbours` are the spans of the passages around it, including its own, in order; `sections`
    are those that they stand in.
    """

    unit: int
    document: Document
    section: Section
    ordinal: int
    span: Span
    neighbours: tuple[Span, ...]
    sections: tuple[Section, ...]

    @property
    def place(self) -> tuple[str, int]:
        """Return the document and the section."""
        return self.document.id, self.section.ordinal


class Documents(Protocol):
    """Reads the documents of collections."""

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
        """Return the documents of these collections, last changed first."""
        ...

    async def scopes(self, owners: Sequence[Scope]) -> list[Scope]:
        """Return the scopes of the collections of these owners, without counting what they hold."""
        ...

    async def collections(self, owners: Sequence[Scope]) -> list[Collection]:
        """Return the collections of these scopes, and what they hold."""
        ...

    async def sections(
        self, document_id: str, *, after: int = -1, limit: int | None = None
    ) -> list[Section]:
        """Return the sections of a document in order."""
        ...

    async def chunk_spans(self, document_id: str, *, after: int, limit: int) -> list[Span]:
        """Return the spans of the passages with a number above `after`, in order."""
        ...

    async def locate(self, units: Sequence[int], *, reach: int) -> dict[int, LocatedChunk]:
        """Return the passages with these numbers from one snapshot.

        Missing ones and summaries are left out."""
        ...

    async def pending(self, *, after: str, limit: int) -> list[Document]:
        """Return documents of all collections whose content is not processed yet, by id."""
        ...

    async def blob(self, scope: Scope, content_hash: str) -> Blob | None:
        """Return the blob with this hash, if the scope's workspace has it."""
        ...
