"""memory.upkeep: health, conflicts, review, expiry, retention."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from recollect.domain.conflict import Resolution
from recollect.domain.health import Health
from recollect.domain.page import Page
from recollect.domain.record import Record
from recollect.domain.scope import Caller
from recollect.domain.upkeep import Dispute, Swept

if TYPE_CHECKING:
    from recollect.parts import Parts


class Upkeep:
    """How memory is kept in order: health, conflicts, quarantine, expiry and retention."""

    def __init__(self, parts: Parts, caller: Caller) -> None:
        self._parts = parts
        self._caller = caller

    async def health(self) -> Health:
        """How much there is, how far it is trusted, and what somebody should look at."""
        return await self._parts.tending.health.health(self._caller.readable)

    async def buffer(self) -> tuple[Record, ...]:
        """The short-term records, the newest and most important first."""
        return await self._parts.tending.buffer.entries(self._caller)

    async def promote(self, record_id: str, *, reason: str = "") -> Record:
        """Keep a short-term record for good, even if its time was over already."""
        return await self._parts.tending.promoter.promote(self._caller, record_id, reason=reason)

    async def conflicts(self) -> tuple[Dispute, ...]:
        """Records that contradict each other and wait for a decision, the latest first."""
        return await self._parts.tending.conflicts.open(self._caller)

    async def resolve(
        self,
        conflict_id: str,
        resolution: Resolution,
        *,
        content: str | None = None,
        at: datetime | None = None,
        reason: str = "",
    ) -> Dispute:
        """Decide a conflict: keep one, merge both, or both are true at different times.

        `content` is what a merge says, by default what both say; `at` is when the one took the
        place of the other, by default when the later one was noticed.
        """
        return await self._parts.tending.conflicts.resolve(
            self._caller, conflict_id, resolution, content=content, at=at, reason=reason
        )

    async def quarantined(self, *, limit: int = 50, cursor: str | None = None) -> Page[Record]:
        """What its source does not bear out and somebody should look at, a page at a time."""
        return await self._parts.tending.review.quarantined(
            self._caller, limit=limit, cursor=cursor
        )

    async def accept(
        self, record_id: str, content: str | None = None, *, reason: str = ""
    ) -> Record:
        """Let a quarantined record be recalled, as it is or with another content."""
        return await self._parts.tending.review.accept(
            self._caller, record_id, content, reason=reason
        )

    async def reject(self, record_id: str, reason: str = "") -> Record:
        """Delete a quarantined record; undo brings it back."""
        return await self._parts.tending.review.reject(self._caller, record_id, reason=reason)

    async def expire(self, *, dry_run: bool = False) -> Swept:
        """Hide or remove the records whose time is over; a dry run only tells which."""
        return await self._parts.tending.sweep.expire(self._caller, dry_run=dry_run)

    async def retain(self, *, dry_run: bool = False) -> Swept:
        """Apply the rules of retention in the settings; a dry run only tells to which records."""
        return await self._parts.tending.sweep.retain(self._caller, dry_run=dry_run)

    async def sweep(self, *, dry_run: bool = False, all_scopes: bool = False) -> Swept:
        """All that a background sweep does for this caller: expiry, retention, capacity, archives.

        `all_scopes` is for an operator: it sweeps the records of everybody in this database.
        """
        tending = self._parts.tending
        if all_scopes:
            return await tending.sweep.everything(dry_run=dry_run, by=self._caller.principal)
        return await tending.sweep.of(self._caller, dry_run=dry_run)
