"""Figures about what is stored and how the parts are doing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from recollect.domain.model_tier import ModelUsage
from recollect.domain.scope import Scope
from recollect.domain.stats import CacheStats, Stats
from recollect.ports.jobs import Jobs
from recollect.ports.maintenance import Maintenance
from recollect.ports.store import Store
from recollect.ports.units import UnitIndex
from recollect.ports.vectors import VectorIndex
from recollect.recall.cache import CachedRecaller
from recollect.recall.meaning import Meaning


class Figures:
    """Asks every part how it is doing."""

    def __init__(
        self,
        store: Store,
        jobs: Jobs,
        maintenance: Maintenance,
        units: UnitIndex,
        vectors: VectorIndex,
        recaller: CachedRecaller,
        meaning: Meaning,
        embedding_cache: Callable[[], CacheStats],
        summary_cache: Callable[[], CacheStats],
        models: Callable[[], tuple[ModelUsage, ...]],
    ) -> None:
        self._store = store
        self._jobs = jobs
        self._maintenance = maintenance
        self._units = units
        self._vectors = vectors
        self._recaller = recaller
        self._meaning = meaning
        self._embedding_cache = embedding_cache
        self._summary_cache = summary_cache
        self._models = models

    async def stats(self, scopes: Sequence[Scope]) -> Stats:
        """What these scopes hold, and how the parts are doing."""
        model = self._meaning.model
        return Stats(
            store=await self._store.counts(scopes),
            jobs=await self._jobs.counts(),
            keyword_index=self._units.stats(),
            vector_index=self._vectors.stats(),
            recall_cache=self._recaller.stats(),
            embedding_cache=self._embedding_cache(),
            summary_cache=self._summary_cache(),
            embedder="none" if model is None else model.name,
            database_bytes=await self._maintenance.size(),
            models=self._models(),
        )
