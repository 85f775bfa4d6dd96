"""Upkeep: health, conflicts, quarantine, the short-term buffer and sweeps."""

from __future__ import annotations

from datetime import datetime

from fastapi import APIRouter
from pydantic import Field

from recollect.domain.page import Page
from recollect.domain.record import Record
from recollect.domain.relation import Resolution
from recollect.domain.stats import Health
from recollect.domain.upkeep import Dispute, Swept
from recollect.server.bodies import Body, described
from recollect.server.caller import CallersMemory
from recollect.server.idempotency import IdempotentRoute
from recollect.server.identity import Asking
from recollect.server.parameters import Paged, page_of
from recollect.server.problems import problems

router = APIRouter(prefix="/v1/upkeep", tags=["upkeep"], route_class=IdempotentRoute)


class Decision(Body):
    """The resolution of a conflict."""

    model_config = described({"resolution": "keep_second", "reason": "Ann has moved"})

    resolution: Resolution
    content: str | None = Field(
        default=None, description="the text of a merge; default: both texts"
    )
    at: datetime | None = Field(
        default=None, description="when the later record replaced the earlier one"
    )
    reason: str = ""


class TakenBack(Body):
    """The decision that is taken back."""

    model_config = described({"resolved_at": "2026-03-01T12:00:00Z"})

    resolved_at: datetime | None = Field(
        default=None, description="refused with 409 if the conflict was resolved anew since"
    )


class Acceptance(Body):
    """Acceptance of a quarantined record, as it is or with new content."""

    model_config = described({"reason": "she confirmed it"})

    content: str | None = None
    reason: str = ""


class Because(Body):
    """Why, for the history."""

    model_config = described({"reason": "asked by the user"})

    reason: str = ""


class SweepWanted(Body):
    """Options of a sweep."""

    model_config = described({"dry_run": True})

    dry_run: bool = False


class WholeSweep(SweepWanted):
    """Options of a sweep."""

    model_config = described({"dry_run": True})

    all_scopes: bool = Field(default=False, description="everybody's, for an operator")


@router.get("/health")
async def memory_health(memory: CallersMemory) -> Health:
    """Return how much is stored, how far it is trusted, and what needs attention."""
    return await memory.upkeep.health()


@router.get("/conflicts")
async def list_conflicts(page: Paged, memory: CallersMemory) -> Page[Dispute]:
    """List the open conflicts, latest first."""
    open_ones = await memory.upkeep.conflicts()
    return page_of(open_ones, page, lambda it: it.id)


@router.post("/conflicts/{conflict_id}/resolve", responses=problems(404, 409))
async def resolve_conflict(memory: CallersMemory, conflict_id: str, body: Decision) -> Dispute:
    """Resolve a conflict: keep one record, merge both, or keep both for different times."""
    return await memory.upkeep.resolve(conflict_id, **body.arguments())


@router.post("/conflicts/{conflict_id}/reopen", responses=problems(404, 409))
async def reopen_conflict(
    memory: CallersMemory, conflict_id: str, body: TakenBack | None = None
) -> Dispute:
    """Take back the decision on a conflict: both records are as before, and it is open."""
    return await memory.upkeep.reopen(conflict_id, **(body or TakenBack()).arguments())


@router.get("/quarantine")
async def list_quarantine(page: Paged, memory: CallersMemory) -> Page[Record]:
    """List the records that their source does not support."""
    return await memory.upkeep.quarantined(**page)


@router.post("/quarantine/{record_id}/accept", responses=problems(404, 409))
async def accept_record(
    memory: CallersMemory, record_id: str, body: Acceptance | None = None
) -> Record:
    """Release a record from quarantine, as it is or with new content."""
    return await memory.upkeep.accept(record_id, **(body or Acceptance()).arguments())


@router.post("/quarantine/{record_id}/reject", responses=problems(404, 409))
async def reject_record(
    memory: CallersMemory, record_id: str, body: Because | None = None
) -> Record:
    """Delete a quarantined record; undo restores it."""
    return await memory.upkeep.reject(record_id, (body or Because()).reason)


@router.get("/buffer")
async def list_buffer(page: Paged, memory: CallersMemory) -> Page[Record]:
    """List short-term records, newest and most important first."""
    buffered = await memory.upkeep.buffer()
    return page_of(buffered, page, lambda it: it.id)


@router.post("/buffer/{record_id}/promote", responses=problems(404, 409))
async def promote_record(
    memory: CallersMemory, record_id: str, body: Because | None = None
) -> Record:
    """Make a short-term record permanent, even if it has expired."""
    return await memory.upkeep.promote(record_id, reason=(body or Because()).reason)


@router.post("/expire")
async def expire_records(memory: CallersMemory, body: SweepWanted | None = None) -> Swept:
    """Hide or remove expired records."""
    return await memory.upkeep.expire(dry_run=(body or SweepWanted()).dry_run)


@router.post("/retain")
async def apply_retention(memory: CallersMemory, body: SweepWanted | None = None) -> Swept:
    """Apply the retention rules of the settings."""
    return await memory.upkeep.retain(dry_run=(body or SweepWanted()).dry_run)


@router.post("/sweep")
async def sweep(memory: CallersMemory, asking: Asking, body: WholeSweep | None = None) -> Swept:
    """Run a whole sweep: expiry, retention, capacity and archives."""
    given = body or WholeSweep()
    if given.all_scopes:
        asking.require_server("Sweeping everybody's memory")
    return await memory.upkeep.sweep(**given.arguments())
