"""`memory.upkeep`: health, conflicts, quarantine, expiry and retention."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from recollect.domain.operation import Operation
from recollect.domain.page import Page
from recollect.domain.record import Record
from recollect.domain.relation import Resolution
from recollect.domain.scope import Caller, Role
from recollect.domain.stats import Health
from recollect.domain.upkeep import Dispute, Swept, swept_together

if TYPE_CHECKING:
    from recollect.assemble.container import Wiring


class Upkeep:
    """The care of memory: health, conflicts, quarantine, expiry and retention."""

    def __init__(self, parts: Wiring, caller: Caller) -> None:
        self._parts = parts
        self._caller = caller

    @Operation("GET", "/v1/upkeep/health", "memory_health", Role.READER, command="health")
    async def health(self) -> Health:
        """Return how much is stored, how far it is trusted, and what needs attention."""
        return await self._parts.upkeep.health.health(self._caller.readable)

    @Operation("GET", "/v1/upkeep/buffer", "list_buffer", Role.READER, pages=True, command="buffer")
    async def buffer(self) -> tuple[Record, ...]:
        """Return the short-term records, newest and most important first."""
        return await self._parts.upkeep.buffer.entries(self._caller)

    @Operation(
        "POST",
        "/v1/upkeep/buffer/{record_id}/promote",
        "promote_record",
        Role.WRITER,
        command="promote",
    )
    async def promote(self, record_id: str, *, reason: str = "") -> Record:
        """Make a short-term record permanent, even if it has expired."""
        return await self._parts.upkeep.promoter.promote(self._caller, record_id, reason=reason)

    @Operation(
        "GET",
        "/v1/upkeep/conflicts",
        "list_conflicts",
        Role.READER,
        pages=True,
        command="conflicts",
    )
    async def conflicts(self) -> tuple[Dispute, ...]:
        """Return the open conflicts between records, latest first."""
        return await self._parts.upkeep.conflicts.open(self._caller.readable)

    @Operation(
        "POST",
        "/v1/upkeep/conflicts/{conflict_id}/resolve",
        "resolve_conflict",
        Role.COORDINATOR,
        command="resolve",
    )
    async def resolve(
        self,
        conflict_id: str,
        resolution: Resolution,
        *,
        content: str | None = None,
        at: datetime | None = None,
        reason: str = "",
    ) -> Dispute:
        """Resolve a conflict: keep one record, merge both, or keep both for different times.

        `content` is the text of a merge, by default both texts; `at` is when one replaced the
        other, by default when the later one was noticed.
        """
        return await self._parts.upkeep.conflicts.resolve(
            self._caller, conflict_id, resolution, content=content, at=at, reason=reason
        )

    @Operation(
        "POST",
        "/v1/upkeep/conflicts/{conflict_id}/reopen",
        "reopen_conflict",
        Role.COORDINATOR,
        command="reopen",
    )
    async def reopen(self, conflict_id: str, *, resolved_at: datetime | None = None) -> Dispute:
        """Take back the decision on a conflict: both records are as before, and it is open.

        It is refused if one of them was changed since, or if the decision is not the one of
        `resolved_at`.
        """
        return await self._parts.upkeep.conflicts.reopen(self._caller, conflict_id, resolved_at)

    @Operation("GET", "/v1/upkeep/quarantine", "list_quarantine", Role.READER, command="quarantine")
    async def quarantined(self, *, limit: int = 50, cursor: str | None = None) -> Page[Record]:
        """Return a page of the records that their source does not support."""
        return await self._parts.upkeep.review.quarantined(self._caller, limit=limit, cursor=cursor)

    @Operation(
        "POST",
        "/v1/upkeep/quarantine/{record_id}/accept",
        "accept_record",
        Role.WRITER,
        command="accept",
    )
    async def accept(
        self, record_id: str, content: str | None = None, *, reason: str = ""
    ) -> Record:
        """Release a record from quarantine, as it is or with new content."""
        return await self._parts.upkeep.review.accept(
            self._caller, record_id, content, reason=reason
        )

    @Operation(
        "POST",
        "/v1/upkeep/quarantine/{record_id}/reject",
        "reject_record",
        Role.WRITER,
        command="reject",
    )
    async def reject(self, record_id: str, reason: str = "") -> Record:
        """Delete a quarantined record; `undo` restores it."""
        return await self._parts.upkeep.review.reject(self._caller, record_id, reason=reason)

    @Operation(
        "POST", "/v1/upkeep/expire", "expire_records", Role.ADMIN, repeat="repeatable", patient=True
    )
    async def expire(self, *, dry_run: bool = False) -> Swept:
        """Hide or remove expired records; a dry run only reports them."""
        return await self._parts.upkeep.sweep.expire(self._caller, dry_run=dry_run)

    @Operation(
        "POST",
        "/v1/upkeep/retain",
        "apply_retention",
        Role.ADMIN,
        repeat="repeatable",
        patient=True,
    )
    async def retain(self, *, dry_run: bool = False) -> Swept:
        """Apply the retention rules of the settings; a dry run only reports the records."""
        return await self._parts.upkeep.sweep.retain(self._caller, dry_run=dry_run)

    @Operation(
        "POST",
        "/v1/upkeep/sweep",
        "sweep",
        Role.ADMIN,
        repeat="repeatable",
        patient=True,
        command="sweep",
    )
    async def sweep(self, *, dry_run: bool = False, all_scopes: bool = False) -> Swept:
        """Run a whole sweep for this caller: expiry, retention, capacity and archives.

        `all_scopes` is for an operator: it sweeps the records of everybody, in every store.
        """
        if not all_scopes:
            return await self._parts.upkeep.sweep.of(self._caller, dry_run=dry_run)
        by = self._caller.principal
        return swept_together(
            [
                await parts.upkeep.sweep.everything(dry_run=dry_run, by=by)
                for parts in self._parts.router.every()
            ]
        )
