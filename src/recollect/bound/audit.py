"""memory.audit: what happened, and the proof that nobody changed the account."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.domain.audit import AuditEntry, AuditVerdict
from recollect.domain.page import Page
from recollect.domain.replay import Replay
from recollect.domain.scope import Caller

if TYPE_CHECKING:
    from recollect.parts import Parts


class AuditTrail:
    """Who wrote, read and changed what, and why: append-only and provable."""

    def __init__(self, parts: Parts, caller: Caller) -> None:
        self._parts = parts
        self._caller = caller

    async def tail(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        action: str | None = None,
        target: str | None = None,
    ) -> Page[AuditEntry]:
        """What happened in the scopes this caller may read, the latest first.

        `action` is a word such as `remember`, `update`, `observe` or `inject`, `target` the id of
        what it was done to.
        """
        return await self._parts.trail.tail(
            self._caller, limit=limit, cursor=cursor, action=action, target=target
        )

    async def show(self, id: str) -> tuple[AuditEntry, ...]:
        """All that the audit tells of a record, a turn or a recall, in its order."""
        return await self._parts.trail.show(self._caller, id)

    async def verify(self) -> AuditVerdict:
        """Check the whole chain of this workspace: what is sealed, and what was changed since."""
        return await self._parts.trail.verify(self._caller)

    async def replay(self, recall_id: str) -> Replay:
        """What a prompt was given, and what the same question gives now; see `MemoryContext`."""
        return await self._parts.trail.replay(self._caller, recall_id)

    async def seal(self) -> int:
        """Seal what is too new to be in the chain, now instead of soon; how many entries."""
        return await self._parts.trail.seal()
