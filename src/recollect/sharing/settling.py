"""What an approved proposal makes of the shared records there are.

Of two that speak of the same thing the newest stands, of two made together the surer one. The
other is kept as a version of the same record, so its history shows what was given up and why.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from recollect.domain.change import RecordChange
from recollect.domain.fields import MAX_REASON, RecordFields, new_record
from recollect.domain.proposal import Proposal
from recollect.domain.record import Record
from recollect.domain.sharing import SHARED_TYPES

Outcome = Literal["created", "confirmed", "replaced", "kept"]
"""created: a new record. confirmed: it was known. replaced: it stands in the place of what was
known. kept: what was known stands, and this is a version in its history."""

# Claims made within it were made together: neither is the newer one.
_TOGETHER: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """A shared record about the same thing as a proposal."""

    record: Record
    says_the_same: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The record that stands now, and the versions that lead to it."""

    outcome: Outcome
    record: Record
    changes: tuple[RecordChange, ...]


def settle(
    proposal: Proposal, rival: Rival | None, *, said_at: datetime, now: datetime, reason: str
) -> Settled:
    """Bring a proposal together with what is known; `said_at` is when its words were written."""
    if rival is None:
        record = as_record(proposal, said_at, now)
        return _settled("created", (record, _told(proposal, reason)))
    stored = rival.record
    if rival.says_the_same:
        confirmed = _confirmed(stored, proposal, said_at, now)
        return _settled("confirmed", (confirmed, _told(proposal, reason, "said again")))
    proposed = _restated(stored, proposal, said_at, now)
    if _stands(proposal, stored, said_at):
        return _settled("replaced", (proposed, _told(proposal, reason)))
    standing = stored.evolve(version=stored.version + 2, updated_at=now)
    return _settled(
        "kept",
        (proposed, _told(proposal, reason)),
        (standing, "what was known is newer or surer and stands"),
    )


def as_record(proposal: Proposal, said_at: datetime, now: datetime) -> Record:
    """The shared record that a proposal becomes where nothing is known of the same thing."""
    fields = RecordFields(
        category=proposal.type,
        title=proposal.title,
        tags=proposal.body.get("tags", ()),
        confidence=proposal.confidence,
        source=proposal.proposer,
        first_observed=said_at,
        metadata=_metadata(proposal),
    )
    return new_record(proposal.content, fields, proposal.scope, now)


def _metadata(proposal: Proposal) -> dict[str, Any]:
    return {
        "creator": proposal.proposer,
        "creator_role": proposal.role,
        "readers": list(SHARED_TYPES[proposal.type].readers),
        "proposal": proposal.id,
    }


def _confirmed(stored: Record, proposal: Proposal, said_at: datetime, now: datetime) -> Record:
    doubt = (1 - stored.confidence) * (1 - proposal.confidence)
    return stored.evolve(
        evidence_count=stored.evidence_count + 1,
        confidence=1 - doubt,
        last_confirmed=max(stored.last_confirmed, said_at),
        updated_at=now,
        version=stored.version + 1,
    )


def _restated(stored: Record, proposal: Proposal, said_at: datetime, now: datetime) -> Record:
    """The record with the proposal's words in the place of its own."""
    changed = stored.evolve(
        content=proposal.content,
        confidence=proposal.confidence,
        last_confirmed=said_at,
        updated_at=now,
        version=stored.version + 1,
    )
    if proposal.target is not None:
        # A change of a record leaves it to its creator, and alone what it does not speak of.
        return changed.evolve(
            title=proposal.title or stored.title,
            tags=tuple(proposal.body.get("tags", stored.tags)),
            metadata={**stored.metadata, "proposal": proposal.id},
        )
    return changed.evolve(
        title=proposal.title,
        tags=tuple(proposal.body.get("tags", ())),
        evidence_count=1,
        first_observed=said_at,
        source=proposal.proposer,
        metadata={**stored.metadata, **_metadata(proposal)},
    )


def _stands(proposal: Proposal, stored: Record, said_at: datetime) -> bool:
    newer = said_at - stored.last_confirmed
    if abs(newer) > _TOGETHER:
        return newer > timedelta()
    if proposal.confidence != stored.confidence:
        return proposal.confidence > stored.confidence
    return newer >= timedelta()


def _told(proposal: Proposal, *reasons: str) -> str:
    parts = (f"{proposal.id} by {proposal.proposer}", proposal.reason, *reasons)
    return "; ".join(filter(None, parts))[:MAX_REASON]


def _settled(outcome: Outcome, *versions: tuple[Record, str]) -> Settled:
    changes = tuple(RecordChange(record=record, reason=reason) for record, reason in versions)
    return Settled(outcome=outcome, record=versions[-1][0], changes=changes)
