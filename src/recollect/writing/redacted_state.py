"""The state of sessions without personal data: notes, scratchpads and windows as they may lie."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

from recollect.domain.scope import Scope
from recollect.ports.state import State, StateEntry, StateKey
from recollect.writing.redaction import Redactor


class RedactedState:
    """Another state whose values are cleaned before they are written.

    A session that is open goes on with what was said; only what is stored of it is cleaned.
    """

    def __init__(self, state: State, redactor: Redactor) -> None:
        self._state = state
        self._redactor = redactor

    async def get(self, key: StateKey) -> StateEntry | None:
        return await self._state.get(key)

    async def put(
        self,
        key: StateKey,
        value: str,
        *,
        ttl: timedelta | None = None,
        expected: int | None = None,
        known_since: datetime | None = None,
    ) -> int:
        cleaned, counts = self._redactor.value(json.loads(value))
        written = json.dumps(cleaned, ensure_ascii=False) if counts else value
        return await self._state.put(
            key, written, ttl=ttl, expected=expected, known_since=known_since
        )

    async def touch(self, key: StateKey, ttl: timedelta) -> bool:
        return await self._state.touch(key, ttl)

    async def delete(self, key: StateKey) -> None:
        await self._state.delete(key)

    async def names(self, scope: Scope, session: str) -> list[str]:
        return await self._state.names(scope, session)

    async def clear(self, scope: Scope, session: str) -> None:
        await self._state.clear(scope, session)

    async def sweep(self) -> int:
        return await self._state.sweep()
