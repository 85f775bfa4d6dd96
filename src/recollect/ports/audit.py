"""The audit: what happened, sealed into chains that show when somebody changed it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from recollect.domain.audit import AuditEntry, ComparedContents
from recollect.domain.audit_chain import ChainHead, ChainLink, SealableEntry
from recollect.domain.scope import Scope
from recollect.domain.sharing import Party


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A link, and the entry it seals as it is stored now; none when it is gone."""

    link: ChainLink
    entry: SealableEntry | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedBatch:
    """How many entries got their places, and how far their chains go now."""

    count: int
    heads: tuple[ChainHead, ...]


class AuditLog(Protocol):
    """Entries are written with the change sets that they tell of; here they are read and sealed."""

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
        """What happened in these scopes, the latest first; `naming` an id anywhere in it.

        With `proposals_of`, entries about proposals are left out unless this party made them or
        they were approved: what they became is shared.
        """
        ...

    async def seal(self, limit: int) -> SealedBatch:
        """Add the oldest entries without a place to the ends of their chains."""
        ...

    async def unsealed(self, org: str, workspace: str) -> int:
        """How many entries of a workspace are not in its chain yet."""
        ...

    async def is_sealed(self) -> bool:
        """Whether every entry there is has its place in a chain."""
        ...

    async def chain(self, org: str, workspace: str, *, after: int, limit: int) -> list[Sealed]:
        """The links of a workspace behind a place, in their order."""
        ...

    async def unchained(self, org: str, workspace: str, *, limit: int) -> list[SealableEntry]:
        """Entries that have a place in the chain at which there is no link."""
        ...

    async def compare(self, org: str, workspace: str) -> ComparedContents:
        """Compare what a workspace holds with the digests that were taken when it was stored."""
        ...

    async def workspaces(self) -> list[tuple[str, str]]:
        """Every organisation and workspace that there is."""
        ...

    async def erasures(self, org: str, workspace: str) -> list[tuple[int, int]]:
        """Which entries were erased by a forgetting: first and last numbers."""
        ...


class Anchor(Protocol):
    """How far chains went, kept outside the database: it tells when the end of one is gone."""

    def known(self, org: str, workspace: str) -> ChainHead | None: ...

    def keep(self, head: ChainHead) -> None:
        """Remember how far a chain goes, unless it was known to go further."""
        ...
