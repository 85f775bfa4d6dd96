"""What is looked up in the one store that holds it: changes of a scope, traces of writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.domain.change import Change
from recollect.domain.scope import Holding, Scope, split_reachable
from recollect.domain.write import Trace
from recollect.ports.store import ChangeLog, Writes


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitChangeLog:
    """Follows every scope in the store that holds it."""

    holding: Holding[ChangeLog]

    async def since(
        self, scope: Scope, version: int, *, limit: int
    ) -> Sequence[tuple[int, tuple[Change, ...]]]:
        return await self.holding(scope).since(scope, version, limit=limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitWrites:
    """Reads traces and watermarks in the stores that hold their scopes."""

    holding: Holding[Writes]

    async def trace(self, scopes: Sequence[Scope], write_id: str) -> Trace | None:
        places, problems = split_reachable(scopes, self.holding)
        for writes, some in places:
            if (found := await writes.trace(some, write_id)) is not None:
                return found
        if problems:
            raise problems[0]
        return None

    async def watermark(self, scope: Scope, session: str) -> int:
        return await self.holding(scope).watermark(scope, session)

    async def unread_sessions(self, scope: Scope) -> list[str]:
        return await self.holding(scope).unread_sessions(scope)
