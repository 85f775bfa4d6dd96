"""The audit log, sealed into hash chains that reveal later changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from recollect.domain.audit import (
        AuditEntry,
        ChainHead,
        ChainLink,
        ComparedContents,
        SealableEntry,
    )
    from recollect.domain.scope import Scope
    from recollect.domain.sharing import Party


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


class AuditLog(Protocol):
    """Reads and seals entries, which are written together with their change sets."""

    async def entries(
        self,
        scopes: Sequence[Scope],
        *,
        action: str | None = None,
        target: str | None = None,
        naming: str | None = None,
        before: int | None = None,
        proposals_of: Party | None = None,
        limit: int,
    ) -> list[AuditEntry]:
        """Return the entries of these scopes, latest first; with `naming`, those with this id.

        With `proposals_of`, leave out entries about proposals unless this party made them or they
        were approved.
        """
        ...

    async def seal(self, limit: int) -> SealedBatch:
        """Append the oldest unsealed entries to their chains."""
        ...

    async def unsealed(self, org: str, workspace: str) -> int:
        """Return the number of entries of a workspace that are not in its chain yet."""
        ...

    async def is_sealed(self) -> bool:
        """Return whether every entry is in a chain."""
        ...

    async def chain(self, org: str, workspace: str, *, after: int, limit: int) -> list[Sealed]:
        """Return the links of a workspace after a position, in order."""
        ...

    async def unchained(self, org: str, workspace: str, *, limit: int) -> list[SealableEntry]:
        """Return entries whose position in the chain has no link."""
        ...

    async def compare(self, org: str, workspace: str) -> ComparedContents:
        """Compare the content of a workspace with the digests taken when it was stored."""
        ...

    async def workspaces(self) -> list[tuple[str, str]]:
        """Return every organisation and workspace."""
        ...

    async def erasures(self, org: str, workspace: str) -> Erasures:
        """Return what forgetting did to the entries of a workspace."""
        ...


class Anchor(Protocol):
    """The heads of chains, stored outside of the database to detect a truncated chain."""

    def heads(self) -> tuple[ChainHead, ...]:
        """Return the head of every chain."""
        ...

    def known(self, org: str, workspace: str) -> ChainHead | None: ...

    def keep(self, head: ChainHead) -> None:
        """Store the head of a chain, unless a later one is stored."""
        ...
