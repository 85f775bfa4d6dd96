"""memory.upkeep: health, conflicts, review, expiry, retention."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.domain.scope import Caller

if TYPE_CHECKING:
    from recollect.parts import Parts


class Upkeep:
    """How memory is kept in order: health, conflicts, quarantine, expiry and retention."""

    def __init__(self, parts: Parts, caller: Caller) -> None:
        self._parts = parts
        self._caller = caller
