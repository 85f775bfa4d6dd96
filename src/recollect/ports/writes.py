"""Reading the traces of writes. They are written by the store's commit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from recollect.domain.scope import Scope
from recollect.domain.write import Trace


class Writes(Protocol):
    """Traces of writes, and how far extraction has read sessions. Reads only see given scopes."""

    async def trace(self, scopes: Sequence[Scope], write_id: str) -> Trace | None:
        """Return the steps of one write, or None if it is not visible."""
        ...

    async def watermark(self, scope: Scope, session: str) -> int:
        """Return the ordinal of the last turn that extraction has read; 0 if none."""
        ...

    async def unread_sessions(self, scope: Scope) -> list[str]:
        """Return the sessions with turns that extraction has not read, oldest first."""
        ...
