"""The hash chain that makes the audit tamper-evident: what its links hold and how they are hashed.

A link holds nothing that must be forgotten. The payload and the actor of an entry are in it as
keyed hashes, whose key is stored with the entry and erased with it. After that the hashes reveal
nothing, and the chain can still be checked.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass
from typing import Final

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
