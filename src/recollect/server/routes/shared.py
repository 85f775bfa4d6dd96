"""Shared memory: proposals, and what all agents of a workspace know."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import Field

from recollect.domain.page import Page
from recollect.domain.record import Record
from recollect.domain.sharing import Proposal, ProposalStatus
from recollect.server.bodies import Body, described
from recollect.server.caller import CallersMemory
from recollect.server.idempotency import IdempotentRoute
from recollect.server.parameters import (
    Expected,
    IfMatch,
    Paged,
    Reason,
    seen_version,
    tagged,
)
from recollect.server.problems import problems

router = APIRouter(prefix="/v1", tags=["shared"], route_class=IdempotentRoute)

OfType = Annotated[str | None, Query(description="only this type")]


class NewProposal(Body):
    """A record to share, or a change of a shared record."""

    model_config = described({"type": "convention", "content": "Commits are squashed"})

    content: str
    type: str | None = Field(
        default=None,
        description="project-context, adr, convention, known-issue or preference; "
        "of a change not needed",
    )
    title: str = ""
    reason: str = ""
    tags: list[str] | None = None
    confidence: float = 1.0
    target: str | None = Field(default=None, description="the shared record that it would change")


class Approval(Body):
    """An approval, optionally reworded."""

    model_config = described({"reason": "agreed in the review"})

    content: str | None = None
    title: str | None = None
    reason: str = ""


class Refusal(Body):
    """The reason of a rejection."""

    model_config = described({"reason": "only true for one project"})

    reason: str


class Withdrawal(Body):
    """The reason of a withdrawal."""

    model_config = described({"reason": "no longer needed"})

    reason: str = ""


class Reopening(Body):
    """The decision that is taken back, and why."""

    model_config = described({"reason": "decided too soon"})

    reason: str = ""
    decided_at: datetime | None = Field(
        default=None, description="refused with 409 if the proposal was decided anew since"
    )


class ChangedShared(Body):
    """Fields to change; omitted fields stay unchanged."""

    model_config = described({"content": "Commits are squashed and signed", "expected_version": 1})

    content: str | None = None
    title: str | None = None
    tags: list[str] | None = None
    confidence: float | None = None
    expected_version: int | None = Field(
        default=None, description="reject if the record changed concurrently"
    )
    reason: str = Field(default="", description="reason, kept in the history")


@router.post("/proposals", status_code=201, responses=problems(404, 413))
async def propose(memory: CallersMemory, body: NewProposal, response: Response) -> Proposal:
    """Propose to share something with all agents of the workspace."""
    proposal = await memory.shared.propose(**body.arguments())
    response.headers["Location"] = f"/v1/proposals/{proposal.id}"
    return proposal


@router.get("/proposals")
async def list_proposals(
    page: Paged,
    memory: CallersMemory,
    status: Annotated[ProposalStatus | Literal["any"], Query()] = "pending",
    type: OfType = None,
) -> Page[Proposal]:
    """List proposals, newest first: the coordinator sees all, an agent its own."""
    wanted = None if status == "any" else status
    return await memory.shared.proposals(wanted, type=type, **page)


@router.get("/proposals/{proposal_id}", responses=problems(404))
async def get_proposal(memory: CallersMemory, proposal_id: str) -> Proposal:
    """Return one proposal and its outcome."""
    return await memory.shared.proposal(proposal_id)


@router.post("/proposals/{proposal_id}/approve", responses=problems(404, 409))
async def approve_proposal(
    memory: CallersMemory, proposal_id: str, body: Approval | None = None
) -> Proposal:
    """Approve a proposal; for the coordinator."""
    return await memory.shared.approve(proposal_id, **(body or Approval()).arguments())


@router.post("/proposals/{proposal_id}/reject", responses=problems(404, 409))
async def reject_proposal(memory: CallersMemory, proposal_id: str, body: Refusal) -> Proposal:
    """Reject a proposal; for the coordinator."""
    return await memory.shared.reject(proposal_id, body.reason)


@router.post("/proposals/{proposal_id}/reopen", responses=problems(404, 409))
async def reopen_proposal(
    memory: CallersMemory, proposal_id: str, body: Reopening | None = None
) -> Proposal:
    """Take back an approval or a rejection, so that the proposal waits again."""
    return await memory.shared.reopen(proposal_id, **(body or Reopening()).arguments())


@router.post("/proposals/{proposal_id}/withdraw", responses=problems(404, 409))
async def withdraw_proposal(
    memory: CallersMemory, proposal_id: str, body: Withdrawal | None = None
) -> Proposal:
    """Withdraw one's own proposal."""
    return await memory.shared.withdraw(proposal_id, (body or Withdrawal()).reason)


@router.get("/shared")
async def list_shared(page: Paged, memory: CallersMemory, type: OfType = None) -> Page[Record]:
    """List shared records, newest first."""
    return await memory.shared.list(type=type, **page)


@router.get("/shared/{record_id}", responses=problems(404))
async def get_shared(memory: CallersMemory, record_id: str, response: Response) -> Record:
    """Return one shared record."""
    return tagged(response, await memory.shared.get(record_id))


@router.patch("/shared/{record_id}", responses=problems(404, 409, 412, 413))
async def change_shared(
    memory: CallersMemory,
    record_id: str,
    body: ChangedShared,
    response: Response,
    if_match: IfMatch = None,
) -> Record:
    """Change a shared record at once; for its creator and the coordinator."""
    seen = seen_version(if_match, body.expected_version)
    fields = body.arguments("expected_version")
    changed = await memory.shared.update(record_id, expected_version=seen, **fields)
    return tagged(response, changed)


@router.delete("/shared/{record_id}", responses=problems(404, 409, 412))
async def delete_shared(
    expected: Expected,
    memory: CallersMemory,
    record_id: str,
    response: Response,
    reason: Reason = "",
) -> Record:
    """Hide a shared record from everybody; for its creator and the coordinator."""
    deleted = await memory.shared.delete(record_id, expected_version=expected, reason=reason)
    return tagged(response, deleted)


@router.post("/shared/{record_id}/undo", responses=problems(404, 409, 412))
async def undo_shared(
    expected: Expected,
    memory: CallersMemory,
    record_id: str,
    response: Response,
    reason: Reason = "",
) -> Record:
    """Revert the last change of a shared record, including a deletion."""
    back = await memory.shared.undo(record_id, expected_version=expected, reason=reason)
    return tagged(response, back)
