"""memory.audit: what happened, and the proof that nobody changed the account."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.domain.scope import Caller

if TYPE_CHECKING:
    from recollect.parts import Parts


class AuditTrail:
    """Who wrote, read and changed what, and why: append-only and provable."""

    def __init__(self, parts: Parts, caller: Caller) -> None:
        self._parts = parts
        self._caller = caller
