"""`memory.items`: JSON objects that frameworks store beside the memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from recollect.domain.fields import checked_items
from recollect.domain.ids import new_id
from recollect.domain.item import ItemDraft, ItemHit, Namespace, StoredItem
from recollect.domain.operation import Operation
from recollect.domain.scope import Caller, Role

if TYPE_CHECKING:
    from recollect.assemble.container import Wiring


class Items:
    """The items of this caller's own scope: JSON objects under a namespace and a key.

    No other scope sees them, and they never enter a prompt by themselves. They are exported and
    forgotten with everything else.
    """

    def __init__(self, parts: Wiring, caller: Caller) -> None:
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
        """Store one item, replacing any with the same key.

        A search finds it by its `texts`: by default every text in the value; an empty list leaves
        it out. `vectors` of your own, one for each text, are compared with the `vector` of a
        search.
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

    @Operation("POST", "/v1/items/write", "write_items", Role.WRITER, names={"drafts": "put"})
    async def write(
        self,
        drafts: Iterable[ItemDraft] = (),
        removed: Iterable[tuple[Sequence[str], str]] = (),
    ) -> tuple[StoredItem, ...]:
        """Store several items and remove others, in one transaction."""
        return tuple(await self._parts.items.write(self._caller.scope, [*drafts], [*removed]))

    @Operation("POST", "/v1/items/get", "get_item", Role.READER, repeat="read", answer="item")
    async def get(
        self, namespace: Iterable[str], key: str, *, refresh: bool = True
    ) -> StoredItem | None:
        """Return an item, or None; with `refresh` its time to live starts again."""
        labels = checked_items(namespace, "namespace")
        return await self._parts.items.get(self._caller.scope, labels, key, refresh=refresh)

    async def delete(self, namespace: Iterable[str], key: str) -> None:
        """Remove an item, if there is one."""
        await self.write(removed=[(checked_items(namespace, "namespace"), key)])

    @Operation("POST", "/v1/items/search", "search_items", Role.READER, repeat="read")
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
        """Return the items under a namespace, best first for a `query`, else in order of storage.

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

    @Operation("POST", "/v1/items/namespaces", "list_namespaces", Role.READER, repeat="read")
    async def namespaces(
        self,
        prefix: Iterable[str] = (),
        suffix: Iterable[str] = (),
        *,
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> tuple[Namespace, ...]:
        """Return the non-empty namespaces with this prefix and suffix; `*` matches any label."""
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
        """Add values at the end of a namespace, in order, under generated keys."""
        labels = checked_items(namespace, "namespace")
        return await self.write(
            ItemDraft(namespace=labels, key=new_id("item"), value=value, texts=())
            for value in values
        )

    @Operation("POST", "/v1/items/list", "list_items", Role.READER, repeat="read")
    async def listed(
        self, namespace: Iterable[str], *, limit: int | None = None, last_first: bool = False
    ) -> tuple[StoredItem, ...]:
        """Return the items of exactly this namespace in the order they were stored."""
        return tuple(
            await self._parts.items.listed(
                self._caller.scope,
                checked_items(namespace, "namespace"),
                limit=limit,
                last_first=last_first,
            )
        )

    @Operation("POST", "/v1/items/pop", "pop_item", Role.WRITER, answer="item")
    async def pop(self, namespace: Iterable[str]) -> StoredItem | None:
        """Remove the last item of a namespace and return it."""
        labels = checked_items(namespace, "namespace")
        return await self._parts.items.pop(self._caller.scope, labels)

    @Operation("POST", "/v1/items/clear", "clear_items", Role.WRITER, answer="removed")
    async def clear(self, namespace: Iterable[str]) -> int:
        """Remove all items of exactly this namespace; return how many there were."""
        labels = checked_items(namespace, "namespace")
        return await self._parts.items.clear(self._caller.scope, labels)
