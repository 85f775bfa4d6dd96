"""Archives: the large tool results that were put away."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from recollect.domain.archive import Archive, SweptArchives
from recollect.domain.hit import Recalled
from recollect.domain.page import Page
from recollect.server.bodies import Body, described
from recollect.server.caller import CallersMemory
from recollect.server.idempotency import IdempotentRoute
from recollect.server.parameters import Paged
from recollect.server.problems import problems

router = APIRouter(prefix="/v1/archives", tags=["archives"], route_class=IdempotentRoute)

About = Annotated[str | None, Query(description="only the passages about this")]
Part = Annotated[str | None, Query(description="only lines `10-20`, or `chars 0-2000`")]


class ArchiveText(BaseModel):
    """An archived result for a model to read, under its placeholder."""

    id: str
    text: str


class EarlierResult(BaseModel):
    """What the same call gave before; both are null when it was not made."""

    archive: Archive | None
    age_seconds: float | None


class ArchiveSweep(Body):
    """Options of a sweep of archives."""

    model_config = described({"dry_run": True})

    dry_run: bool = False


class ArchiveQuestion(Body):
    """What to look for in archived tool results."""

    model_config = described({"query": "which test failed?"})

    query: str
    session: str | None = Field(default=None, description="only of this session")
    limit: int | None = Field(default=None, description="maximum number; default: settings")


class ToolCallGiven(Body):
    """A tool call that may have been made before."""

    model_config = described({"tool": "search", "input": {"q": "tea"}})

    tool: str
    input: Any = Field(default=None, description="its arguments")


@router.get("")
async def list_archives(
    page: Paged,
    memory: CallersMemory,
    session: Annotated[str | None, Query(description="only of this session")] = None,
    tool: Annotated[str | None, Query(description="only of this tool")] = None,
) -> Page[Archive]:
    """List archived tool results, newest first."""
    return await memory.archives.list(session=session, tool=tool, **page)


@router.post("/search", responses=problems(413))
async def search_archives(memory: CallersMemory, body: ArchiveQuestion) -> Recalled:
    """Find the passages of archived tool results about a query, best first."""
    return await memory.archives.search(**body.arguments())


@router.post("/sweep")
async def sweep_archives(memory: CallersMemory, body: ArchiveSweep | None = None) -> SweptArchives:
    """Delete archives past retention or over the limits."""
    return await memory.archives.sweep(dry_run=(body or ArchiveSweep()).dry_run)


@router.post("/earlier", responses=problems(413))
async def find_earlier_result(memory: CallersMemory, body: ToolCallGiven) -> EarlierResult:
    """Find the earlier result of the same tool for the same input, in any session of this scope."""
    found = await memory.archives.find_earlier(body.tool, body.input)
    if found is None:
        return EarlierResult(archive=None, age_seconds=None)
    return EarlierResult(archive=found.archive, age_seconds=found.age.total_seconds())


@router.get("/{archive_id}", responses=problems(404))
async def get_archive(memory: CallersMemory, archive_id: str) -> Archive:
    """Return one archive without its content."""
    return await memory.archives.get(archive_id)


@router.get("/{archive_id}/text", responses=problems(404))
async def load_archive_text(
    memory: CallersMemory, archive_id: str, query: About = None, range: Part = None
) -> ArchiveText:
    """Return an archived result for a model: whole, the passages about a query, or a range."""
    text = await memory.load_tool_history(archive_id, query, range)
    return ArchiveText(id=archive_id, text=text)


@router.get(
    "/{archive_id}/content",
    response_class=Response,
    responses={
        200: {
            "description": "The result: text, JSON or bytes",
            "content": {
                "text/plain": {"schema": {"type": "string"}},
                "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
            },
        },
        **problems(404),
    },
)
async def load_archive(
    memory: CallersMemory, archive_id: str, query: About = None, range: Part = None
) -> Response:
    """Return an archived result exactly as the tool returned it, or a part of it as text."""
    content = await memory.archives.load(archive_id, query, range)
    if isinstance(content, bytes):
        return Response(content, media_type="application/octet-stream")
    if isinstance(content, str):
        return Response(content.encode("utf-8", "surrogatepass"), media_type="text/plain")
    return Response(json.dumps(content), media_type="application/json")


@router.delete("/{archive_id}", responses=problems(404))
async def delete_archive(memory: CallersMemory, archive_id: str) -> Archive:
    """Delete an archive and its content for good; the conversation keeps its placeholder."""
    return await memory.archives.delete(archive_id)
