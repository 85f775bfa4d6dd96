"""Items: validate, redact and index them before they are stored, and search them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from recollect.domain.fields import checked_json, checked_text
from recollect.domain.ids import new_id
from recollect.domain.item import (
    MAX_KEY,
    MAX_TEXTS,
    MAX_VALUE,
    ItemDraft,
    ItemHit,
    Namespace,
    Place,
    StoredItem,
    begins_with,
    checked_namespace,
    ends_with,
    passes,
    texts_in,
)
from recollect.domain.scope import Scope
from recollect.embedding.service import EmbeddingService
from recollect.errors import InvalidInput
from recollect.language.analysis import query_terms, term_keys, terms
from recollect.ports.runtime import Clock
from recollect.ports.units import UnitIndex
from recollect.writing.redaction import Redactor

if TYPE_CHECKING:
    from recollect.items.rows import SqlItems

Vectors = NDArray[np.float32]

# The model name of vectors that the caller provides.
_CALLERS_MODEL: Final = "caller"
# Beyond any embedding, and small enough to be squared and added up in 32 bits.
_MAX_COMPONENT: Final = 1e15
# The weight of vectors compared with words.
_VECTOR_WEIGHT: Final = 0.7
# Only this much of a longer text is indexed.
_MAX_TEXT_CHARACTERS: Final = 4_000
# How many items without vectors of this model are embedded during a search.
_MAX_EMBEDDED_ITEMS: Final = 100


@dataclass(eq=False)
class ItemKeeper:
    """Stores and searches items."""

    _items: SqlItems
    _units: UnitIndex
    _embedding: EmbeddingService
    _redactor: Redactor
    _clock: Clock

    async def write(
        self,
        scope: Scope,
        drafts: Sequence[ItemDraft],
        removed: Sequence[tuple[Sequence[str], str]] = (),
    ) -> list[StoredItem]:
        """Put and remove items, all or nothing."""
        now = self._clock.now()
        gone = [_checked_place(*place) for place in removed]
        items = [await self._made(scope, draft, now) for draft in drafts]
        return await self._items.write(scope, items, gone)

    async def get(
        self, scope: Scope, namespace: Sequence[str], key: str, *, refresh: bool
    ) -> StoredItem | None:
        now = self._clock.now()
        (found,) = await self._items.find(scope, [_checked_place(namespace, key)], now=now)
        if found is not None and refresh:
            (found,) = await self._refreshed(scope, [found], now)
        return found

    async def search(
        self,
        scope: Scope,
        prefix: Sequence[str],
        *,
        query: str | None,
        vector: Sequence[float] | None,
        where: Mapping[str, Any],
        limit: int,
        offset: int,
        refresh: bool,
    ) -> list[ItemHit]:
        """Return a page of the items under a prefix: best first, or in order without a query."""
        labels = checked_namespace(prefix, empty=True)
        now = self._clock.now()
        is_asked = query is not None or vector is not None
        if not is_asked and not where:
            found = await self._items.listed(
                scope, labels, now=now, limit=max(0, limit), offset=max(0, offset)
            )
            hits = [ItemHit(item=item) for item in found]
        else:
            every = await self._items.listed(scope, labels, now=now)
            chosen = [item for item in every if passes(item.value, where)]
            hits = await self._ranked(chosen, query, vector)
            hits = hits[max(0, offset) :][: max(0, limit)]
        if refresh:
            items = await self._refreshed(scope, [hit.item for hit in hits], now)
            pairs = zip(items, hits, strict=True)
            hits = [ItemHit(item=item, score=hit.score) for item, hit in pairs]
        return hits

    async def listed(
        self, scope: Scope, namespace: Sequence[str], *, limit: int | None, last_first: bool
    ) -> list[StoredItem]:
        """Return the items of exactly this namespace in the order they were put."""
        return await self._items.listed(
            scope,
            checked_namespace(namespace),
            now=self._clock.now(),
            is_exact=True,
            limit=limit,
            last_first=last_first,
        )

    async def namespaces(
        self,
        scope: Scope,
        *,
        prefix: Sequence[str],
        suffix: Sequence[str],
        max_depth: int | None,
        limit: int,
        offset: int,
    ) -> list[Namespace]:
        """Return the namespaces with this prefix and suffix, cut off at a depth, each once."""
        found = await self._items.namespaces(scope, now=self._clock.now())
        matching = (name for name in found if begins_with(name, prefix) and ends_with(name, suffix))
        cut = sorted({name if max_depth is None else name[:max_depth] for name in matching})
        return cut[max(0, offset) :][: max(0, limit)]

    async def pop(self, scope: Scope, namespace: Sequence[str]) -> StoredItem | None:
        labels = checked_namespace(namespace)
        return await self._items.pop(scope, labels, now=self._clock.now())

    async def clear(self, scope: Scope, namespace: Sequence[str]) -> int:
        return await self._items.clear(scope, checked_namespace(namespace))

    async def sweep(self) -> int:
        return await self._items.sweep(now=self._clock.now())

    async def _made(self, scope: Scope, draft: ItemDraft, now: datetime) -> StoredItem:
        namespace, key = _checked_place(draft.namespace, draft.key)
        value = checked_json(draft.value, "value", MAX_VALUE)
        texts = [*texts_in(value)] if draft.texts is None else [*draft.texts]
        if self._redactor.mode != "off":
            value, _ = self._redactor.value(value)
            texts = [self._redactor.value(text)[0] for text in texts]
        # With many texts, all of them together tell what the item is about.
        texts = ["\n".join(texts)] if len(texts) > MAX_TEXTS or draft.texts is None else texts
        texts = [text[:_MAX_TEXT_CHARACTERS] for text in texts if text.strip()]
        vectors, model = await self._vectors(texts, draft.vectors)
        return StoredItem(
            id=new_id("item"),
            scope=scope,
            namespace=namespace,
            key=key,
            value=value,
            created_at=now,
            updated_at=now,
            expires_at=None if draft.ttl is None else now + _checked_ttl(draft.ttl),
            ttl=draft.ttl,
            texts=tuple(texts),
            vectors=b"" if vectors is None else vectors.astype("<f4").tobytes(),
            model=model,
        )

    async def _vectors(
        self, texts: Sequence[str], given: Sequence[Sequence[float]] | None
    ) -> tuple[Vectors | None, str]:
        if given is not None:
            rows = _checked_vectors(given) if given else np.zeros((0, 0), np.float32)
            if texts and len(rows) != len(texts):
                raise InvalidInput("There must be one vector for each text", code="bad_vectors")
            return rows, _CALLERS_MODEL
        if not texts:
            return None, ""
        made = await self._embedding.of_texts(texts)
        model = self._embedding.model
        return (None, "") if made is None or model is None else (made, model.name)

    async def _refreshed(
        self, scope: Scope, items: Sequence[StoredItem], now: datetime
    ) -> list[StoredItem]:
        """Restart the time to live of items that were read."""
        mortal = [item.place for item in items if item.ttl is not None]
        if not mortal:
            return [*items]
        await self._items.refresh(scope, mortal, now=now)
        found = await self._items.find(scope, [item.place for item in items], now=now)
        return [after or before for before, after in zip(items, found, strict=True)]

    async def _ranked(
        self, items: Sequence[StoredItem], query: str | None, vector: Sequence[float] | None
    ) -> list[ItemHit]:
        if query is None and vector is None:
            return [ItemHit(item=item) for item in items]
        if vector is not None:
            nearness = _nearest(items, _checked_vectors([vector])[0], _CALLERS_MODEL)
            scores = [*nearness]
        else:
            scores = await self._scores(items, query or "")
        hits = [ItemHit(item=item, score=score) for item, score in zip(items, scores, strict=True)]
        # Items without a score come last, in order.
        return sorted(hits, key=lambda hit: (hit.score is None, -(hit.score or 0.0)))

    async def _embedded(self, items: Sequence[StoredItem], model: str) -> list[StoredItem]:
        """Return the items, with vectors for those that were put without this model."""
        lacking = [
            item for item in items if item.texts and item.model != model and not _of_caller(item)
        ]
        texts = [text for item in lacking[:_MAX_EMBEDDED_ITEMS] for text in item.texts]
        rows = await self._embedding.of_texts(texts) if texts else None
        if rows is None:
            return [*items]
        made: dict[str, StoredItem] = {}
        for item in lacking[:_MAX_EMBEDDED_ITEMS]:
            own, rows = rows[: len(item.texts)], rows[len(item.texts) :]
            made[item.id] = replace(item, vectors=own.astype("<f4").tobytes(), model=model)
        return [made.get(item.id, item) for item in items]

    async def _scores(self, items: Sequence[StoredItem], query: str) -> list[float | None]:
        """Return the score of each item for a query, by words and by vectors."""
        keys = term_keys(query_terms(query))
        read = [term_keys(terms("\n".join(item.texts))) for item in items]
        by_words = await self._units.rank(keys, read) if keys else [0.0] * len(items)
        model = self._embedding.model
        asked = await self._embedding.ask(query, [] if model is None else [model])
        nearness: Sequence[float | None] = [None] * len(items)
        if model is not None and model in asked.vectors:
            slope, start = self._embedding.calibration.scale
            nearness = [
                None if near is None else min(1.0, max(0.0, slope * near + start))
                for near in _nearest(
                    await self._embedded(items, model.name), asked.vectors[model], model.name
                )
            ]
        return [
            None
            if not item.texts
            else words
            if near is None
            else _VECTOR_WEIGHT * near + (1 - _VECTOR_WEIGHT) * words
            for item, words, near in zip(items, by_words, nearness, strict=True)
        ]


def _of_caller(item: StoredItem) -> bool:
    return item.model == _CALLERS_MODEL


def _checked_vectors(given: Sequence[Sequence[float]]) -> Vectors:
    """Return the caller's vectors as rows, or raise `InvalidInput` if they cannot be compared."""
    try:
        rows = np.array(given, np.float64)
    except (ValueError, TypeError):
        rows = np.empty((0, 0))
    # Not a number is not within bounds either.
    if rows.ndim != 2 or not rows.size or not (np.abs(rows) <= _MAX_COMPONENT).all():
        raise InvalidInput(
            "Vectors must be lists of numbers, all of one length, none of them beyond"
            f" {_MAX_COMPONENT:g}",
            code="bad_vectors",
        )
    return rows.astype(np.float32)


def _nearest(items: Sequence[StoredItem], asked: Vectors, model: str) -> list[float | None]:
    """Return the largest cosine of each item's vectors; None if it has none of this model."""
    wanted = asked / max(float(np.linalg.norm(asked)), 1e-9)
    near: list[float | None] = []
    for item in items:
        rows = np.frombuffer(item.vectors, "<f4")
        if item.model != model or not len(rows) or len(rows) % len(wanted):
            near.append(None)
            continue
        rows = rows.reshape(-1, len(wanted))
        lengths = np.maximum(np.linalg.norm(rows, axis=1), 1e-9)
        near.append(float(np.max(rows @ wanted / lengths)))
    return near


def _checked_place(namespace: Sequence[str], key: str) -> Place:
    return checked_namespace(namespace), checked_text(key, "key", MAX_KEY)


def _checked_ttl(ttl: timedelta) -> timedelta:
    if ttl <= timedelta():
        raise InvalidInput(f"ttl must be longer than nothing, not {ttl}", code="out_of_range")
    return ttl
