"""The audit: what happened, and the proof that nobody changed the account."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from recollect.domain.audit import AuditEntry, AuditVerdict
from recollect.domain.page import Page
from recollect.server.caller import CallersMemory
from recollect.server.idempotency import IdempotentRoute
from recollect.server.parameters import Limit, PageMark, page_of
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
    target: Annotated[str | None, Query(description="the id of what it was done to")] = None,
) -> Page[AuditEntry]:
    """List what happened, the latest first, a page at a time."""
    return await memory.audit.tail(limit=limit, cursor=cursor, action=action, target=target)


@router.get("/audit/verify")
async def verify_audit(memory: CallersMemory) -> AuditVerdict:
    """Check the whole chain of the workspace: what is sealed, and what was changed since."""
    return await memory.audit.verify()


@router.post(
    "/audit/seal",
)
async def seal_audit(memory: CallersMemory) -> Sealed:
    """Seal what is too new to be in the chain, now instead of soon."""
    return Sealed(sealed=await memory.audit.seal())


@router.get("/audit/{id}", responses=problems(404))
async def show_audit(
    memory: CallersMemory, id: str, limit: Limit = 50, cursor: PageMark = None
) -> Page[AuditEntry]:
    """List all that happened to a record, a turn or a recall, in its order."""
    entries = await memory.audit.show(id)
    return page_of(entries, limit, cursor, lambda it: str(it.id))
