"""The routes under /v1/proposals and /v1/shared: what all agents of a workspace know."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import Field

from recollect.domain.proposal import ProposalStatus
from recollect.domain.views import Json, as_json
from recollect.server.bodies import Body
from recollect.server.caller import CallersMemory

router = APIRouter(prefix="/v1", tags=["shared"])

Limit = Annotated[int, Query(description="how many at most")]
PageMark = Annotated[str | None, Query(description="the last page's next_cursor")]
OfType = Annotated[str | None, Query(description="only this type")]
Reason = Annotated[str, Query(description="why, for the history")]


class NewProposal(Body):
    """What should be shared, or how a shared record should change."""

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
    """Shared as proposed, or in these words."""

    content: str | None = None
    title: str | None = None
    reason: str = ""


class Refusal(Body):
    """Why it is not shared."""

    reason: str


class Withdrawal(Body):
    """Why it is taken back."""

    reason: str = ""


class ChangedShared(Body):
    """Fields to change; what is left out stays as it is."""

    content: str | None = None
    title: str | None = None
    tags: list[str] | None = None
    confidence: float | None = None
    expected_version: int | None = Field(
        default=None, description="refuse when the record has moved on"
    )
    reason: str = Field(default="", description="why, for the history")


@router.post("/proposals", status_code=201)
async def propose(memory: CallersMemory, body: NewProposal, response: Response) -> Json:
    """Ask for something to be shared with all agents of the workspace."""
    proposal = await memory.shared.propose(**body.model_dump())
    response.headers["Location"] = f"/v1/proposals/{proposal.id}"
    return as_json(proposal)


@router.get("/proposals")
async def list_proposals(
    memory: CallersMemory,
    status: Annotated[ProposalStatus | Literal["any"], Query()] = "pending",
    type: OfType = None,
    limit: Limit = 50,
    cursor: PageMark = None,
) -> Json:
    """Proposals, newest first: all for the coordinator, the own ones for an agent."""
    wanted = None if status == "any" else status
    return as_json(await memory.shared.proposals(wanted, type=type, limit=limit, cursor=cursor))


@router.get("/proposals/{proposal_id}")
async def get_proposal(memory: CallersMemory, proposal_id: str) -> Json:
    """One proposal, and what became of it."""
    return as_json(await memory.shared.proposal(proposal_id))


@router.post("/proposals/{proposal_id}/approve")
async def approve(memory: CallersMemory, proposal_id: str, body: Approval | None = None) -> Json:
    """Share what was proposed; for the coordinator."""
    given = body or Approval()
    return as_json(
        await memory.shared.approve(
            proposal_id, given.content, title=given.title, reason=given.reason
        )
    )


@router.post("/proposals/{proposal_id}/reject")
async def reject(memory: CallersMemory, proposal_id: str, body: Refusal) -> Json:
    """Refuse what was proposed; for the coordinator."""
    return as_json(await memory.shared.reject(proposal_id, body.reason))


@router.post("/proposals/{proposal_id}/withdraw")
async def withdraw(memory: CallersMemory, proposal_id: str, body: Withdrawal | None = None) -> Json:
    """Take back an own proposal."""
    return as_json(await memory.shared.withdraw(proposal_id, (body or Withdrawal()).reason))


@router.get("/shared")
async def list_shared(
    memory: CallersMemory, type: OfType = None, limit: Limit = 50, cursor: PageMark = None
) -> Json:
    """What is shared, newest first, a page at a time."""
    return as_json(await memory.shared.list(type=type, limit=limit, cursor=cursor))


@router.get("/shared/{record_id}")
async def get_shared(memory: CallersMemory, record_id: str) -> Json:
    """One shared record."""
    return as_json(await memory.shared.get(record_id))


@router.patch("/shared/{record_id}")
async def change_shared(memory: CallersMemory, record_id: str, body: ChangedShared) -> Json:
    """Change a shared record at once; for its creator and the coordinator."""
    return as_json(await memory.shared.update(record_id, **body.model_dump()))


@router.delete("/shared/{record_id}")
async def delete_shared(memory: CallersMemory, record_id: str, reason: Reason = "") -> Json:
    """Hide a shared record from everybody; for its creator and the coordinator."""
    return as_json(await memory.shared.delete(record_id, reason=reason))
