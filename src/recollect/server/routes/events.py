"""Events: what changes in a caller's scopes, and background jobs, as they happen."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import StreamingResponse

from recollect.domain.change import Changes
from recollect.domain.operation import Operation
from recollect.domain.scope import Role
from recollect.domain.views import Json, as_json
from recollect.memory import Memory
from recollect.server.caller import CallersMemory, WholeWorkspace
from recollect.server.idempotency import IdempotentRoute
from recollect.server.identity import Asking, is_still_known, require_still
from recollect.server.parameters import Limit

router = APIRouter(prefix="/v1", tags=["events"], route_class=IdempotentRoute)

_EVENTS: Final = "text/event-stream"
# So often something is sent, so that whoever sits in between keeps the connection open.
_SECONDS: Final = 10.0
_NEW_SCOPE_SECONDS: Final = 2.0
_BATCH: Final = 200
_JOBS: Final = 100
_DOCUMENTS: Final = 100

Mark = Annotated[str | None, Query(description="the mark to continue from; default: now")]
LastEventId = Annotated[str | None, Header(description="sent by browsers when they reconnect")]


@router.get("/changes")
async def list_changes(
    request: Request,
    memory: CallersMemory,
    after: Mark = None,
    limit: Limit = 100,
    wait: Annotated[float, Query(description="seconds to wait for a change")] = 0,
) -> Changes:
    """List what changed after a mark in the scopes that this caller may read."""
    found = await memory.changes(after, limit=limit, wait=wait)
    await require_still(request)
    return found


def _sent(what: str) -> dict[int | str, dict[str, Any]]:
    """Describe the events of a stream."""
    content = {_EVENTS: {"schema": {"type": "string"}}}
    return {200: {"description": f"Server-sent events: {what}", "content": content}}


@router.get(
    "/events",
    response_class=StreamingResponse,
    responses=_sent("`change` (as in /v1/changes), `job`, `document`"),
)
@Operation("GET", "/v1/events", "stream_events", Role.READER)
async def stream_events(
    request: Request,
    memory: CallersMemory,
    asking: Asking,
    after: Mark = None,
    jobs: Annotated[
        bool, Query(description="also the background jobs of the whole database")
    ] = False,
    documents: Annotated[
        bool, Query(description="also documents: those waiting to be read, and their changes")
    ] = False,
    last_event_id: LastEventId = None,
) -> StreamingResponse:
    """Stream changes as they happen; `Last-Event-ID` continues a broken connection."""
    if jobs:
        asking.require_role(Role.ADMIN, "Seeing background jobs")
        asking.require_server("Seeing background jobs")
    polled = _Polled(memory, jobs=jobs, documents=documents)

    async def changes(mark: str | None, wait: float) -> Changes:
        return await memory.changes(mark, limit=_BATCH, wait=wait)

    begun = await changes(last_event_id or after, 0)
    return _streamed(_events(request, begun, changes, polled.seconds, polled.news))


@router.get("/workspace/changes")
async def list_workspace_changes(
    request: Request,
    memory: WholeWorkspace,
    after: Mark = None,
    limit: Limit = 100,
    wait: Annotated[float, Query(description="seconds to wait for a change")] = 0,
) -> Changes:
    """List what changed in a workspace after a mark."""
    found = await memory.workspace.changes(after, limit=limit, wait=wait)
    await require_still(request)
    return found


@router.get(
    "/workspace/events",
    response_class=StreamingResponse,
    responses=_sent("`change`, as in /v1/workspace/changes"),
)
@Operation("GET", "/v1/workspace/events", "stream_workspace_events", Role.ADMIN)
async def stream_workspace_events(
    request: Request,
    memory: WholeWorkspace,
    after: Mark = None,
    last_event_id: LastEventId = None,
) -> StreamingResponse:
    """Stream the changes in a workspace as they happen."""

    async def changes(mark: str | None, wait: float) -> Changes:
        return await memory.workspace.changes(mark, limit=_BATCH, wait=wait)

    async def nothing() -> list[tuple[str, Json]]:
        return []

    begun = await changes(last_event_id or after, 0)
    # Asked again soon, because a scope that is new is not waited for.
    return _streamed(_events(request, begun, changes, _NEW_SCOPE_SECONDS, nothing))


def _streamed(events: AsyncGenerator[str]) -> StreamingResponse:
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(events, media_type=_EVENTS, headers=headers)


async def _goes_on(request: Request) -> bool:
    """Return whether somebody is there who may still read: a key may end while it is waited."""
    return not await request.is_disconnected() and await is_still_known(request)


async def _events(
    request: Request,
    begun: Changes,
    changes: Callable[[str | None, float], Awaitable[Changes]],
    seconds: float,
    news: Callable[[], Awaitable[list[tuple[str, Json]]]],
) -> AsyncGenerator[str]:
    """Yield changes as they come, waiting so long for each, with other news between them."""
    items, mark = as_json(begun)["items"], begun.mark
    # The mark itself, so that a connection that breaks at once goes on from here.
    yield f"retry: 2000\n{_told('ready', {'mark': mark}, mark)}"
    while await _goes_on(request):
        for item in items:
            yield _told("change", item, item["mark"])
        for event, item in await news():
            yield _told(event, item)
        found = await changes(mark, seconds)
        items, mark = as_json(found)["items"], found.mark
        if not items:
            yield ": nothing new\n\n"


class _Polled:
    """What is no change of a scope that the caller reads: jobs, and documents of collections."""

    def __init__(self, memory: Memory, *, jobs: bool, documents: bool) -> None:
        self._memory = memory
        self._with_jobs = jobs
        self._with_documents = documents
        self._jobs: dict[str, Json] = {}
        # None before the first look: what was read long ago is no news.
        self._documents: dict[str, Json] | None = None

    @property
    def seconds(self) -> float:
        """Return how long to wait for a change; shorter while jobs or documents are watched."""
        return 1.0 if self._with_jobs or self._with_documents else _SECONDS

    async def news(self) -> list[tuple[str, Json]]:
        """Return what is new or changed since the last look."""
        told: list[tuple[str, Json]] = []
        if self._with_jobs:
            jobs = _by_id(await self._memory.jobs.list(limit=_JOBS))
            told += [("job", job) for job in jobs.values() if self._jobs.get(job["id"]) != job]
            self._jobs = jobs
        if self._with_documents:
            documents = _by_id(await self._memory.knowledge.list(limit=_DOCUMENTS))
            known = self._documents
            if known is None:
                known = {name: it for name, it in documents.items() if not it["pending_hash"]}
            told += [
                ("document", document)
                for document in documents.values()
                if known.get(document["id"]) != document
            ]
            self._documents = documents
        return told


def _by_id(page: object) -> dict[str, Json]:
    return {it["id"]: it for it in as_json(page)["items"]}


def _told(event: str, data: Mapping[str, Any], mark: str | None = None) -> str:
    place = "" if mark is None else f"id: {mark}\n"
    return f"{place}event: {event}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
