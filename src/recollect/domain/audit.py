"""What the audit says: who did what to which thing, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from recollect.domain.scope import Scope

# That entries were erased: it says which, and is never erased itself.
ERASE: Final = "erase"
# That something remembered entered a prompt or the result of a tool.
INJECT: Final = "inject"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAuditEntry:
    """Something that happened; who and when are by default those of the change set it is in."""

    scope: Scope
    action: str
    """A short word: `remember`, `recall`, `propose`, `forget` …"""
    target: str
    """The id of what it was done to. It is kept for ever, so it must tell nothing by itself."""
    payload: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    """Everything else; erased when its subject is forgotten."""
    at: datetime | None = None
    """When it happened, if that was before it is written."""
    actor: str | None = None
    """Who did it, if that is not who writes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """Something that happened. Of one that was erased only what, when and to which id is left."""

    id: int
    scope: Scope
    at: datetime
    actor: str
    action: str
    target: str
    payload: Mapping[str, Any] = field(hash=False)
    # Its place in the chain of its workspace; none as long as it is not sealed.
    seq: int | None
    is_erased: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFault:
    """Something that is not as it was sealed: where in the chain, which entry, and what."""

    seq: int | None
    entry: int | None
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditVerdict:
    """What became of checking the chain of a workspace.

    `unsealed` entries are too new to be in the chain, and are not proved yet. Of `erased` ones
    the chain proves that they happened, and no longer what they said. Whoever keeps `sealed` and
    `head` elsewhere can prove later that the chain was not cut off or made anew.
    """

    org: str
    workspace: str
    sealed: int
    unsealed: int
    erased: int
    head: str
    faults: tuple[AuditFault, ...]

    @property
    def is_intact(self) -> bool:
        return not self.faults
