"""What the audit says: who did what to which thing, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollect.domain.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAuditEntry:
    """Something that happened. Who and when are those of the change set it is written with."""

    scope: Scope
    action: str
    """A short word: `remember`, `recall`, `propose`, `forget` …"""
    target: str
    """The id of what it was done to."""
    payload: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    """Everything else; erased when its subject is forgotten."""
    at: datetime | None = None
    """When it happened, if that was before it is written."""
