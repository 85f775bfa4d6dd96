"""The knowledge base: documents that an agent can rely on."""

from __future__ import annotations

import tempfile
from datetime import datetime
from typing import Annotated, BinaryIO, Final, cast

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from recollect.domain.document import (
    DEFAULT_COLLECTION,
    DocumentStatus,
    DocumentType,
    collection_scope,
)
from recollect.domain.operation import Operation
from recollect.domain.scope import Role
from recollect.domain.views import Json, as_json
from recollect.errors import Conflict, InvalidInput
from recollect.server.answers import Answer, Scope
from recollect.server.bodies import Body, Several, described
from recollect.server.caller import CallersMemory
from recollect.server.idempotency import IdempotentRoute
from recollect.server.parameters import Limit, PageMark
from recollect.server.problems import problems
from recollect.server.uploads import IN_MEMORY, Upload, uploads

# --- What the routes of the knowledge base answer with --------------------------------------------


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


# --- The knowledge base: documents that an agent can rely on --------------------------------------

router = APIRouter(prefix="/v1/knowledge", tags=["knowledge"], route_class=IdempotentRoute)

_BINARY: Final = {"type": "string", "format": "binary"}
_FILE: Final = {"application/octet-stream": {"schema": _BINARY}}
_FILES: Final = {
    "multipart/form-data": {
        "schema": {
            "type": "object",
            "properties": {"file": {"type": "array", "items": _BINARY}},
            "required": ["file"],
        }
    }
}


class KnowledgeQuestion(Body):
    """What to look for in documents, and in which."""

    model_config = described({"query": "how much may a hotel cost?", "limit": 5})

    query: str
    collections: Several[str] | None = None
    types: Several[DocumentType] | None = None
    tags: Several[str] | None = None
    since: datetime | None = Field(default=None, description="changed at this time or later")
    until: datetime | None = None
    limit: int = Field(default=5, ge=1, le=100)
    min_score: float = 0.0
    max_tokens: int | None = Field(default=None, ge=1)


@router.put(
    "/documents",
    response_model=Document,
    responses=problems(409, 413),
    openapi_extra={"requestBody": {"required": True, "content": _FILE}},
)
async def add_document(
    memory: CallersMemory,
    request: Request,
    source: Annotated[str, Query(description="what the document is known by, with its ending")],
    collection: Annotated[str, Query(description="where to put it")] = DEFAULT_COLLECTION,
    title: Annotated[str, Query(description="default: the name of the file")] = "",
    tag: Annotated[list[str] | None, Query(description="repeatable")] = None,
    wait: Annotated[
        bool, Query(description="answer when it is read, not when it is stored")
    ] = True,
) -> Json:
    """Add a document, or the next version of the one with this source; the body is the file.

    An unchanged file changes nothing. Without `wait` it is read in the background: the document's
    `status` and `error` tell how that went.
    """
    most = memory.settings.knowledge.max_file_bytes
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as file:
        async for piece in request.stream():
            if file.tell() + len(piece) > most:
                raise _too_large(source, most)
            file.write(piece)
        added = await memory.knowledge.add(
            cast("BinaryIO", file),
            source,
            collection=collection,
            title=title,
            tags=tag or (),
            wait=wait,
        )
    return as_json(added)


@router.post(
    "",
    response_model=Uploaded,
    openapi_extra={"requestBody": {"required": True, "content": _FILES}},
)
@Operation("POST", "/v1/knowledge", "upload_documents", Role.WRITER, repeat="repeatable")
async def upload_documents(
    memory: CallersMemory,
    request: Request,
    collection: Annotated[str, Query(description="where to put them")] = DEFAULT_COLLECTION,
    tag: Annotated[list[str] | None, Query(description="repeatable")] = None,
    wait: Annotated[
        bool, Query(description="answer when they are read, not when they are stored")
    ] = False,
) -> Json:
    """Add files of a form, each known by its file name; one that is refused stops no other.

    Of each file the answer tells what became of it. Without `wait` they are read in the
    background: `status` and `error` of a document tell how that went.
    """
    # A name that cannot be is one problem of the request, not one of each file.
    collection_scope(memory.caller.scope, collection)
    most = memory.settings.knowledge.max_file_bytes
    items: list[Json] = []
    async for upload in uploads(request, most):
        try:
            _require_size(upload, most)
            document = await memory.knowledge.add(
                upload.content,
                upload.name,
                collection=collection,
                tags=tag or (),
                wait=wait,
            )
        except (InvalidInput, Conflict) as problem:
            told = {"document": None, "error": problem.message, "code": problem.code}
        else:
            code = "unreadable" if document.error else ""
            told = {"document": as_json(document), "error": document.error, "code": code}
        items.append({"source": upload.name, **told})
    return {"items": items}


@router.get("/documents", response_model=DocumentPage, responses=problems(404))
async def list_documents(
    memory: CallersMemory,
    collection: Annotated[str | None, Query(description="only of this collection")] = None,
    source: Annotated[str | None, Query(description="only what is known by this")] = None,
    status: Annotated[DocumentStatus | None, Query(description="only with this status")] = None,
    limit: Limit = 50,
    cursor: PageMark = None,
) -> Json:
    """List documents, the last changed first, a page at a time."""
    found = await memory.knowledge.list(
        collection=collection, source=source, status=status, limit=limit, cursor=cursor
    )
    return as_json(found)


@router.get("/documents/{document_id}", response_model=Document, responses=problems(404))
async def get_document(memory: CallersMemory, document_id: str) -> Json:
    """Read what is known of one document, without its text."""
    return as_json(await memory.knowledge.get(document_id))


@router.get("/documents/{document_id}/sections", response_model=Sections, responses=problems(404))
async def list_sections(
    memory: CallersMemory,
    document_id: str,
    after: Annotated[int, Query(description="the number of the last one that is known")] = -1,
    limit: Limit = 100,
) -> Json:
    """Read the sections of a document in their order, with their text."""
    return as_json(await memory.knowledge.sections(document_id, after=after, limit=limit))


@router.get("/documents/{document_id}/chunks", response_model=Chunks, responses=problems(404))
async def list_chunks(
    memory: CallersMemory,
    document_id: str,
    after: Annotated[int, Query(description="the number of the last one that is known")] = 0,
    limit: Limit = 100,
) -> Json:
    """Read the chunks that are searched, in their order."""
    return as_json(await memory.knowledge.chunks(document_id, after=after, limit=limit))


@router.get(
    "/documents/{document_id}/original",
    response_class=Response,
    responses={200: {"description": "The raw file", "content": _FILE}, **problems(404)},
)
async def load_original(memory: CallersMemory, document_id: str) -> Response:
    """Load the raw file as it was given."""
    data = await memory.knowledge.original(document_id)
    # A page that somebody else wrote must not run here.
    headers = {"Content-Disposition": "attachment", "X-Content-Type-Options": "nosniff"}
    return Response(data, media_type="application/octet-stream", headers=headers)


@router.post("/documents/{document_id}/retry", response_model=Document, responses=problems(404))
async def retry_document(memory: CallersMemory, document_id: str) -> Json:
    """Read a document again whose content waits or could not be read."""
    return as_json(await memory.knowledge.retry(document_id))


@router.post("/documents/{document_id}/archive", response_model=Document, responses=problems(404))
async def archive_document(memory: CallersMemory, document_id: str) -> Json:
    """Take a document out of the search and keep it."""
    return as_json(await memory.knowledge.archive(document_id))


@router.delete("/documents/{document_id}", response_model=Document, responses=problems(404))
async def delete_document(memory: CallersMemory, document_id: str) -> Json:
    """Remove a document, its chunks and its raw file for good."""
    return as_json(await memory.knowledge.delete(document_id))


@router.get("/collections", response_model=Collections)
async def list_collections(memory: CallersMemory) -> Json:
    """List the collections that this caller may read, and what they hold."""
    return as_json(await memory.knowledge.collections())


@router.post("/search", response_model=Passages, responses=problems(404, 413))
async def search_knowledge(memory: CallersMemory, body: KnowledgeQuestion) -> Json:
    """Find the passages that answer a question, each with its citation."""
    given = body.model_dump(exclude={"query"})
    return as_json(await memory.knowledge.search(body.query, **given))


def _require_size(upload: Upload, most: int) -> None:
    if upload.is_too_large:
        raise _too_large(upload.name, most)


def _too_large(name: str, most: int) -> InvalidInput:
    return InvalidInput(
        f"{name} has more than {most:,} bytes; it was not stored",
        code="file_too_large",
        hint="Split the file, or set knowledge.max_file_mb higher.",
    )
