"""The audit: what happened, and the proof that nobody changed the account."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from recollect.domain.audit import AuditEntry, AuditVerdict
from recollect.domain.page import Page
from recollect.server.caller import CallersMemory
from recollect.server.idempotency import IdempotentRoute
from recollect.server.parameters import Limit, Paged, PageMark, page_of
from recollect.server.problems import problems

router = APIRouter(prefix="/v1", tags=["audit"], route_class=IdempotentRoute)


class Sealed(BaseModel):
    """How many entries of the audit were sealed."""

    sealed: int


@router.get("/audit")
async def list_audit(
    memory: CallersMemory,
    limit: Limit = 50,
    cursor: PageMark = None,
    action: Annotated[str | None, Query(description="remember, update, observe, inject …")] = None,
    target: Annotated[str | None, Query(description="only entries about this id")] = None,
) -> Page[AuditEntry]:
    """List audit entries, newest first."""
    return await memory.audit.tail(limit=limit, cursor=cursor, action=action, target=target)


@router.get("/audit/verify")
async def verify_audit(memory: CallersMemory) -> AuditVerdict:
    """Verify the workspace's audit chain and report what was changed after sealing."""
    return await memory.audit.verify()


@router.post("/audit/seal")
async def seal_audit(memory: CallersMemory) -> Sealed:
    """Seal the newest audit entries now instead of in the background."""
    return Sealed(sealed=await memory.audit.seal())


@router.get("/audit/{id}", responses=problems(404))
async def show_audit(page: Paged, memory: CallersMemory, id: str) -> Page[AuditEntry]:
    """List every audit entry about a record, a turn or a recall, oldest first."""
    entries = await memory.audit.show(id)
    return page_of(entries, page, lambda it: str(it.id))
