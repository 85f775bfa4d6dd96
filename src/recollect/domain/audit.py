"""What the audit says: who did what to which thing, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from recollect.domain.scope import Scope

# That entries were erased: it says which, and is never erased itself.
ERASE: Final = "erase"
# That the digests of an erased entry which are of things that stay are kept.
KEEP: Final = "keep"
# That something remembered entered a prompt or the result of a tool.
INJECT: Final = "inject"
# That a proposal became a shared record.
APPROVE: Final = "approve"


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
class ContentFault:
    """A version of a record, or a turn, that is not what was stored, or not there any more."""

    id: str
    version: str
    entry: int
    seq: int | None
    is_gone: bool = False

    def __str__(self) -> str:
        what = f"{self.id} (version {self.version})" if self.version else self.id
        if self.is_gone:
            return f"{what} is gone, and nobody removed it"
        return f"{what} is not what was stored: it was changed outside of Recollect"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedContents:
    """What became of comparing all that is stored with the digests in the audit.

    `unproved` things have none: they are older than digests are.
    """

    same: int
    unproved: int
    faults: tuple[ContentFault, ...]


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
    proved: int = 0
    """Versions of records and turns that are what was stored."""
    unproved: int = 0
    """Those of which the audit holds no digest."""

    @property
    def is_intact(self) -> bool:
        return not self.faults


def verdict_together(several: Sequence[AuditVerdict]) -> AuditVerdict:
    """Return the verdicts on the chains of several stores as one; it has all their heads."""
    return replace(
        several[0],
        sealed=sum(it.sealed for it in several),
        unsealed=sum(it.unsealed for it in several),
        erased=sum(it.erased for it in several),
        head=" ".join(it.head for it in several),
        faults=tuple(fault for it in several for fault in it.faults),
        proved=sum(it.proved for it in several),
        unproved=sum(it.unproved for it in several),
    )
