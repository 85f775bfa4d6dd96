"""memory.shared: proposals and what became of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.domain.scope import Caller

if TYPE_CHECKING:
    from recollect.parts import Parts


class SharedMemory:
    """What all agents of a workspace know: proposed by one, approved by its coordinator."""

    def __init__(self, parts: Parts, caller: Caller) -> None:
        self._parts = parts
        self._caller = caller
