"""A cache outside of the process, which all servers on one memory share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Protocol

from recollect.domain.caches import CacheStats


class SharedCache(Protocol):
    """Bytes by key, lost at any time. No call fails: what is away has nothing and takes nothing."""

    async def get(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the value of each key."""
        ...

    async def put(self, values: Mapping[str, bytes], ttl: timedelta) -> None:
        """Keep values for at most so long."""
        ...

    async def delete(self, key: str) -> None: ...

    def stats(self) -> CacheStats: ...
