"""Session state in this process, for tests."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from recollect.domain.fields import checked_text
from recollect.domain.scope import Scope
from recollect.domain.times import to_micros
from recollect.ports.runtime import Clock
from recollect.ports.state import ABSENT, MAX_STATE, StateEntry, StateKey, require_version


class ProcessState:
    """Session state in a dictionary. No call waits inside, so each happens at once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: dict[StateKey, StateEntry] = {}

    async def get(self, key: StateKey) -> StateEntry | None:
        return self._live(key)

    async def put(
        self,
        key: StateKey,
        value: str,
        *,
        ttl: timedelta | None = None,
        expected: int | None = None,
        known_since: datetime | None = None,
    ) -> int:
        # No other process sees this state, and our own lets go of what it forgets.
        checked_text(value, "state", MAX_STATE)
        found = self._live(key)
        require_version(key, expected, ABSENT if found is None else found.version)
        now = self._clock.now()
        before = self._entries.get(key)
        self._entries[key] = StateEntry(
            value=value,
            version=max(to_micros(now), 0 if before is None else before.version + 1),
            expires_at=None if ttl is None else now + ttl,
        )
        return self._entries[key].version

    async def touch(self, key: StateKey, ttl: timedelta) -> bool:
        found = self._live(key)
        if found is not None:
            self._entries[key] = replace(found, expires_at=self._clock.now() + ttl)
        return found is not None

    async def delete(self, key: StateKey) -> None:
        self._entries.pop(key, None)

    async def names(self, scope: Scope, session: str) -> list[str]:
        return sorted(key.name for key in self._of(scope, session) if self._live(key))

    async def clear(self, scope: Scope, session: str) -> None:
        for key in self._of(scope, session):
            del self._entries[key]

    async def sweep(self) -> int:
        expired = [key for key in self._entries if self._live(key) is None]
        for key in expired:
            del self._entries[key]
        return len(expired)

    def _of(self, scope: Scope, session: str) -> list[StateKey]:
        return [key for key in self._entries if (key.scope, key.session) == (scope, session)]

    def _live(self, key: StateKey) -> StateEntry | None:
        found = self._entries.get(key)
        if found is None or (found.expires_at and found.expires_at <= self._clock.now()):
            return None
        return found
