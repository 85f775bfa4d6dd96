"""What the routes of the knowledge base answer with."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from recollect.domain.document import DocumentStatus, DocumentType
from recollect.server.answers import Answer, Scope


class Document(Answer):
    """A file of a collection, without its text."""

    collection: str
    id: str
    scope: Scope
    source: str = Field(description="what it is known by: a path, an address or a name")
    title: str
    type: DocumentType
    tags: list[str]
    status: DocumentStatus
    error: str = Field(description="why the last attempt to read it failed; empty if it did not")
    content_hash: str = Field(description="SHA-256 of the raw file that answers")
    pending_hash: str = Field(description="of the raw file that waits to be read; empty if none")
    bytes: int
    chars: int
    sections: int
    chunks: int
    summary: str
    version: int
    created_at: datetime
    updated_at: datetime


class UploadedFile(Answer):
    """What became of one file of an upload."""

    source: str
    document: Document | None = Field(description="null if the file was refused")
    error: str = Field(description="why it was refused or could not be read; empty if neither")
    code: str = Field(description="of the error")


class Uploaded(Answer):
    """What became of the files of an upload, in their order."""

    items: list[UploadedFile]


class DocumentPage(Answer):
    """A page of documents."""

    items: list[Document]
    next_cursor: str | None = Field(description="send it as `cursor`; null on the last page")


class Section(Answer):
    """A stretch of a document under one heading."""

    ordinal: int
    level: int
    path: list[str] = Field(description="the headings above it and its own, outermost first")
    page: int | None
    start: int
    end: int
    text: str
    summary: str


class Sections(Answer):
    """Sections in their order."""

    items: list[Section]


class Chunk(Answer):
    """What is searched as one piece."""

    ordinal: int
    section: int
    start: int
    end: int
    text: str


class Chunks(Answer):
    """Chunks in their order."""

    items: list[Chunk]


class Collection(Answer):
    """A set of documents that is searched as one."""

    name: str
    scope: Scope
    documents: int
    chunks: int
    bytes: int
    failed: int = Field(description="documents whose last attempt to be read failed")


class Collections(Answer):
    """The collections that a caller may read."""

    items: list[Collection]


class Citation(Answer):
    """Where a passage stands."""

    document: str
    collection: str
    title: str
    source: str
    path: list[str]
    page: int | None
    start: int = Field(description="its first character in the document's text")
    end: int
    content_hash: str


class Passage(Answer):
    """A part of a document that answers a question."""

    content: str
    score: float
    citation: Citation
    type: DocumentType
    matched: list[tuple[int, int]] = Field(description="the stretches that were found")
    explanation: dict[str, float]


class Passages(Answer):
    """Passages, best first."""

    passages: list[Passage]
    queries: list[str] = Field(description="what was searched for")
    degraded: list[str] = Field(description="what kept the search from finding more")
