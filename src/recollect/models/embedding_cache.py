"""Embedders around any embedder: a cache of recent vectors, and a count of calls."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recollect.domain.embedding import EmbeddingCacheStats
from recollect.domain.model_tier import ModelUsage
from recollect.errors import RecollectError
from recollect.models.faults import Vectors
from recollect.ports.embedder import Embedder, EmbedderAround, Metered, Progress, Purpose
from recollect.ports.runtime import Clock, span
from recollect.ports.shared_cache import SharedCache

# Of texts that come again, such as the question of a prompt, which a model reads in milliseconds.
_BUDGET_BYTES: Final = 8 << 20
_LIFETIME_SECONDS: Final = timedelta(hours=24)
# What is more at once is an import, which would drive everything else out. It is worth that only
# where vectors cost money.
_MOST_KEPT_TEXTS: Final = 32
# The memory of an entry besides its vector: its key, its slot in the table, its time.
_OVERHEAD_BYTES: Final = 300


class CachedEmbedder(EmbedderAround):
    """An embedder with a cache, in which questions and passages are kept apart.

    Otherwise a long import would evict every question. Behind it there may be a cache that is
    shared with other servers, which gets nothing of a text that `may_share` refuses.
    """

    def __init__(
        self,
        embedder: Embedder,
        clock: Clock,
        *,
        budget_bytes: int = _BUDGET_BYTES,
        lifetime: timedelta = _LIFETIME_SECONDS,
        shared: SharedCache | None = None,
        may_share: Callable[[str], bool] = lambda _: True,
        keeps_imports: bool = False,
    ) -> None:
        super().__init__(embedder)
        self._keeps_imports = keeps_imports or shared is not None
        self._shared = shared
        self._may_share = may_share
        self._lifetime = lifetime
        self._clock = clock
        self._budget_bytes = budget_bytes
        entries = budget_bytes // 2 // (embedder.dimension * 4 + _OVERHEAD_BYTES)
        self._shelves: dict[Purpose, _VectorCache] = {
            "query": _VectorCache(entries, lifetime),
            "passage": _VectorCache(entries, lifetime),
        }

    async def embed(
        self, texts: Sequence[str], purpose: Purpose, progress: Progress | None = None
    ) -> Vectors:
        if len(texts) > _MOST_KEPT_TEXTS and not self._keeps_imports:
            return await self._imported(texts, purpose, progress)
        shelf = self._shelves[purpose]
        keys = [self._key(text) for text in texts]
        known = shelf.take(keys, self._clock.now())
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            fresh = await self._shared_or_made(missing, purpose, progress)
            shelf.put(fresh, self._clock.now())
            known |= fresh
        vectors = np.empty((len(texts), self.dimension), np.float32)
        for position, key in enumerate(keys):
            vectors[position] = known[key]
        return vectors

    async def _imported(
        self, texts: Sequence[str], purpose: Purpose, progress: Progress | None
    ) -> Vectors:
        """Return vectors that are not kept; equal texts are embedded once."""
        distinct = list(dict.fromkeys(texts))
        rows = await self._embedder.embed(distinct, purpose, progress)
        if len(distinct) == len(texts):
            return rows
        places = {text: place for place, text in enumerate(distinct)}
        return rows[[places[text] for text in texts]]

    async def _shared_or_made(
        self, texts: Mapping[bytes, str], purpose: Purpose, progress: Progress | None
    ) -> dict[bytes, NDArray[np.float32]]:
        """Return vectors from the shared cache, and make and share the others."""
        shared = self._shared
        sharable = [key for key, text in texts.items() if shared and self._may_share(text)]
        found: dict[bytes, NDArray[np.float32]] = {}
        if shared is not None and sharable:
            names = [f"{purpose}:{key.hex()}" for key in sharable]
            for key, content in zip(sharable, await shared.get(names), strict=True):
                if content is not None and len(content) == 4 * self.dimension:
                    found[key] = np.frombuffer(content, "<f4")
        making = {key: text for key, text in texts.items() if key not in found}
        if not making:
            return found
        rows = await self._embedder.embed(list(making.values()), purpose, progress)
        made = dict(zip(making, rows, strict=True))
        if shared is not None and sharable:
            # Before anything made of it is stored, so that forgetting that finds it there.
            contents = {
                f"{purpose}:{key.hex()}": made[key].astype("<f4").tobytes()
                for key in sharable
                if key in made
            }
            await shared.put(contents, self._lifetime)
        return found | made

    def knows(self, text: str, purpose: Purpose) -> bool:
        """Return whether the vector of this text is cached."""
        return self._shelves[purpose].has(self._key(text), self._clock.now())

    def clear(self) -> None:
        """Remove every vector, because a text was forgotten."""
        for shelf in self._shelves.values():
            shelf.clear()

    def stats(self) -> EmbeddingCacheStats:
        shelves = self._shelves.values()
        entries = sum(len(shelf) for shelf in shelves)
        return EmbeddingCacheStats(
            hits=sum(shelf.hits for shelf in shelves),
            misses=sum(shelf.misses for shelf in shelves),
            entries=entries,
            bytes=entries * (self.dimension * 4 + _OVERHEAD_BYTES),
            budget_bytes=self._budget_bytes,
        )

    def _key(self, text: str) -> bytes:
        told = f"{self.model}\0{text}".encode("utf-8", "surrogatepass")
        return blake2b(told, digest_size=16).digest()


class _VectorCache:
    """A least-recently-used cache of vectors with a maximum age."""

    def __init__(self, entries: int, lifetime: timedelta) -> None:
        self.hits = 0
        self.misses = 0
        self._entries = entries
        self._lifetime = lifetime
        self._lock = threading.Lock()
        self._vectors: OrderedDict[bytes, tuple[datetime, NDArray[np.float32]]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._vectors)

    def has(self, key: bytes, now: datetime) -> bool:
        kept = self._vectors.get(key)
        return kept is not None and now - kept[0] <= self._lifetime

    def take(self, keys: Sequence[bytes], now: datetime) -> dict[bytes, NDArray[np.float32]]:
        """Return the cached vectors that are not too old."""
        found: dict[bytes, NDArray[np.float32]] = {}
        with self._lock:
            for key in keys:
                if not self.has(key, now):
                    self.misses += 1
                    continue
                self.hits += 1
                self._vectors.move_to_end(key)
                found[key] = self._vectors[key][1]
        return found

    def clear(self) -> None:
        with self._lock:
            self._vectors.clear()

    def put(self, fresh: dict[bytes, NDArray[np.float32]], now: datetime) -> None:
        with self._lock:
            for key, vector in fresh.items():
                # Copy, since a row of a large batch would keep the whole batch in memory.
                self._vectors[key] = (now, vector.copy())
                self._vectors.move_to_end(key)
            while len(self._vectors) > self._entries:
                self._vectors.popitem(last=False)


# --- An embedder that counts its calls, for the usage of its tier ---------------------------------


class CountedEmbedder(EmbedderAround):
    """A wrapper that counts the calls of an embedder since the process began."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self._calls = 0
        self._failures = 0

    async def embed(
        self, texts: Sequence[str], purpose: Purpose, progress: Progress | None = None
    ) -> Vectors:
        self._calls += 1
        try:
            with span("embed", texts=len(texts), purpose=purpose):
                return await self._embedder.embed(texts, purpose, progress)
        except RecollectError:
            self._failures += 1
            raise

    def usage(self) -> ModelUsage:
        """Return the usage; a local model uses no tokens."""
        return ModelUsage(
            task="embed",
            model=self.model,
            calls=self._calls,
            failures=self._failures,
            input_tokens=self._embedder.input_tokens if isinstance(self._embedder, Metered) else 0,
        )
