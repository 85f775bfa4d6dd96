"""Statistics about what is stored and the state of the services."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from recollect.domain.model_tier import ModelUsage
from recollect.domain.scope import Scope
from recollect.domain.stats import CacheStats, Stats
from recollect.lifecycle.metrics import MetricsKeeper
from recollect.ports.jobs import Jobs
from recollect.ports.store import Store
from recollect.ports.units import UnitIndex, VectorIndex
from recollect.ports.upkeep import Maintenance
from recollect.recall.cache import CachedRecaller
from recollect.recall.meaning import Meaning
from recollect.writing.judges import JudgeChain


class StatisticsCollector:
    """Collects the statistics of every service."""

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
        judge: Callable[[], JudgeChain],
        metrics: MetricsKeeper,
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
        self._judge = judge
        self._metrics = metrics

    async def stats(self, scopes: Sequence[Scope]) -> Stats:
        """Return what these scopes hold and the state of the services."""
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
            judge=self._judge().name,
            judged=self._judge().counts,
            last_day=await self._metrics.last_day(),
        )
