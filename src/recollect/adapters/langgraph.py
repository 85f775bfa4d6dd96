"""A LangGraph store on a memory: `graph.compile(store=RecollectStore(memory))`.

What is put is kept as items of the memory's scope: durable, exported and forgotten with
everything else. Search works without an index of one's own, by words and by meaning.
"""
# The framework has an environment of its own, where the tests of this module run.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any, Final

from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    ensure_embeddings,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)

from recollect.adapters.bridge import AnyMemory, Bridge
from recollect.domain.item import ItemDraft, Namespace, StoredItem, begins_with, ends_with

__all__ = ["RecollectStore", "namespace_label"]

_EVERY: Final = 1_000_000
_WHOLE: Final = "$"


def namespace_label(text: str) -> str:
    """Return a label that LangGraph takes: e-mail addresses and the like have periods."""
    return text.replace("%", "%25").replace(".", "%2E")


class RecollectStore(BaseStore):
    """A `BaseStore` for blocking and async graphs.

    `memory` is one of `recollect.sync`, which serves both, or one of `recollect`, which serves
    async graphs on its own event loop. Without `index` the memory's own model searches every text
    of a value; with one, its `embed` and `fields` are used. Times to live are in minutes.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: AnyMemory,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        self._bridge = Bridge(memory)
        self.index_config = index
        self.ttl_config = ttl
        self.embeddings = None if index is None else ensure_embeddings(index["embed"])
        fields = (index or {}).get("fields") or [_WHOLE]
        self._fields = [_path(field) for field in fields]

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        given = _checked(ops)
        vectors = {} if self.embeddings is None else self._embedded(given)
        return self._bridge.run(lambda: self._batch(given, vectors))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        given = _checked(ops)
        vectors = {} if self.embeddings is None else await self._aembedded(given)
        return await self._bridge.arun(lambda: self._batch(given, vectors))

    async def _batch(self, ops: Sequence[Op], vectors: dict[str, Any]) -> list[Result]:
        """Answer what reads as things were before, then write the last of each key."""
        results: list[Result] = []
        written: dict[tuple[Namespace, str], PutOp] = {}
        for op in ops:
            match op:
                case PutOp():
                    written[op.namespace, op.key] = op
                    results.append(None)
                case GetOp():
                    results.append(await self._get(op))
                case SearchOp():
                    results.append(await self._search(op, vectors))
                case ListNamespacesOp():
                    results.append(await self._namespaces(op))
                case _:
                    raise ValueError(f"Unknown operation type: {type(op)}")
        if written:
            gone = [place for place, op in written.items() if op.value is None]
            drafts = [self._draft(op, vectors) for op in written.values() if op.value is not None]
            await self._bridge.memory.items.write(drafts, gone)
        return results

    async def _get(self, op: GetOp) -> Item | None:
        found = await self._bridge.memory.items.get(op.namespace, op.key, refresh=op.refresh_ttl)
        return None if found is None else Item(**_fields_of(found))

    async def _search(self, op: SearchOp, vectors: dict[str, Any]) -> list[SearchItem]:
        vector = vectors.get(op.query or "")
        is_own = self.embeddings is None
        found = await self._bridge.memory.items.search(
            op.namespace_prefix,
            query=op.query or None if is_own else None,
            vector=vector,
            where=op.filter,
            limit=op.limit,
            offset=op.offset,
            refresh=op.refresh_ttl,
        )
        return [SearchItem(**_fields_of(hit.item), score=hit.score) for hit in found]

    async def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        found = await self._bridge.memory.items.namespaces(limit=_EVERY)
        for condition in op.match_conditions or ():
            fits = begins_with if condition.match_type == "prefix" else ends_with
            found = [it for it in found if fits(it, condition.path)]
        cut = sorted({it if op.max_depth is None else it[: op.max_depth] for it in found})
        return cut[op.offset : op.offset + op.limit]

    def _draft(self, op: PutOp, vectors: dict[str, Any]) -> ItemDraft:
        texts = self._texts(op)
        own = None if self.embeddings is None else [vectors[text] for text in texts or ()]
        return ItemDraft(
            namespace=op.namespace,
            key=op.key,
            value=dict(op.value or {}),
            ttl=None if op.ttl is None else timedelta(minutes=op.ttl),
            texts=texts,
            vectors=own,
        )

    def _texts(self, op: PutOp) -> list[str] | None:
        """Return what a value is found by; None leaves the choice to the memory."""
        if op.index is False:
            return []
        if op.index is None and self.embeddings is None:
            return None
        fields = self._fields if op.index is None else [_path(it) for it in op.index]
        return [text for field in fields for text in get_text_at_path(op.value, field) if text]

    def _wanted(self, ops: Sequence[Op]) -> tuple[list[str], list[str]]:
        """Return the questions and the texts that must be embedded, each once."""
        questions = [op.query for op in ops if isinstance(op, SearchOp) and op.query]
        puts = [op for op in ops if isinstance(op, PutOp) and op.value is not None]
        texts = [text for op in puts for text in self._texts(op) or ()]
        return list(dict.fromkeys(questions)), list(dict.fromkeys(texts))

    def _embedded(self, ops: Sequence[Op]) -> dict[str, Any]:
        assert self.embeddings is not None
        questions, texts = self._wanted(ops)
        made = self.embeddings.embed_documents(texts) if texts else []
        asked = [self.embeddings.embed_query(question) for question in questions]
        return dict(zip(texts, made, strict=True)) | dict(zip(questions, asked, strict=True))

    async def _aembedded(self, ops: Sequence[Op]) -> dict[str, Any]:
        assert self.embeddings is not None
        questions, texts = self._wanted(ops)
        made = await self.embeddings.aembed_documents(texts) if texts else []
        asked = [await self.embeddings.aembed_query(question) for question in questions]
        return dict(zip(texts, made, strict=True)) | dict(zip(questions, asked, strict=True))


def _path(field: str) -> Any:
    return field if field == _WHOLE else tokenize_path(field)


def _checked(ops: Iterable[Op]) -> list[Op]:
    given = list(ops)
    for op in given:
        validate_op_namespace(op)
    return given


def _fields_of(item: StoredItem) -> dict[str, Any]:
    return {
        "namespace": item.namespace,
        "key": item.key,
        "value": dict(item.value),
        "created_at": item.created_at,
        "updated_at": item.updated_at,
    }
