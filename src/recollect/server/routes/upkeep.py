"""Upkeep: health, conflicts, quarantine, the short-term buffer and sweeps."""

from __future__ import annotations

from datetime import datetime

from fastapi import APIRouter
from pydantic import Field

from recollect.domain.relation import Resolution
from recollect.domain.views import Json, as_json
from recollect.server import answers, operation_answers
from recollect.server.bodies import Body, described
from recollect.server.caller import CallersMemory
from recollect.server.idempotency import IdempotentRoute
from recollect.server.identity import Asking
from recollect.server.parameters import Limit, PageMark, page_of
from recollect.server.problems import problems

router = APIRouter(prefix="/v1/upkeep", tags=["upkeep"], route_class=IdempotentRoute)


class Decision(Body):
    """How a conflict is decided."""

    model_config = described({"resolution": "keep_second", "reason": "Ann has moved"})

    resolution: Resolution
    content: str | None = Field(default=None, description="what a merge says; default: both")
    at: datetime | None = Field(
        default=None, description="when the later took the place of the earlier"
    )
    reason: str = ""


class Acceptance(Body):
    """A quarantined record is right, as it is or with this content."""

    model_config = described({"reason": "she confirmed it"})

    content: str | None = None
    reason: str = ""


class Because(Body):
    """Why, for the history."""

    model_config = described({"reason": "asked by the user"})

    reason: str = ""


class SweepWanted(Body):
    """Whether a sweep only tells what it would do."""

    model_config = described({"dry_run": True})

    dry_run: bool = False


class WholeSweep(SweepWanted):
    """Whether a sweep only tells what it would do, and in whose scopes."""

    model_config = described({"dry_run": True})

    all_scopes: bool = Field(default=False, description="everybody's, for an operator")


@router.get("/health", response_model=operation_answers.MemoryHealth)
async def memory_health(memory: CallersMemory) -> Json:
    """Tell how much there is, how far it is trusted, and what somebody should look at."""
    return as_json(await memory.upkeep.health())


@router.get("/conflicts", response_model=answers.Disputes)
async def list_conflicts(memory: CallersMemory, limit: Limit = 50, cursor: PageMark = None) -> Json:
    """List records that contradict each other and wait for a decision, the latest first."""
    open_ones = await memory.upkeep.conflicts()
    return as_json(page_of(open_ones, limit, cursor, lambda it: it.id))


@router.post(
    "/conflicts/{conflict_id}/resolve", response_model=answers.Dispute, responses=problems(404, 409)
)
async def resolve_conflict(memory: CallersMemory, conflict_id: str, body: Decision) -> Json:
    """Decide a conflict: keep one, merge both, or both are true at different times."""
    return as_json(
        await memory.upkeep.resolve(
            conflict_id, body.resolution, content=body.content, at=body.at, reason=body.reason
        )
    )


@router.get("/quarantine", response_model=answers.RecordPage)
async def list_quarantine(
    memory: CallersMemory, limit: Limit = 50, cursor: PageMark = None
) -> Json:
    """List records that their source does not bear out, a page at a time."""
    return as_json(await memory.upkeep.quarantined(limit=limit, cursor=cursor))


@router.post(
    "/quarantine/{record_id}/accept", response_model=answers.Record, responses=problems(404, 409)
)
async def accept_record(
    memory: CallersMemory, record_id: str, body: Acceptance | None = None
) -> Json:
    """Let a quarantined record be recalled, as it is or with another content."""
    given = body or Acceptance()
    return as_json(await memory.upkeep.accept(record_id, given.content, reason=given.reason))


@router.post(
    "/quarantine/{record_id}/reject", response_model=answers.Record, responses=problems(404, 409)
)
async def reject_record(memory: CallersMemory, record_id: str, body: Because | None = None) -> Json:
    """Delete a quarantined record; undo brings it back."""
    return as_json(await memory.upkeep.reject(record_id, (body or Because()).reason))


@router.get("/buffer", response_model=answers.RecordPage)
async def list_buffer(memory: CallersMemory, limit: Limit = 50, cursor: PageMark = None) -> Json:
    """List the short-term records, the newest and most important first."""
    buffered = await memory.upkeep.buffer()
    return as_json(page_of(buffered, limit, cursor, lambda it: it.id))


@router.post(
    "/buffer/{record_id}/promote", response_model=answers.Record, responses=problems(404, 409)
)
async def promote_record(
    memory: CallersMemory, record_id: str, body: Because | None = None
) -> Json:
    """Keep a short-term record for good, even if its time was over already."""
    return as_json(await memory.upkeep.promote(record_id, reason=(body or Because()).reason))


@router.post("/expire", response_model=operation_answers.Swept)
async def expire_records(memory: CallersMemory, body: SweepWanted | None = None) -> Json:
    """Hide or remove the records whose time is over."""
    return as_json(await memory.upkeep.expire(dry_run=(body or SweepWanted()).dry_run))


@router.post("/retain", response_model=operation_answers.Swept)
async def apply_retention(memory: CallersMemory, body: SweepWanted | None = None) -> Json:
    """Apply the rules of retention in the settings."""
    return as_json(await memory.upkeep.retain(dry_run=(body or SweepWanted()).dry_run))


@router.post("/sweep", response_model=operation_answers.Swept)
async def sweep(memory: CallersMemory, asking: Asking, body: WholeSweep | None = None) -> Json:
    """Do all that a background sweep does: expiry, retention, capacity, archives."""
    given = body or WholeSweep()
    if given.all_scopes:
        asking.require_server("Sweeping everybody's memory")
    swept = await memory.upkeep.sweep(dry_run=given.dry_run, all_scopes=given.all_scopes)
    return as_json(swept)
