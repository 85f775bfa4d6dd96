"""Statistics of a memory and its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from recollect.domain.meter import MetricFigures
from recollect.domain.model_tier import ModelUsage
from recollect.domain.relation import RULES


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreCounts:
    """Counts of what a caller's scopes hold."""

    records: int
    by_kind: Mapping[str, int] = field(hash=False)
    by_status: Mapping[str, int] = field(hash=False)
    turns: int
    sessions: int
    units: int
    links: Mapping[str, int] = field(hash=False)
    """Links by relation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCounts:
    """Counts of waiting and failed jobs."""

    waiting: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStats:
    """The contents of the in-process search index."""

    scopes: int
    units: int
    bytes: int
    budget_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStats:
    """Hits and misses of a cache since the memory was opened."""

    hits: int = 0
    misses: int = 0
    entries: int = 0

    @property
    def hit_rate(self) -> float:
        return self.hits / max(1, self.hits + self.misses)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Everything that `stats` returns."""

    store: StoreCounts
    jobs: JobCounts
    keyword_index: IndexStats
    vector_index: IndexStats
    recall_cache: CacheStats
    embedding_cache: CacheStats
    # How often the summary of a session was reused, and how often one had to be made.
    summary_cache: CacheStats
    embedder: str
    database_bytes: int
    models: tuple[ModelUsage, ...] = ()
    # The judge, and how many pairs it judged with which result since the memory was opened.
    judge: str = RULES
    judged: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
    # Figures of all processes on this database for the last 24 hours.
    last_day: MetricFigures = field(default_factory=MetricFigures)
