"""Audit entries: who did what to which record, turn or archive, and why."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar, Final

from recollect.domain.scope import Scope

# Entries were erased. This entry names them and is never erased itself.
ERASE: Final = "erase"
# Digests of an erased entry were kept, because what they belong to still exists.
KEEP: Final = "keep"
# Records and turns were moved here with their agent; it proves them.
MOVE_IN: Final = "move_in"
# Records or turns entered a prompt or the result of a tool.
INJECT: Final = "inject"
# A proposal became a shared record.
APPROVE: Final = "approve"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAuditEntry:
    """An entry to write; actor and time default to those of its change set."""

    scope: Scope
    action: str
    """A short word: `remember`, `recall`, `propose`, `forget` …"""
    target: str
    """The id of what was changed. It is kept forever, so it must reveal nothing by itself."""
    payload: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    """Everything else; erased when the target is forgotten."""
    at: datetime | None = None
    """When it happened, if earlier than it is written."""
    actor: str | None = None
    """Who did it, if not the caller who writes the entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """A stored entry. Once erased, it keeps only its action, time and target."""

    id: int
    scope: Scope
    at: datetime
    actor: str
    action: str
    target: str
    payload: Mapping[str, Any] = field(hash=False)
    # Its position in the chain of its workspace; None until it is sealed.
    seq: int | None
    is_erased: bool
    title: str = ""
    """What its target is called now, or the question of a prompt; empty once that is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFault:
    """A difference from what was sealed: its position, the entry, and what is wrong."""

    seq: int | None
    entry: int | None
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentFault:
    """A turn or a version of a record that was altered or removed outside of Recollect."""

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
    """The result of comparing stored content with the digests in the audit.

    `unproved` counts content without a digest: it was stored before digests existed.
    """

    same: int
    unproved: int
    faults: tuple[ContentFault, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditVerdict:
    """The result of checking the audit chain of a workspace.

    `unsealed` entries are too new to be in the chain and not proved yet. For `erased` entries,
    the chain proves that they happened, but no longer what they said. Anybody who keeps `sealed`
    and `head` elsewhere can prove later that the chain was not truncated or rebuilt.
    """

    DERIVED: ClassVar = ("is_intact",)

    org: str
    workspace: str
    sealed: int
    unsealed: int
    erased: int
    head: str
    faults: tuple[AuditFault, ...]
    proved: int = 0
    """How many turns and versions of records match their digests."""
    unproved: int = 0
    """How many have no digest in the audit."""

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


# --------------------------------------------------------------------------------------------------
# The hash chain that makes the audit tamper-evident: what its links hold and how they are hashed.
# A link holds nothing that must be forgotten. The payload and the actor of an entry are in it as
# keyed hashes, whose key is stored with the entry and erased with it. After that the hashes reveal
# nothing, and the chain can still be checked.


# A row that somebody tampered with may hold anything: report it instead of failing.
_encoded: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=repr).encode


@dataclass(frozen=True, slots=True, kw_only=True)
class SealableEntry:
    """A stored entry: its time in microseconds, its payload as text, and its key (`salt`)."""

    id: int
    scope_number: int
    at: int
    actor: str
    action: str
    target: str
    payload: str
    salt: str
    seq: int | None

    @property
    def is_erased(self) -> bool:
        return not self.salt

    @property
    def pseudonym(self) -> str:
        """Return the keyed hash of the actor, which differs from entry to entry."""
        return self._keyed(f"actor\n{self.actor}")

    @property
    def mac(self) -> str:
        """Return the keyed hash of the scope and payload."""
        return self._keyed(f"payload\n{self.scope_number}\n{self.payload}")

    def _keyed(self, text: str) -> str:
        # A lone surrogate cannot be stored, so every text here has one encoding.
        return hmac.digest(self.salt.encode(), text.encode(), "sha256").hex()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainLink:
    """One link in the chain of a workspace."""

    seq: int
    entry: int
    at: int
    actor: str
    action: str
    target: str
    mac: str
    hash: str

    def expected_hash(self, before: str) -> str:
        """Return the hash that this link must have after a link with the given hash."""
        return link_hash(
            before, self.seq, self.entry, self.at, self.actor, self.action, self.target, self.mac
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainHead:
    """The end of the chain of a workspace: its length and the hash of its last link."""

    org: str
    workspace: str
    seq: int
    hash: str


def first_head(org: str, workspace: str) -> ChainHead:
    """Return the head of an empty chain."""
    begin = _hash("recollect audit", org, workspace)
    return ChainHead(org=org, workspace=workspace, seq=0, hash=begin)


def link_after(head: ChainHead, entry: SealableEntry) -> ChainLink:
    """Return the link that appends an entry to the chain."""
    seq, pseudonym, mac = head.seq + 1, entry.pseudonym, entry.mac
    return ChainLink(
        seq=seq,
        entry=entry.id,
        at=entry.at,
        actor=pseudonym,
        action=entry.action,
        target=entry.target,
        mac=mac,
        hash=link_hash(
            head.hash, seq, entry.id, entry.at, pseudonym, entry.action, entry.target, mac
        ),
    )


def link_hash(
    before: str,
    seq: int,
    entry: int,
    at: int,
    actor: str,
    action: str,
    target: str,
    mac: str,
) -> str:
    return _hash(before, seq, entry, at, actor, action, target, mac)


def _hash(*parts: str | int) -> str:
    return hashlib.sha256(_encoded(parts).encode()).hexdigest()
