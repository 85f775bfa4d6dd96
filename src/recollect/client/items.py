"""The items of a remote memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from recollect.client.connection import Connection, at
from recollect.domain.fields import checked_items
from recollect.domain.ids import new_id
from recollect.domain.item import ItemDraft, ItemHit, Namespace, StoredItem
from recollect.domain.scope import Scope
from recollect.memory.items import Items


class RemoteItems(Items):
    """The items of one scope on a server."""

    def __init__(self, connection: Connection, scope: Scope) -> None:
        self._connection = connection
        self._scope = scope

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
        gone = [{"namespace": [*namespace], "key": key} for namespace, key in removed]
        put = [_given(draft) for draft in drafts]
        told = await self._ask("write", {"put": put, "removed": gone})
        return tuple(self._item(it) for it in told["items"])

    async def get(
        self, namespace: Iterable[str], key: str, *, refresh: bool = True
    ) -> StoredItem | None:
        told = await self._ask("get", {**_named(namespace), "key": key, "refresh": refresh})
        return None if told["item"] is None else self._item(told["item"])

    async def delete(self, namespace: Iterable[str], key: str) -> None:
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
        body = {
            "prefix": checked_items(prefix, "prefix"),
            "query": query,
            "vector": vector,
            "where": where or {},
            "limit": limit,
            "offset": offset,
            "refresh": refresh,
        }
        told = await self._ask("search", body)
        return tuple(
            ItemHit(item=self._item(it["item"]), score=it["score"]) for it in told["items"]
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
        body = {
            "prefix": checked_items(prefix, "prefix"),
            "suffix": checked_items(suffix, "suffix"),
            "max_depth": max_depth,
            "limit": limit,
            "offset": offset,
        }
        return tuple(tuple(it) for it in (await self._ask("namespaces", body))["items"])

    async def append(
        self, namespace: Iterable[str], values: Iterable[Mapping[str, Any]]
    ) -> tuple[StoredItem, ...]:
        labels = checked_items(namespace, "namespace")
        return await self.write(
            ItemDraft(namespace=labels, key=new_id("item"), value=value, texts=())
            for value in values
        )

    async def listed(
        self, namespace: Iterable[str], *, limit: int | None = None, last_first: bool = False
    ) -> tuple[StoredItem, ...]:
        body = {**_named(namespace), "limit": limit, "last_first": last_first}
        return tuple(self._item(it) for it in (await self._ask("list", body))["items"])

    async def pop(self, namespace: Iterable[str]) -> StoredItem | None:
        told = await self._ask("pop", _named(namespace))
        return None if told["item"] is None else self._item(told["item"])

    async def clear(self, namespace: Iterable[str]) -> int:
        return (await self._ask("clear", _named(namespace)))["removed"]

    async def _ask(self, what: str, body: Mapping[str, Any]) -> Any:
        return await self._connection.ask("POST", at("items", what), self._scope, body=body)

    def _item(self, told: Mapping[str, Any]) -> StoredItem:
        ttl, expires_at = told["ttl"], told["expires_at"]
        return StoredItem(
            id=told["id"],
            scope=self._scope,
            namespace=tuple(told["namespace"]),
            key=told["key"],
            value=told["value"],
            created_at=datetime.fromisoformat(told["created_at"]),
            updated_at=datetime.fromisoformat(told["updated_at"]),
            expires_at=None if expires_at is None else datetime.fromisoformat(expires_at),
            ttl=None if ttl is None else timedelta(seconds=ttl),
            position=told["position"],
            texts=tuple(told["texts"]),
        )


def _named(namespace: Iterable[str]) -> dict[str, Any]:
    return {"namespace": checked_items(namespace, "namespace")}


def _given(draft: ItemDraft) -> dict[str, Any]:
    return {
        "namespace": [*draft.namespace],
        "key": draft.key,
        "value": draft.value,
        "ttl": None if draft.ttl is None else draft.ttl.total_seconds(),
        "texts": draft.texts,
        "vectors": draft.vectors,
    }
