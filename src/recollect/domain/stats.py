"""Figures about what is stored and how the parts are doing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreCounts:
    """How much a caller's scopes hold."""

    records: int
    by_kind: Mapping[str, int] = field(hash=False)
    by_status: Mapping[str, int] = field(hash=False)
    turns: int
    sessions: int
    units: int


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
class Stats:
    """Everything `stats` tells."""

    store: StoreCounts
    jobs: JobCounts
    keyword_index: IndexStats
    vector_index: IndexStats
    embedder: str
    database_bytes: int
