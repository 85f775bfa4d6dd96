"""Reading how things came to be remembered. Writing it is the store's commit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from recollect.domain.scope import Scope
from recollect.domain.write import Trace


class Writes(Protocol):
    """Traces of writes, and how far sessions were read. Reads only see the scopes given."""

    async def trace(self, scopes: Sequence[Scope], write_id: str) -> Trace | None:
        """The steps of one write; None when there is none to see."""
        ...

    async def watermark(self, scope: Scope, session: str) -> int:
        """The place of the last turn that was read for what is worth remembering; 0 for none."""
        ...

    async def unread_sessions(self, scope: Scope) -> list[str]:
        """The sessions that have turns which were not read yet, the oldest first."""
        ...
