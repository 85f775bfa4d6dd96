"""The embedder of a memory, opened on first use: a program that only lists records needs none."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Final

from recollect.domain.caches import CacheStats

if TYPE_CHECKING:
    from recollect.assemble.embedding import OpenedEmbedder
    from recollect.assemble.redis import Redis
    from recollect.domain.model_tier import ModelUsage
    from recollect.embedding.service import EmbeddingService
    from recollect.ports.embedder import Embedder
    from recollect.ports.facets import FacetReader
    from recollect.ports.runtime import Clock
    from recollect.settings import Settings

# The values of the setting that name no model, or one that is found in the package.
_NEVER_REFUSED: Final = frozenset({"", "local", "none"})


class Understanding:
    """The embedding service of a memory and the figures of its embedder."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        embedder: Embedder | None,
        redis: Redis | None = None,
    ) -> None:
        self._redis = redis
        self._settings = settings
        self._clock = clock
        self._embedder = embedder
        self._opening = Lock()
        self._opened: OpenedEmbedder | None = None

    @property
    def may_be_refused(self) -> bool:
        """Return whether the settings may name an embedder that cannot be opened."""
        return self._embedder is None and self._settings.embedder.model not in _NEVER_REFUSED

    def open(self, question: str | None = None) -> OpenedEmbedder:
        """Open the embedder unless it is open; a local one loads if a `question` is expected."""
        from recollect.assemble.embedding import open_embedder

        with self._opening:
            if self._opened is None:
                self._opened = open_embedder(
                    self._settings, self._clock, self._embedder, question, self._redis
                )
            return self._opened

    @property
    def embedding(self) -> EmbeddingService:
        return (self._opened or self.open()).embedding

    @property
    def facets(self) -> FacetReader | None:
        """Return what tells the facets of texts, if the embedder is the local one."""
        return (self._opened or self.open()).facets

    def cache_stats(self) -> CacheStats:
        return CacheStats() if self._opened is None else self._opened.cache_stats()

    def usage(self) -> tuple[ModelUsage, ...]:
        return () if self._opened is None else self._opened.usage()

    def forget_texts(self) -> None:
        """Drop the vectors that are kept for texts, because one of them was forgotten."""
        if self._opened is not None:
            self._opened.clear()

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened.embedding.close()
