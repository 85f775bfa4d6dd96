"""The chain that proves the audit: what its links are made of and how they are hashed.

A link holds nothing that must be forgotten. What an entry told and who did it are in it as keyed
hashes, whose key lies beside the entry and is erased with it: then the hashes tell nothing, and
the chain still holds.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass
from typing import Final

# Whoever tampers may have left anything in a row: it must be told, not fail.
_encoded: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=repr).encode


@dataclass(frozen=True, slots=True, kw_only=True)
class SealableEntry:
    """An entry as it is stored: its time in microseconds, the text of its payload, its key."""

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
        """Who it was, for whoever has the key; it differs from entry to entry."""
        return self._keyed(f"actor\n{self.actor}")

    @property
    def mac(self) -> str:
        """What it told, for whoever has the key."""
        return self._keyed(f"payload\n{self.scope_number}\n{self.payload}")

    def _keyed(self, text: str) -> str:
        # A lone surrogate cannot be stored, so every text here has one encoding.
        return hmac.digest(self.salt.encode(), text.encode(), "sha256").hex()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainLink:
    """One place in the chain of a workspace."""

    seq: int
    entry: int
    at: int
    actor: str
    action: str
    target: str
    mac: str
    hash: str

    def expected_hash(self, before: str) -> str:
        """What its hash must be when it follows the link with that hash."""
        return link_hash(
            before, self.seq, self.entry, self.at, self.actor, self.action, self.target, self.mac
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainHead:
    """How far the chain of a workspace goes, and the hash of its last link."""

    org: str
    workspace: str
    seq: int
    hash: str


def first_head(org: str, workspace: str) -> ChainHead:
    """Where the chain of a workspace begins, before its first link."""
    begin = _hash("recollect audit", org, workspace)
    return ChainHead(org=org, workspace=workspace, seq=0, hash=begin)


def link_after(head: ChainHead, entry: SealableEntry) -> ChainLink:
    """The link that seals an entry behind this head."""
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
