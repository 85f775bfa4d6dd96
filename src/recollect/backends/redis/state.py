"""Session state that is mirrored in Redis.

A value is written to the database and then to Redis. Whoever reads it asks the database for its
version at the same time, so that no restart, lost message or fail-over of Redis can bring back an
old value; what differs is read from the database and mirrored anew.
"""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any, Final

from recollect.backends.redis.keys import Keys
from recollect.backends.redis.link import RedisAway, RedisLink
from recollect.backends.sql.state import SqlState
from recollect.domain.caches import CacheStats
from recollect.domain.scope import Scope
from recollect.ports.runtime import Clock
from recollect.ports.state import StateEntry, StateKey

# What is larger is read from the database: it would hold up everybody else at the server.
_MAX_MIRRORED_CHARS: Final = 500_000
_LEAST: Final = timedelta(milliseconds=1)


class MirroredState:
    """The session state of a database, and a mirror of it in Redis."""

    def __init__(self, stored: SqlState, link: RedisLink, keys: Keys, clock: Clock) -> None:
        self._stored = stored
        self._link = link
        self._keys = keys
        self._clock = clock
        self._hits = 0
        self._misses = 0

    async def get(self, key: StateKey) -> StateEntry | None:
        if self._link.is_away:
            return await self._stored.get(key)
        newest, mirrored = await asyncio.gather(self._stored.peek(key), self._mirrored(key))
        if newest is None:
            return None
        if mirrored is not None and mirrored[0] == newest.version:
            self._hits += 1
            return StateEntry(
                value=mirrored[1], version=newest.version, expires_at=newest.expires_at
            )
        self._misses += 1
        entry = await self._stored.get(key)
        if entry is not None:
            await self._mirror(key, entry)
        return entry

    async def put(
        self,
        key: StateKey,
        value: str,
        *,
        ttl: timedelta | None = None,
        expected: int | None = None,
        known_since: datetime | None = None,
    ) -> int:
        version = await self._stored.put(
            key, value, ttl=ttl, expected=expected, known_since=known_since
        )
        expires_at = None if ttl is None else self._clock.now() + ttl
        await self._mirror(key, StateEntry(value=value, version=version, expires_at=expires_at))
        return version

    async def touch(self, key: StateKey, ttl: timedelta) -> bool:
        is_there = await self._stored.touch(key, ttl)
        if is_there:
            await self._link.attempt(
                self._link.ask("PEXPIRE", self._keys.state(key), _milliseconds(ttl)), None
            )
        return is_there

    async def delete(self, key: StateKey) -> None:
        await self._stored.delete(key)
        await self._link.attempt(self._link.ask("UNLINK", self._keys.state(key)), None)

    async def names(self, scope: Scope, session: str) -> list[str]:
        return await self._stored.names(scope, session)

    async def clear(self, scope: Scope, session: str) -> None:
        names = await self._stored.names(scope, session)
        await self._stored.clear(scope, session)
        keys = [StateKey(scope=scope, session=session, name=name) for name in names]
        if keys:
            await self._link.attempt(self._link.ask("UNLINK", *map(self._keys.state, keys)), None)

    async def sweep(self) -> int:
        # What has expired goes from Redis by itself.
        return await self._stored.sweep()

    def stats(self) -> CacheStats:
        """Return how often Redis had the newest value."""
        return CacheStats(hits=self._hits, misses=self._misses)

    async def _mirrored(self, key: StateKey) -> tuple[int, str] | None:
        """Return the version and the value that Redis has."""
        wanted = self._link.ask("HMGET", self._keys.state(key), "version", "value")
        found: list[bytes | None] = await self._link.attempt(wanted, [])
        match found:
            case [bytes() as version, bytes() as value]:
                return int(version), value.decode()
            case _:
                return None

    async def _mirror(self, key: StateKey, entry: StateEntry) -> None:
        name = self._keys.state(key)
        left = None if entry.expires_at is None else entry.expires_at - self._clock.now()
        if len(entry.value) > _MAX_MIRRORED_CHARS or (left is not None and left <= _LEAST):
            return
        commands: list[tuple[Any, ...]] = [
            ("HSET", name, "version", entry.version, "value", entry.value),
            ("PERSIST", name) if left is None else ("PEXPIRE", name, _milliseconds(left)),
        ]
        try:
            await self._link.ask_all(commands, together=True)
            # It may have been forgotten since it was stored, and erased here before it came.
            if await self._stored.peek(key) is None:
                await self._link.ask("UNLINK", name)
        except RedisAway:
            return


def _milliseconds(time: timedelta) -> int:
    return max(1, round(time / timedelta(milliseconds=1)))
