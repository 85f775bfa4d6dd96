"""The figures of a memory: statistics, the health panel, and the findings of `doctor`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from recollect.domain.caches import CacheStats
from recollect.domain.followers import FollowerState
from recollect.domain.job import JobCounts
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
class IndexStats:
    """The contents of the in-process search index."""

    scopes: int
    units: int
    bytes: int
    budget_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SpoolStats:
    """The writes that wait on this machine while the database server is away."""

    waiting: int = 0
    """The writes that this process will replay."""
    bytes: int = 0
    max_bytes: int = 0
    oldest: datetime | None = None
    away_seconds: float = 0.0
    """For how long the server has been away; 0 while it answers."""
    set_aside: int = 0
    """The writes of all processes that the database refused; they are kept in the folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisStats:
    """The state of the Redis server beside the database, and what this process asked of it."""

    place: str
    is_away: bool
    """While it is away, everything comes from the database."""
    problem: str = ""
    calls: int = 0
    failures: int = 0
    away_seconds: float = 0.0
    recall_cache: CacheStats = field(default_factory=CacheStats)
    embedding_cache: CacheStats = field(default_factory=CacheStats)
    state: CacheStats = field(default_factory=CacheStats)


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
    # Stores that are derived from the database, and how far behind each is.
    followers: tuple[FollowerState, ...] = ()
    spool: SpoolStats = field(default_factory=SpoolStats)
    # None without a Redis server.
    redis: RedisStats | None = None


# --- The figures of the health panel --------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthFigures:
    """Counts from the database; `total` counts the records that can be recalled now."""

    total: int
    mean_confidence: float | None
    by_kind: Mapping[str, int] = field(hash=False)
    buffered: int
    quarantined: int
    expired: int
    """Expired records, whether a sweep has marked them yet or not."""
    expired_by: Mapping[str, int] = field(hash=False)
    """Expired records that a sweep has marked, by reason (time, retention, capacity)."""
    conflicts: int
    fullest: int
    """The number of active records of the largest scope."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicatePair:
    """Two records that are probably duplicates."""

    first: str
    second: str
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Health(HealthFigures):
    """The figures, suspected duplicates, and how many records were compared to find them."""

    suspected_duplicates: int
    duplicates: tuple[DuplicatePair, ...]
    compared: int
    """The number of latest records that were compared with the most similar ones."""
    capacity: int | None
    """The maximum number of active records of a scope; None means no limit."""


# --- What `doctor` reports: findings, and the figures they are based on ---------------------------


# With a warning, something works less well than it could; with a problem, it does not work.
Verdict = Literal["ok", "warning", "problem"]

_VERDICTS_BY_SEVERITY: Final[tuple[Verdict, ...]] = ("ok", "warning", "problem")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The state of one part, what it means, and how to fix it."""

    part: str
    verdict: Verdict = "ok"
    message: str
    hint: str = ""
    figures: Mapping[str, object] = field(default_factory=dict[str, object], hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """All findings and the worst of their verdicts."""

    verdict: Verdict
    findings: tuple[Finding, ...]

    @classmethod
    def of(cls, findings: Sequence[Finding]) -> Diagnosis:
        verdicts: list[Verdict] = ["ok", *(finding.verdict for finding in findings)]
        worst = max(verdicts, key=_VERDICTS_BY_SEVERITY.index)
        return cls(verdict=worst, findings=tuple(findings))


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseCondition:
    """The condition of a database file or server, whichever version wrote it."""

    bytes: int
    journal_mode: str
    damage: str
    revision: str | None
    newest_revision: str
    is_from_the_future: bool
    # The name and version of a server; empty for a file.
    server: str = ""
    # The requirements that a server does not meet, each with its remedy.
    unmet: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TroubledJob:
    """A job whose last attempt failed, and why."""

    kind: str
    key: str
    attempts: int
    error: str
    gave_up: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexFigures:
    """The size of the index and of the job queue, across all scopes."""

    units: int
    analysed_otherwise: int
    most_units: int
    most_terms: int
    jobs: JobCounts
    troubled: tuple[TroubledJob, ...]
    unfinished_forgettings: int = 0
