"""`memory.audit`: read the audit log and verify that nobody changed it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.domain.audit import AuditEntry, AuditVerdict, verdict_together
from recollect.domain.injection import Replay
from recollect.domain.operation import Operation
from recollect.domain.page import Page
from recollect.domain.scope import Caller, Role

if TYPE_CHECKING:
    from recollect.assemble.container import Wiring


class AuditTrail:
    """An append-only, verifiable log of who wrote, read and changed what, and why."""

    def __init__(self, parts: Wiring, caller: Caller) -> None:
        self._parts = parts
        self._caller = caller

    @Operation("GET", "/v1/audit", "list_audit", Role.READER, command="audit tail")
    async def tail(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        action: str | None = None,
        target: str | None = None,
    ) -> Page[AuditEntry]:
        """Return what happened in the scopes this caller may read, newest first.

        `action` is a word such as `remember`, `update`, `observe` or `inject`; `target` is the id
        that it was done to.
        """
        return await self._parts.audit.tail(
            self._caller, limit=limit, cursor=cursor, action=action, target=target
        )

    @Operation("GET", "/v1/audit/{id}", "show_audit", Role.READER, pages=True, command="audit show")
    async def show(self, id: str) -> tuple[AuditEntry, ...]:
        """Return every entry about a record, a turn or a recall, oldest first."""
        return await self._parts.audit.show(self._caller, id)

    @Operation(
        "GET", "/v1/audit/verify", "verify_audit", Role.ADMIN, patient=True, command="audit verify"
    )
    async def verify(self) -> AuditVerdict:
        """Check the whole chain of this workspace and report what was changed after sealing.

        Where agents have stores of their own, each store has a chain, and all of them are checked.
        """
        return verdict_together(
            [await parts.audit.verify(self._caller) for parts in self._parts.router.every()]
        )

    @Operation(
        "GET",
        "/v1/recalls/{recall_id}/replay",
        "replay_recall",
        Role.READER,
        command="audit replay",
    )
    async def replay(self, recall_id: str) -> Replay:
        """Return what a past prompt was given and what the same query returns now.

        See `MemoryContext` for the id of a recall.
        """
        return await self._parts.audit.replay(self._caller, recall_id)

    @Operation(
        "POST", "/v1/audit/seal", "seal_audit", Role.ADMIN, repeat="repeatable", answer="sealed"
    )
    async def seal(self) -> int:
        """Seal the newest entries now instead of in the background; return how many."""
        return sum([await parts.audit.seal() for parts in self._parts.router.opened])
