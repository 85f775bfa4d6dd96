"""What a tool works with: a memory, the parts behind it, and for whom and in which session."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.domain.context import Tongue
from recollect.domain.record import Record
from recollect.domain.scope import Caller
from recollect.memory import Memory

if TYPE_CHECKING:
    from recollect.parts import Parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """One caller's place to work. `named_session` is the session if the caller told it."""

    memory: Memory
    parts: Parts
    caller: Caller
    session: str
    named_session: str | None
    language: Tongue

    def entered(self, items: Iterable[object]) -> None:
        """Count the records among what a tool's result shows, once a session."""
        records = [item for item in items if isinstance(item, Record)]
        self.parts.usage.entered(self.session, records)
