"""A cache in Redis that all servers share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from recollect.backends.redis.keys import Keys
from recollect.backends.redis.link import RedisLink
from recollect.domain.caches import CacheStats

_MILLISECOND: Final = timedelta(milliseconds=1)


class RedisCache:
    """A `SharedCache`; each kind of entry has keys of its own."""

    def __init__(self, link: RedisLink, keys: Keys, kind: str) -> None:
        self._link = link
        self._keys = keys
        self._kind = kind
        self._hits = 0
        self._misses = 0

    async def get(self, keys: Sequence[str]) -> list[bytes | None]:
        if self._link.is_away:
            return [None] * len(keys)
        # One command a key: in a cluster they lie on several servers.
        wanted = self._link.ask_all([("GET", self._name(key)) for key in keys])
        found: list[bytes | None] = await self._link.attempt(wanted, [None] * len(keys))
        hits = sum(value is not None for value in found)
        self._hits += hits
        self._misses += len(keys) - hits
        return found

    async def put(self, values: Mapping[str, bytes], ttl: timedelta) -> None:
        if self._link.is_away or ttl < _MILLISECOND:
            return
        most = ttl // _MILLISECOND
        kept = [("SET", self._name(key), value, "PX", most) for key, value in values.items()]
        await self._link.attempt(self._link.ask_all(kept), None)

    async def delete(self, key: str) -> None:
        await self._link.attempt(self._link.ask("UNLINK", self._name(key)), None)

    def stats(self) -> CacheStats:
        return CacheStats(hits=self._hits, misses=self._misses)

    def _name(self, key: str) -> str:
        return self._keys.cached(self._kind, key)
