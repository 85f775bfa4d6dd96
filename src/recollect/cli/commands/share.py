"""`recollect share`: propose what all agents should know, and decide on proposals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from recollect.cli import show
from recollect.cli.answer import Answer
from recollect.cli.commands.records import ExpectedVersion, Reason, RecordId, Text
from recollect.cli.options import Limit, PageMark, argument, moment_of, option, text_of
from recollect.domain.sharing import PROPOSAL_STATUSES, SHARED_TYPES, Proposal
from recollect.memory import Memory

if TYPE_CHECKING:
    from rich.console import Console

_TYPES: Final = ", ".join(SHARED_TYPES)
_ANY: Final = "any"

ProposalId = Annotated[str, argument("The proposal's id.", metavar="ID")]
OfType = Annotated[str | None, option(f"Only this type ({_TYPES}).", "--type", metavar="TYPE")]


async def propose(
    memory: Memory,
    text: Text,
    type: Annotated[
        str | None, option(f"One of {_TYPES}; not needed for a change.", "--type", metavar="TYPE")
    ] = None,
    title: Annotated[str, option("Title.", show_default=False)] = "",
    reason: Annotated[str, option("Reason for sharing it.", show_default=False)] = "",
    tag: Annotated[list[str] | None, option("Tag (repeatable).")] = None,
    confidence: Annotated[float, option("How certain it is, 0 to 1.")] = 1.0,
    target: Annotated[str | None, option("The shared record to change.", metavar="ID")] = None,
) -> Answer:
    """Propose to share something with all agents of the workspace."""
    proposal = await memory.shared.propose(
        text, type, title=title, reason=reason, tags=tag, confidence=confidence, target=target
    )
    return _told(proposal)


async def list_proposals(
    memory: Memory,
    status: Annotated[
        str, option(f"One of {', '.join(PROPOSAL_STATUSES)}, or {_ANY}.")
    ] = "pending",
    type: OfType = None,
    limit: Limit = 50,
    cursor: PageMark = None,
) -> Answer:
    """List proposals, newest first: the coordinator sees all, an agent its own."""
    wanted = None if status == _ANY else status
    page = await memory.shared.proposals(wanted, type=type, limit=limit, cursor=cursor)
    return show.paged(page, _card, "There are no such proposals.")


async def approve(
    memory: Memory,
    proposal_id: ProposalId,
    text: Annotated[
        str | None, argument("A better wording; - reads it from standard input.", callback=text_of)
    ] = None,
    title: Annotated[str | None, option("New title.")] = None,
    reason: Reason = "",
) -> Answer:
    """Approve a proposal, as it is or reworded."""
    return _told(await memory.shared.approve(proposal_id, text, title=title, reason=reason))


async def reject(
    memory: Memory,
    proposal_id: ProposalId,
    reason: Annotated[str, option("Reason, shown to the proposer.")],
) -> Answer:
    """Reject a proposal with a reason."""
    return _told(await memory.shared.reject(proposal_id, reason))


async def reopen(
    memory: Memory,
    proposal_id: ProposalId,
    reason: Reason = "",
    decided_at: Annotated[
        str | None, option("Only the decision of this time, as --json shows it.", metavar="TIME")
    ] = None,
) -> Answer:
    """Take back an approval or a rejection, with what came of it; the proposal waits again."""
    seen = moment_of(decided_at, "--decided-at")
    return _told(await memory.shared.reopen(proposal_id, reason, decided_at=seen))


async def withdraw(memory: Memory, proposal_id: ProposalId, reason: Reason = "") -> Answer:
    """Withdraw one's own proposal."""
    return _told(await memory.shared.withdraw(proposal_id, reason))


async def list_shared(
    memory: Memory, type: OfType = None, limit: Limit = 50, cursor: PageMark = None
) -> Answer:
    """List what is shared with this agent and user, newest first."""
    page = await memory.shared.list(type=type, limit=limit, cursor=cursor)
    return show.records(page)


async def show_shared(
    memory: Memory,
    id: Annotated[str, argument("A proposal's or a shared record's id.", metavar="ID")],
) -> Answer:
    """Show a proposal or a shared record."""
    if id.startswith("prop_"):
        return _told(await memory.shared.proposal(id))
    return Answer.of(await memory.shared.get(id), show.record_card)


async def edit(
    memory: Memory,
    record_id: RecordId,
    text: Annotated[
        str | None, argument("The new text; - reads it from standard input.", callback=text_of)
    ] = None,
    title: Annotated[str | None, option("New title.")] = None,
    expected_version: ExpectedVersion = None,
    reason: Reason = "",
) -> Answer:
    """Change a shared record at once; for its creator and the coordinator."""
    record = await memory.shared.update(
        record_id, text, title=title, expected_version=expected_version, reason=reason
    )
    return Answer.of(record, show.record_card)


async def delete(memory: Memory, record_id: RecordId, reason: Reason = "") -> Answer:
    """Hide a shared record from everybody; for its creator and the coordinator."""
    record = await memory.shared.delete(record_id, reason=reason)
    return show.said(record, f"{record.id} is no longer shared.")


async def undo(
    memory: Memory,
    record_id: RecordId,
    expected_version: ExpectedVersion = None,
    reason: Reason = "",
) -> Answer:
    """Revert the last change of a shared record, including a deletion."""
    record = await memory.shared.undo(record_id, expected_version=expected_version, reason=reason)
    return Answer.of(record, show.record_card)


def _told(proposal: Proposal) -> Answer:
    return Answer.of(proposal, _card)


def _card(console: Console, proposal: Proposal) -> None:
    role = f" ({proposal.role})" if proposal.role else ""
    facts = [proposal.status, proposal.type, f"{proposal.proposer}{role}"]
    facts += [it for it in (proposal.body.get("outcome"), proposal.record) if it is not None]
    show.line(console, f"{proposal.id}  {' · '.join(facts)}")
    words = f"{proposal.title}: {proposal.content}" if proposal.title else proposal.content
    show.line(console, f"  {words}")
    if proposal.reason:
        show.line(console, f"  why: {proposal.reason}")
    for near in proposal.nearest:
        verdict = near.verdict
        opinion = f"{verdict.relation} {verdict.probability:.0%} ({verdict.reason})"
        show.line(console, f"  near {near.record.id}, {opinion}: {near.record.content}")
    for conflict in proposal.body.get("conflicts", ()):
        show.line(console, f"  opened {conflict}; decide it with: recollect resolve")
    if proposal.decided_by is not None:
        decision = f": {proposal.decision}" if proposal.decision else ""
        show.line(console, f"  {proposal.status} by {proposal.decided_by}{decision}")
    elif proposal.is_reopened and proposal.decision:
        show.line(console, f"  reopened: {proposal.decision}")
