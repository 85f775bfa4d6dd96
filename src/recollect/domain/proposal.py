"""Proposals of agents for the shared memory of their workspace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Literal, get_args

from recollect.domain.scope import Scope
from recollect.domain.sharing import PERSON, Party
from recollect.errors import Conflict

ProposalStatus = Literal["pending", "approved", "rejected", "expired", "withdrawn"]
PROPOSAL_STATUSES: Final[tuple[ProposalStatus, ...]] = get_args(ProposalStatus)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A record that waits to become shared memory; `scope` is that of the future shared record."""

    id: str
    scope: Scope
    type: str
    proposer: str
    role: str
    user: str | None = None
    """The user whom the proposer worked for."""
    status: ProposalStatus
    title: str
    content: str
    reason: str
    confidence: float
    created_at: datetime
    expires_at: datetime | None = None
    target: str | None = None
    """The shared record that it would change; None for a new one."""
    record: str | None = None
    """The shared record that it became."""
    decided_at: datetime | None = None
    decided_by: str | None = None
    decision: str = ""
    """The reason of the decision."""
    body: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    """The other fields of the record: kind, tags, metadata …"""

    def evolve(self, **changes: Any) -> Proposal:
        """Return the proposal with some fields changed."""
        return replace(self, **changes)

    def is_by(self, party: Party) -> bool:
        """Return whether this party made it, working for the same user."""
        made = (self.proposer, self.role == PERSON, self.user)
        return made == (party.name, party.is_person, party.user)


def already_decided(proposal_id: str, status: str = "decided") -> Conflict:
    return Conflict(
        f"{proposal_id} is {status} already; nothing was changed",
        code="already_decided",
        hint="A proposal is decided once; make a new one to change what came of it.",
    )
