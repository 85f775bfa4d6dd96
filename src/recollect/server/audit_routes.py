"""The routes of the audit: what happened, the proof of it, and past recalls asked again."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from recollect.domain.views import Json, as_json
from recollect.server.caller import CallersMemory

router = APIRouter(prefix="/v1", tags=["audit"])


@router.get("/audit")
async def tail(
    memory: CallersMemory,
    limit: int = 50,
    cursor: str | None = None,
    action: Annotated[str | None, Query(description="remember, update, observe, inject …")] = None,
    target: Annotated[str | None, Query(description="the id of what it was done to")] = None,
) -> Json:
    """What happened, the latest first, a page at a time."""
    return as_json(
        await memory.audit.tail(limit=limit, cursor=cursor, action=action, target=target)
    )


@router.get("/audit/verify")
async def verify(memory: CallersMemory) -> Json:
    """Check the whole chain of the workspace: what is sealed, and what was changed since."""
    return as_json(await memory.audit.verify())


@router.get("/audit/{id}")
async def show(memory: CallersMemory, id: str) -> Json:
    """All that happened to a record, a turn or a recall or because of it, in its order."""
    return as_json(await memory.audit.show(id))


@router.get("/recalls/{recall_id}/replay")
async def replay(memory: CallersMemory, recall_id: str) -> Json:
    """What a prompt was given then, and what the same question gives now."""
    return as_json(await memory.audit.replay(recall_id))
