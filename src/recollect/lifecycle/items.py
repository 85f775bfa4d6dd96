"""Keeping items: what is checked, cleaned and indexed before it is stored, and how it is found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

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
    StoredItem,
    begins_with,
    checked_namespace,
    ends_with,
    passes,
    texts_in,
)
from recollect.domain.scope import Scope
from recollect.errors import InvalidInput
from recollect.language.analysis import query_terms, term_keys, terms
from recollect.ports.clock import Clock
from recollect.ports.items import ItemStore, Place
from recollect.ports.units import UnitIndex
from recollect.recall.meaning import Meaning
from recollect.writing.redaction import Redactor

Vectors = NDArray[np.float32]

# The name of vectors that a caller brought along.
_CALLERS: Final = "caller"
# How much nearness counts beside words.
_VECTOR_WEIGHT: Final = 0.7
# Of a longer text so much is indexed.
_LONGEST_TEXT: Final = 4_000
# So many items that were imported, or put without this model, are embedded while one waits.
_MOST_EMBEDDED: Final = 100


class ItemKeeper:
    """Puts items, and finds them again."""

    def __init__(
        self,
        items: ItemStore,
        units: UnitIndex,
        meaning: Meaning,
        redactor: Redactor,
        clock: Clock,
    ) -> None:
        self._items = items
        self._units = units
        self._meaning = meaning
        self._redactor = redactor
        self._clock = clock

    async def write(
        self,
        scope: Scope,
        drafts: Sequence[ItemDraft],
        removed: Sequence[tuple[Sequence[str], str]] = (),
    ) -> list[StoredItem]:
        """Put items and remove others, all of it or nothing."""
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
        """Return a page of the items under a prefix: best first, or without a question in order."""
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
        """Return the namespaces that begin and end so, cut off at a depth, each once."""
        found = await self._items.namespaces(scope, now=self._clock.now())
        fitting = (it for it in found if begins_with(it, prefix) and ends_with(it, suffix))
        cut = sorted({it if max_depth is None else it[:max_depth] for it in fitting})
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
        # Of many texts the whole tells what the item is about.
        texts = ["\n".join(texts)] if len(texts) > MAX_TEXTS or draft.texts is None else texts
        texts = [text[:_LONGEST_TEXT] for text in texts if text.strip()]
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
            rows = np.array(given, np.float32)
            if texts and rows.shape[:1] != (len(texts),):
                raise InvalidInput("There must be one vector for each text", code="bad_vectors")
            return rows, _CALLERS
        if not texts:
            return None, ""
        made = await self._meaning.of_texts(texts)
        model = self._meaning.model
        return (None, "") if made is None or model is None else (made, model.name)

    async def _refreshed(
        self, scope: Scope, items: Sequence[StoredItem], now: datetime
    ) -> list[StoredItem]:
        """Let the time to live of items that were read begin anew."""
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
            nearness = _nearest(items, np.array(vector, np.float32), _CALLERS)
            scores = [*nearness]
        else:
            scores = await self._scores(items, query or "")
        hits = [ItemHit(item=item, score=score) for item, score in zip(items, scores, strict=True)]
        # What has nothing to compare comes last, in its order.
        return sorted(hits, key=lambda hit: (hit.score is None, -(hit.score or 0.0)))

    async def _embedded(self, items: Sequence[StoredItem], model: str) -> list[StoredItem]:
        """Return the items, with vectors for those that were put without this model."""
        lacking = [it for it in items if it.texts and it.model != model and not _of_caller(it)]
        texts = [text for item in lacking[:_MOST_EMBEDDED] for text in item.texts]
        rows = await self._meaning.of_texts(texts) if texts else None
        if rows is None:
            return [*items]
        made: dict[str, StoredItem] = {}
        for item in lacking[:_MOST_EMBEDDED]:
            own, rows = rows[: len(item.texts)], rows[len(item.texts) :]
            made[item.id] = replace(item, vectors=own.astype("<f4").tobytes(), model=model)
        return [made.get(item.id, item) for item in items]

    async def _scores(self, items: Sequence[StoredItem], query: str) -> list[float | None]:
        """Return how well each item fits a question, by words and by meaning."""
        keys = term_keys(query_terms(query))
        read = [term_keys(terms("\n".join(item.texts))) for item in items]
        by_words = await self._units.rank(keys, read) if keys else [0.0] * len(items)
        model = self._meaning.model
        asked = await self._meaning.ask(query, [] if model is None else [model])
        nearness: Sequence[float | None] = [None] * len(items)
        if model is not None and model in asked.vectors:
            slope, start = self._meaning.calibration.scale
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
    return item.model == _CALLERS


def _nearest(items: Sequence[StoredItem], asked: Vectors, model: str) -> list[float | None]:
    """Return the largest cosine of each item's vectors, None where it has none of this model."""
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
