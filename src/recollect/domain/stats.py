"""Figures about what is stored and how the parts are doing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from recollect.domain.meter import MetricFigures
from recollect.domain.model_tier import ModelUsage
from recollect.domain.relation import RULES


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreCounts:
    """How much a caller's scopes hold."""

    records: int
    by_kind: Mapping[str, int] = field(hash=False)
    by_status: Mapping[str, int] = field(hash=False)
    turns: int
    sessions: int
    units: int
    links: Mapping[str, int] = field(hash=False)
    """By relation: what was judged and kept as a link."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCounts:
    """How much background work waits, and how much gave up."""

    waiting: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStats:
    """What the in-process search index holds."""

    scopes: int
    units: int
    bytes: int
    budget_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStats:
    """How a cache has done since the memory was opened."""

    hits: int = 0
    misses: int = 0
    entries: int = 0

    @property
    def hit_rate(self) -> float:
        return self.hits / max(1, self.hits + self.misses)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Everything `stats` tells."""

    store: StoreCounts
    jobs: JobCounts
    keyword_index: IndexStats
    vector_index: IndexStats
    recall_cache: CacheStats
    embedding_cache: CacheStats
    # Of sessions: how often a summary was sent as it was, and how often one had to be made.
    summary_cache: CacheStats
    embedder: str
    database_bytes: int
    models: tuple[ModelUsage, ...] = ()
    # Who judges how statements relate, and how many pairs were judged how since memory was opened.
    judge: str = RULES
    judged: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
    # What all processes on this database did in the last 24 hours.
    last_day: MetricFigures = field(default_factory=MetricFigures)
