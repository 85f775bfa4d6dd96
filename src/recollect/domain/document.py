"""A document of the knowledge base: a file as it was given, its sections and its passages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import ClassVar, Final, Literal, get_args, overload

from recollect.domain.archive import Blob
from recollect.domain.scope import COLLECTION_MARK, Scope
from recollect.errors import InvalidInput

DocumentStatus = Literal["pending", "ready", "failed", "archived"]
DocumentType = Literal[
    "markdown", "text", "html", "code", "json", "csv", "pdf", "docx", "pptx", "xlsx"
]

DOCUMENT_TYPES: Final[tuple[DocumentType, ...]] = get_args(DocumentType)
DEFAULT_COLLECTION: Final = "documents"
INGEST_DOCUMENT: Final = "ingest_document"
MAX_SOURCE: Final = 1_000
MAX_HEADING: Final = 200
MAX_COLLECTION: Final = 40
# No setting allows more: text is split and embedded in memory.
MAX_FILE_BYTES: Final = 2**30
# A column of text holds 65,535 bytes everywhere, and a character takes at most four.
MAX_SECTION_CHARACTERS: Final = 16_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file of a collection, without its text.

    `content_hash` names the raw content that is searched, `pending_hash` content that is not read
    yet; until it is, the earlier version is searched. `error` says why the last attempt failed.
    """

    DERIVED: ClassVar = ("collection",)

    id: str
    scope: Scope
    source: str
    title: str
    type: DocumentType
    tags: tuple[str, ...] = ()
    status: DocumentStatus = "pending"
    error: str = ""
    content_hash: str = ""
    pending_hash: str = ""
    bytes: int = 0
    chars: int = 0
    sections: int = 0
    chunks: int = 0
    summary: str = ""
    version: int = 1
    created_at: datetime
    updated_at: datetime

    @property
    def collection(self) -> str:
        """Return the name of the collection the document belongs to."""
        return collection_name(self.scope)

    @property
    def hashes(self) -> tuple[str, ...]:
        """Return the hashes of the blobs that this document needs."""
        return tuple(dict.fromkeys(filter(None, (self.content_hash, self.pending_hash))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of a document under one heading. Together the sections are the whole text."""

    ordinal: int
    level: int
    path: tuple[str, ...]
    """Its heading and those above it, outermost first."""
    page: int | None
    start: int
    end: int
    text: str
    summary: str = ""

    @property
    def title(self) -> str:
        return self.path[-1] if self.path else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A passage that is searched on its own: characters `start` to `end` of the text."""

    ordinal: int
    section: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentChange:
    """The next state of a document. If `sections` is given, it replaces all sections.

    `blob` is the new content, unless the workspace already has it.
    """

    document: Document
    sections: tuple[Section, ...] | None = None
    blob: Blob | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """A named set of documents, and what it holds."""

    name: str
    scope: Scope
    documents: int
    chunks: int
    bytes: int
    failed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """The location of a passage, which is enough to find it again in the raw file."""

    document: str
    collection: str
    title: str
    source: str
    path: tuple[str, ...]
    page: int | None
    start: int
    end: int
    content_hash: str

    @property
    def label(self) -> str:
        """Return the citation in one line: title, headings, page, characters."""
        parts = [self.title, *self.path[-2:]]
        if self.page is not None:
            parts.append(f"p. {self.page}")
        return " › ".join(dict.fromkeys(filter(None, parts)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A part of a document that answers a question, with the text around it.

    `matched` are the spans that were found, `score` is a similarity from 0 to 1.
    """

    content: str
    score: float
    citation: Citation
    type: DocumentType
    matched: tuple[tuple[int, int], ...]
    explanation: dict[str, float] = field(default_factory=dict[str, float], hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages(Sequence[Passage]):
    """The passages of one search, best first, and what was degraded."""

    passages: tuple[Passage, ...]
    queries: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()

    @overload
    def __getitem__(self, index: int) -> Passage: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Passage, ...]: ...
    def __getitem__(self, index: int | slice) -> Passage | tuple[Passage, ...]:
        return self.passages[index]

    def __len__(self) -> int:
        return len(self.passages)

    def __iter__(self) -> Iterator[Passage]:
        return iter(self.passages)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOutcome:
    """The outcome for one file of a synchronised folder."""

    source: str
    outcome: Literal["added", "updated", "unchanged", "skipped", "failed"]
    """`skipped` is a file of a folder whose type cannot be read."""
    document: str | None
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncedFolder:
    """The outcome for each file of a folder, and the documents whose files are gone."""

    files: tuple[FileOutcome, ...]
    archived: tuple[str, ...] = ()

    def count(self, outcome: str) -> int:
        """Return the number of files with this outcome."""
        return sum(file.outcome == outcome for file in self.files)


def as_given(document: Document) -> Document:
    """Return a document as it was before it was processed, which is what an export holds.

    The importing side processes the raw file again.
    """
    return replace(
        document,
        status="archived" if document.status == "archived" else "pending",
        error="",
        content_hash=document.pending_hash or document.content_hash,
        pending_hash="",
        chars=0,
        sections=0,
        chunks=0,
        summary="",
        version=1,
    )


def is_document_id(text: str) -> bool:
    """Return whether a text names a document."""
    return text.startswith("doc_")


def collection_scope(owner: Scope, name: str) -> Scope:
    """Return the scope of a collection of this owner; it is reserved, so no caller can have it."""
    if not name.strip() or len(name) > MAX_COLLECTION or "@" in name or name != name.strip():
        raise InvalidInput(
            f"{name!r} is not a valid collection name",
            code="bad_collection",
            hint=f"Use 1 to {MAX_COLLECTION} characters without '@' and '/'.",
        )
    agent = f"{COLLECTION_MARK}{name}"
    return replace(owner, agent=agent if owner.agent is None else f"{agent}@{owner.agent}")


def collection_name(scope: Scope) -> str:
    """Return the name of the collection with this scope."""
    return (scope.agent or "").removeprefix(COLLECTION_MARK).partition("@")[0]


def collection_owner(scope: Scope) -> Scope:
    """Return the scope of the owner of the collection with this scope."""
    owner = (scope.agent or "").partition("@")[2]
    return replace(scope, agent=owner or None)
