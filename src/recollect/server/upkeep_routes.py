"""The routes under /v1/upkeep: health, conflicts, quarantine, buffer and sweeps."""

from __future__ import annotations

from datetime import datetime

from fastapi import APIRouter
from pydantic import Field

from recollect.domain.conflict import Resolution
from recollect.domain.views import Json, as_json
from recollect.server.bodies import Body
from recollect.server.caller import CallersMemory

router = APIRouter(prefix="/v1/upkeep", tags=["upkeep"])


class Decision(Body):
    """How a conflict is decided."""

    resolution: Resolution
    content: str | None = Field(default=None, description="what a merge says; default: both")
    at: datetime | None = Field(
        default=None, description="when the later took the place of the earlier"
    )
    reason: str = ""


class Acceptance(Body):
    """A quarantined record is so, or with a content like that."""

    content: str | None = None
    reason: str = ""


class Because(Body):
    """Why, for the history."""

    reason: str = ""


class SweepWanted(Body):
    """Whether a sweep only tells what it would do."""

    dry_run: bool = False


@router.get("/health")
async def health(memory: CallersMemory) -> Json:
    """How much there is, how far it is trusted, and what somebody should look at."""
    return as_json(await memory.upkeep.health())


@router.get("/conflicts")
async def conflicts(memory: CallersMemory) -> Json:
    """Records that contradict each other and wait for a decision, the latest first."""
    return as_json(await memory.upkeep.conflicts())


@router.post("/conflicts/{conflict_id}/resolve")
async def resolve(memory: CallersMemory, conflict_id: str, body: Decision) -> Json:
    """Decide a conflict: keep one, merge both, or both are true at different times."""
    return as_json(
        await memory.upkeep.resolve(
            conflict_id, body.resolution, content=body.content, at=body.at, reason=body.reason
        )
    )


@router.get("/quarantine")
async def quarantine(memory: CallersMemory, limit: int = 50, cursor: str | None = None) -> Json:
    """What its source does not bear out and somebody should look at, a page at a time."""
    return as_json(await memory.upkeep.quarantined(limit=limit, cursor=cursor))


@router.post("/quarantine/{record_id}/accept")
async def accept(memory: CallersMemory, record_id: str, body: Acceptance | None = None) -> Json:
    """Let a quarantined record be recalled, as it is or with another content."""
    given = body or Acceptance()
    return as_json(await memory.upkeep.accept(record_id, given.content, reason=given.reason))


@router.post("/quarantine/{record_id}/reject")
async def reject(memory: CallersMemory, record_id: str, body: Because | None = None) -> Json:
    """Delete a quarantined record; undo brings it back."""
    return as_json(await memory.upkeep.reject(record_id, (body or Because()).reason))


@router.get("/buffer")
async def buffer(memory: CallersMemory) -> Json:
    """The short-term records, the newest and most important first."""
    return as_json(await memory.upkeep.buffer())


@router.post("/buffer/{record_id}/promote")
async def promote(memory: CallersMemory, record_id: str, body: Because | None = None) -> Json:
    """Keep a short-term record for good, even if its time was over already."""
    return as_json(await memory.upkeep.promote(record_id, reason=(body or Because()).reason))


@router.post("/expire")
async def expire(memory: CallersMemory, body: SweepWanted | None = None) -> Json:
    """Hide or remove the records whose time is over."""
    return as_json(await memory.upkeep.expire(dry_run=(body or SweepWanted()).dry_run))


@router.post("/retain")
async def retain(memory: CallersMemory, body: SweepWanted | None = None) -> Json:
    """Apply the rules of retention in the settings."""
    return as_json(await memory.upkeep.retain(dry_run=(body or SweepWanted()).dry_run))


@router.post("/sweep")
async def sweep(memory: CallersMemory, body: SweepWanted | None = None) -> Json:
    """All that a background sweep does for this caller: expiry, retention, capacity, archives."""
    return as_json(await memory.upkeep.sweep(dry_run=(body or SweepWanted()).dry_run))
