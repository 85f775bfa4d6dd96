"""The knowledge base: documents that an agent can rely on."""

from __future__ import annotations

import tempfile
from datetime import datetime
from typing import Annotated, BinaryIO, Final, cast

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from recollect.domain.document import (
    DEFAULT_COLLECTION,
    Chunk,
    Collection,
    Document,
    DocumentStatus,
    DocumentType,
    Passages,
    Section,
    collection_scope,
)
from recollect.domain.operation import Operation
from recollect.domain.page import Page
from recollect.domain.scope import Role
from recollect.domain.views import Items
from recollect.errors import Conflict, InvalidInput
from recollect.server.bodies import Body, Several, described
from recollect.server.caller import CallersMemory
from recollect.server.idempotency import IdempotentRoute
from recollect.server.parameters import Limit, Paged
from recollect.server.problems import problems
from recollect.server.uploads import IN_MEMORY, uploads

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


class UploadedFile(BaseModel):
    """The result for one file of an upload."""

    source: str
    document: Document | None = Field(description="null if the file was refused")
    error: str = Field(description="why it was refused or could not be read; empty if neither")
    code: str = Field(description="of the error")


class KnowledgeQuestion(Body):
    """A search in documents."""

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
    responses=problems(409, 413),
    openapi_extra={"requestBody": {"required": True, "content": _FILE}},
)
async def add_document(
    memory: CallersMemory,
    request: Request,
    source: Annotated[str, Query(description="the document's source, with its file extension")],
    collection: Annotated[str, Query(description="where to put it")] = DEFAULT_COLLECTION,
    title: Annotated[str, Query(description="default: the name of the file")] = "",
    tag: Annotated[list[str] | None, Query(description="repeatable")] = None,
    wait: Annotated[bool, Query(description="wait until it is read, not only stored")] = True,
) -> Document:
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
        return await memory.knowledge.add(
            cast("BinaryIO", file),
            source,
            collection=collection,
            title=title,
            tags=tag or (),
            wait=wait,
        )


@router.post("", openapi_extra={"requestBody": {"required": True, "content": _FILES}})
@Operation("POST", "/v1/knowledge", "upload_documents", Role.WRITER, repeat="repeatable")
async def upload_documents(
    memory: CallersMemory,
    request: Request,
    collection: Annotated[str, Query(description="where to put them")] = DEFAULT_COLLECTION,
    tag: Annotated[list[str] | None, Query(description="repeatable")] = None,
    wait: Annotated[bool, Query(description="wait until they are read, not only stored")] = False,
) -> Items[UploadedFile]:
    """Add the files of a form; a refused file does not stop the others.

    The response has a result for each file. Without `wait` they are read in the
    background: `status` and `error` of a document tell how that went.
    """
    # A name that cannot be is one problem of the request, not one of each file.
    collection_scope(memory.caller.scope, collection)
    most = memory.settings.knowledge.max_file_bytes
    items: list[UploadedFile] = []
    async for upload in uploads(request, most):
        try:
            if upload.is_too_large:
                raise _too_large(upload.name, most)
            document = await memory.knowledge.add(
                upload.content,
                upload.name,
                collection=collection,
                tags=tag or (),
                wait=wait,
            )
        except (InvalidInput, Conflict) as problem:
            document, error, code = None, problem.message, problem.code
        else:
            error, code = document.error, "unreadable" if document.error else ""
        items.append(UploadedFile(source=upload.name, document=document, error=error, code=code))
    return Items(items=items)


@router.get("/documents", responses=problems(404))
async def list_documents(
    page: Paged,
    memory: CallersMemory,
    collection: Annotated[str | None, Query(description="only of this collection")] = None,
    source: Annotated[str | None, Query(description="only with this source")] = None,
    status: Annotated[DocumentStatus | None, Query(description="only with this status")] = None,
) -> Page[Document]:
    """List documents, last changed first."""
    return await memory.knowledge.list(collection=collection, source=source, status=status, **page)


@router.get("/documents/{document_id}", responses=problems(404))
async def get_document(memory: CallersMemory, document_id: str) -> Document:
    """Return one document without its text."""
    return await memory.knowledge.get(document_id)


@router.get("/documents/{document_id}/sections", responses=problems(404))
async def list_sections(
    memory: CallersMemory,
    document_id: str,
    after: Annotated[
        int, Query(description="the number of the last one on the previous page")
    ] = -1,
    limit: Limit = 100,
) -> Items[Section]:
    """List the sections of a document in order, with their text."""
    return Items(items=await memory.knowledge.sections(document_id, after=after, limit=limit))


@router.get("/documents/{document_id}/chunks", responses=problems(404))
async def list_chunks(
    memory: CallersMemory,
    document_id: str,
    after: Annotated[int, Query(description="the number of the last one on the previous page")] = 0,
    limit: Limit = 100,
) -> Items[Chunk]:
    """List the chunks of a document in order."""
    return Items(items=await memory.knowledge.chunks(document_id, after=after, limit=limit))


@router.get(
    "/documents/{document_id}/original",
    response_class=Response,
    responses={200: {"description": "The raw file", "content": _FILE}, **problems(404)},
)
async def load_original(memory: CallersMemory, document_id: str) -> Response:
    """Return the original file."""
    data = await memory.knowledge.original(document_id)
    # A page that somebody else wrote must not run here.
    headers = {"Content-Disposition": "attachment", "X-Content-Type-Options": "nosniff"}
    return Response(data, media_type="application/octet-stream", headers=headers)


@router.post("/documents/{document_id}/retry", responses=problems(404))
async def retry_document(memory: CallersMemory, document_id: str) -> Document:
    """Retry a document that is pending or could not be read."""
    return await memory.knowledge.retry(document_id)


@router.post("/documents/{document_id}/archive", responses=problems(404))
async def archive_document(memory: CallersMemory, document_id: str) -> Document:
    """Archive a document, so that no search finds it."""
    return await memory.knowledge.archive(document_id)


@router.delete("/documents/{document_id}", responses=problems(404))
async def delete_document(memory: CallersMemory, document_id: str) -> Document:
    """Delete a document, its chunks and its original file for good."""
    return await memory.knowledge.delete(document_id)


@router.get("/collections")
async def list_collections(memory: CallersMemory) -> Items[Collection]:
    """List the collections that this caller may read, with counts."""
    return Items(items=await memory.knowledge.collections())


@router.post("/search", responses=problems(404, 413))
async def search_knowledge(memory: CallersMemory, body: KnowledgeQuestion) -> Passages:
    """Return the passages that answer a question, with citations."""
    return await memory.knowledge.search(**body.arguments())


def _too_large(name: str, most: int) -> InvalidInput:
    return InvalidInput(
        f"{name} has more than {most:,} bytes; it was not stored",
        code="file_too_large",
        hint="Split the file, or set knowledge.max_file_mb higher.",
    )
