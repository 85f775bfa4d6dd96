"""The audit log, sealed into hash chains that reveal later changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from recollect.domain.audit import (
        ChainHead,
        ChainLink,
        SealableEntry,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A link and the entry that it seals, as stored now; None if the entry is gone."""

    link: ChainLink
    entry: SealableEntry | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedBatch:
    """The number of entries that were sealed, and the new heads of their chains."""

    count: int
    heads: tuple[ChainHead, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasures:
    """What forgetting did to entries: some were blanked, in others a person got a pseudonym."""

    blanked: tuple[tuple[int, int], ...]
    """Rising ranges, as first and last numbers."""
    renamed: Mapping[int, tuple[str, str]]
    """The keyed hashes of actor and payload that entries have since, by their numbers."""


class Anchor(Protocol):
    """The heads of chains, stored outside of the database to detect a truncated chain."""

    def heads(self) -> tuple[ChainHead, ...]:
        """Return the head of every chain."""
        ...

    def known(self, org: str, workspace: str) -> ChainHead | None: ...

    def keep(self, head: ChainHead) -> None:
        """Store the head of a chain, unless a later one is stored."""
        ...
