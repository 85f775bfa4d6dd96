"""Forgetting: erasing every trace for good, or counting what would go."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from datetime import datetime
from typing import Final, cast

from fastapi import APIRouter
from fastapi.responses import StreamingResponse
from pydantic import Field

from recollect.domain.access import Grant
from recollect.domain.filters import CommonFilters
from recollect.domain.forgetting import Forgotten
from recollect.domain.job import Progress
from recollect.domain.operation import Operation
from recollect.domain.record import Kind, Status
from recollect.domain.scope import Role
from recollect.domain.views import Json, as_json
from recollect.errors import NotAllowed, RecollectError
from recollect.memory import Memory
from recollect.server.bodies import Body, Several, described
from recollect.server.caller import CallersMemory
from recollect.server.idempotency import IdempotentRoute
from recollect.server.identity import Asking
from recollect.server.problems import problem_of, problems

router = APIRouter(prefix="/v1", tags=["records"], route_class=IdempotentRoute)

_LINES: Final = "application/x-ndjson"
# Held, because nothing else refers to a forgetting whose reader has gone.
_running: Final[set[asyncio.Future[Forgotten]]] = set()


class Forget(Body):
    """What to forget: ids, a session, a user, everything in this scope, or filters."""

    model_config = described({"user": "ann", "dry_run": True})

    records: Several[str] = Field(default=[], description="ids")
    session: str | None = None
    user: str | None = Field(default=None, description="of the caller's workspace")
    everything: bool = False
    all_agents: bool = Field(default=False, description="of a user: with every agent")
    with_evidence: bool = Field(
        default=False, description="also the turns that support the records"
    )
    dry_run: bool = Field(default=False, description="only count")
    verify: bool = Field(
        default=False, description="search every store and file for traces afterwards"
    )
    kind: Several[Kind] = Field(default=[])
    category: Several[str] = Field(default=[])
    tags: Several[str] = Field(default=[])
    status: Several[Status] = Field(default=[])
    since: datetime | None = None
    until: datetime | None = None
    task: str | None = None
    as_of: datetime | None = None
    valid_at: datetime | None = None

    def filters(self) -> CommonFilters:
        """The filters that the request named."""
        names = self.model_fields_set & CommonFilters.__annotations__.keys()
        return cast("CommonFilters", {name: getattr(self, name) for name in names})


@router.post("/forget", responses=problems(404, 409, 413))
async def forget(memory: CallersMemory, asking: Asking, body: Forget) -> Forgotten:
    """Erase every trace of something and report what was removed."""
    _require_reach(asking.grant, body)
    return await _forget(memory, body)


@router.post(
    "/forget/stream",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": (
                "JSON lines: `progress` (`done` and `total`) again and again, and in the end"
                " `forgotten`, as `/v1/forget` answers, or `problem`"
            ),
            "content": {_LINES: {"schema": {"type": "string", "format": "binary"}}},
        },
        **problems(404, 409, 413),
    },
)
@Operation("POST", "/v1/forget/stream", "forget_with_progress", Role.ADMIN, repeat="repeatable")
async def forget_with_progress(
    memory: CallersMemory, asking: Asking, body: Forget
) -> StreamingResponse:
    """Erase every trace of something as `/v1/forget` does, and stream the progress.

    It runs to the end even if the client disconnects.
    """
    _require_reach(asking.grant, body)
    steps: asyncio.Queue[tuple[int, int] | None] = asyncio.Queue()
    work = asyncio.ensure_future(
        _forget(memory, body, lambda done, total: steps.put_nowait((done, total)))
    )
    work.add_done_callback(lambda _: steps.put_nowait(None))
    _running.add(work)
    work.add_done_callback(_running.discard)
    first = await steps.get()
    if first is None:
        # It is over before anything was sent, so a refusal can still be told as a problem.
        work.result()
    return StreamingResponse(
        _steps(first, steps, work),
        media_type=_LINES,
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _steps(
    step: tuple[int, int] | None,
    following: asyncio.Queue[tuple[int, int] | None],
    work: asyncio.Future[Forgotten],
) -> AsyncGenerator[str]:
    while step is not None:
        done, total = step
        yield _line({"progress": {"done": done, "total": total}})
        step = await following.get()
    try:
        yield _line({"forgotten": as_json(await work)})
    except RecollectError as error:
        yield _line({"problem": problem_of(error).model_dump(exclude_none=True)})


def _line(step: Json) -> str:
    return json.dumps(step, ensure_ascii=False) + "\n"


async def _forget(memory: Memory, body: Forget, progress: Progress | None = None) -> Forgotten:
    return await memory.forget(
        body.records or None,
        session=body.session,
        user=body.user,
        everything=body.everything,
        with_evidence=body.with_evidence,
        all_agents=body.all_agents,
        dry_run=body.dry_run,
        verify=body.verify,
        progress=progress,
        **body.filters(),
    )


def _require_reach(grant: Grant, body: Forget) -> None:
    """Refuse to forget somebody whom a key does not reach."""
    is_foreign = body.user is not None and bool(grant.users) and body.user not in grant.users
    if is_foreign or (body.all_agents and grant.agents):
        raise NotAllowed(
            "This key does not reach all that would be forgotten; nothing was changed",
            code="foreign_scope",
            hint=f"It reaches {grant.reach}.",
        )
