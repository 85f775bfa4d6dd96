"""What forgetting has to do in a store that follows the database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Final

from recollect.domain.scope import Scope
from recollect.errors import StoreAway
from recollect.followers.following import Following

# So long a forgetting waits; a job does the rest.
_PATIENCE_SECONDS: Final = 10.0


class FollowedCopies:
    """The `Copies` in a store that is erased by following the database."""

    def __init__(self, following: Following) -> None:
        self._following = following

    @property
    def name(self) -> str:
        return self._following.name

    async def erase(self, scopes: Mapping[int, Scope | None]) -> None:
        """Have the store apply every change up to now: what was forgotten is among them."""
        if not await self._following.settle(_PATIENCE_SECONDS):
            problem = self._following.breaker.problem or "it is still applying earlier changes"
            raise StoreAway(f"{self.name} has not erased it yet: {problem}")

    async def contents(self) -> AsyncIterator[tuple[str, bytes]]:
        """Return nothing that could be read: numbers alone, see `strays`."""
        return
        yield "", b""

    async def strays(self) -> int:
        """Return how many entries the store has that the database does not have."""
        return (await self._following.reconcile(repair=False)).extra
