"""memory.items: what frameworks keep for themselves, beside what is remembered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from recollect.domain.fields import checked_items
from recollect.domain.ids import new_id
from recollect.domain.item import ItemDraft, ItemHit, Namespace, StoredItem
from recollect.domain.scope import Caller

if TYPE_CHECKING:
    from recollect.memory.parts import Parts


class Items:
    """The items of this caller's own scope: JSON objects under a namespace and a key.

    No other scope sees them, and they enter no prompt by themselves. They are exported and
    forgotten with everything else.
    """

    def __init__(self, parts: Parts, caller: Caller) -> None:
        self._parts = parts
        self._caller = caller

    async def put(
        self,
        namespace: Iterable[str],
        key: str,
        value: Mapping[str, Any],
        *,
        ttl: timedelta | None = None,
        texts: Iterable[str] | None = None,
        vectors: Sequence[Sequence[float]] | None = None,
    ) -> StoredItem:
        """Put one item; what was there under its key is replaced.

        `texts` are what a search finds it by: by default every text in the value, none leaves it
        out. `vectors` of your own, one for each text, are compared with a search's `vector`.
        """
        draft = ItemDraft(
            namespace=checked_items(namespace, "namespace"),
            key=key,
            value=value,
            ttl=ttl,
            texts=None if texts is None else checked_items(texts, "texts"),
            vectors=vectors,
        )
        (item,) = await self.write([draft])
        return item

    async def write(
        self,
        drafts: Iterable[ItemDraft] = (),
        removed: Iterable[tuple[Sequence[str], str]] = (),
    ) -> tuple[StoredItem, ...]:
        """Put several items and remove others, in one transaction."""
        return tuple(await self._parts.items.write(self._caller.scope, [*drafts], [*removed]))

    async def get(
        self, namespace: Iterable[str], key: str, *, refresh: bool = True
    ) -> StoredItem | None:
        """Return an item, None where there is none; with `refresh` its time to live begins anew."""
        labels = checked_items(namespace, "namespace")
        return await self._parts.items.get(self._caller.scope, labels, key, refresh=refresh)

    async def delete(self, namespace: Iterable[str], key: str) -> None:
        """Remove an item, if there is one."""
        await self.write(removed=[(checked_items(namespace, "namespace"), key)])

    async def search(
        self,
        prefix: Iterable[str] = (),
        *,
        query: str | None = None,
        vector: Sequence[float] | None = None,
        where: Mapping[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh: bool = True,
    ) -> tuple[ItemHit, ...]:
        """Return the items under a namespace, best first for a `query`, else as they were put.

        `where` compares fields of the value: `{"kind": "note", "stars": {"$gte": 3}}`, with $eq,
        $ne, $gt, $gte, $lt, $lte and $in.
        """
        return tuple(
            await self._parts.items.search(
                self._caller.scope,
                checked_items(prefix, "prefix"),
                query=query,
                vector=vector,
                where=where or {},
                limit=limit,
                offset=offset,
                refresh=refresh,
            )
        )

    async def namespaces(
        self,
        prefix: Iterable[str] = (),
        suffix: Iterable[str] = (),
        *,
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> tuple[Namespace, ...]:
        """Return the namespaces that hold anything and begin and end so; `*` is any label."""
        return tuple(
            await self._parts.items.namespaces(
                self._caller.scope,
                prefix=checked_items(prefix, "prefix"),
                suffix=checked_items(suffix, "suffix"),
                max_depth=max_depth,
                limit=limit,
                offset=offset,
            )
        )

    async def append(
        self, namespace: Iterable[str], values: Iterable[Mapping[str, Any]]
    ) -> tuple[StoredItem, ...]:
        """Add values at the end of a namespace, under keys of our own, in their order."""
        labels = checked_items(namespace, "namespace")
        return await self.write(
            ItemDraft(namespace=labels, key=new_id("item"), value=value, texts=())
            for value in values
        )

    async def listed(
        self, namespace: Iterable[str], *, limit: int | None = None, last_first: bool = False
    ) -> tuple[StoredItem, ...]:
        """Return the items of exactly this namespace in the order they were put."""
        return tuple(
            await self._parts.items.listed(
                self._caller.scope,
                checked_items(namespace, "namespace"),
                limit=limit,
                last_first=last_first,
            )
        )

    async def pop(self, namespace: Iterable[str]) -> StoredItem | None:
        """Remove the last item of a namespace and return it."""
        labels = checked_items(namespace, "namespace")
        return await self._parts.items.pop(self._caller.scope, labels)

    async def clear(self, namespace: Iterable[str]) -> int:
        """Remove all items of exactly this namespace; return how many there were."""
        labels = checked_items(namespace, "namespace")
        return await self._parts.items.clear(self._caller.scope, labels)
