"""Storage of items, which frameworks keep under a namespace and a key."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from recollect.domain.item import Namespace, StoredItem
from recollect.domain.scope import Scope

Place = tuple[Namespace, str]


class ItemStore(Protocol):
    """The items of scopes. Expired items are never returned, even before a sweep."""

    async def find(
        self, scope: Scope, places: Sequence[Place], *, now: datetime
    ) -> list[StoredItem | None]:
        """Return the item at each namespace and key, or None."""
        ...

    async def write(
        self, scope: Scope, put: Sequence[StoredItem], removed: Sequence[Place] = ()
    ) -> list[StoredItem]:
        """Put and remove items in one transaction; return the items as stored.

        An item that replaces another one keeps its id, position and creation time.
        """
        ...

    async def listed(
        self,
        scope: Scope,
        prefix: Namespace,
        *,
        now: datetime,
        is_exact: bool = False,
        limit: int | None = None,
        offset: int = 0,
        last_first: bool = False,
    ) -> list[StoredItem]:
        """Return the items under a prefix, or in exactly that namespace, by position."""
        ...

    async def namespaces(self, scope: Scope, *, now: datetime) -> list[Namespace]:
        """Return the namespaces that hold items, in order."""
        ...

    async def pop(self, scope: Scope, namespace: Namespace, *, now: datetime) -> StoredItem | None:
        """Remove and return the last item of a namespace; only one of two callers gets it."""
        ...

    async def clear(self, scope: Scope, namespace: Namespace) -> int:
        """Remove all items of exactly this namespace; return how many there were."""
        ...

    async def refresh(self, scope: Scope, places: Sequence[Place], *, now: datetime) -> None:
        """Restart the time to live of these items, if they have one."""
        ...

    async def sweep(self, *, now: datetime) -> int:
        """Remove the expired items of all scopes; return how many there were."""
        ...
