"""A proposal: what an agent wants all agents of its workspace to know, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from recollect.domain.scope import Scope

ProposalStatus = Literal["pending", "approved", "rejected", "expired", "withdrawn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Waits for the coordinator; `scope` is that of the shared record it would become."""

    id: str
    scope: Scope
    type: str
    proposer: str
    role: str
    status: ProposalStatus
    title: str
    content: str
    reason: str
    confidence: float
    created_at: datetime
    expires_at: datetime | None = None
    target: str | None = None
    """The shared record that it would change; none is a new one."""
    record: str | None = None
    """The shared record that it became."""
    decided_at: datetime | None = None
    decided_by: str | None = None
    decision: str = ""
    """Why it was decided so."""
    body: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    """The other fields of the record: kind, tags, metadata …"""
