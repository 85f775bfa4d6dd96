"""Storing items: what frameworks keep under a namespace and a key."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from recollect.domain.item import Namespace, StoredItem
from recollect.domain.scope import Scope

Place = tuple[Namespace, str]


class ItemStore(Protocol):
    """Items of scopes. What has expired is not there, whether or not it was swept yet."""

    async def find(
        self, scope: Scope, places: Sequence[Place], *, now: datetime
    ) -> list[StoredItem | None]:
        """Return the item at each place, None where there is none."""
        ...

    async def write(
        self, scope: Scope, put: Sequence[StoredItem], removed: Sequence[Place] = ()
    ) -> list[StoredItem]:
        """Put items and remove others in one transaction; return those put as they are stored.

        An item at a place that is taken replaces it, and keeps its id, position and creation.
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
        """Return the items under a prefix, or in exactly that namespace, by their position."""
        ...

    async def namespaces(self, scope: Scope, *, now: datetime) -> list[Namespace]:
        """Return the namespaces that hold anything, in their order."""
        ...

    async def pop(self, scope: Scope, namespace: Namespace, *, now: datetime) -> StoredItem | None:
        """Remove the last item of a namespace and return it; of two callers only one gets it."""
        ...

    async def clear(self, scope: Scope, namespace: Namespace) -> int:
        """Remove all items of exactly this namespace; return how many there were."""
        ...

    async def refresh(self, scope: Scope, places: Sequence[Place], *, now: datetime) -> None:
        """Let the time to live of these items begin anew, of those that have one."""
        ...

    async def sweep(self, *, now: datetime) -> int:
        """Remove what has expired in any scope; return how many there were."""
        ...
