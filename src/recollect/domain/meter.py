"""Metrics of a process: counters by name and label, without any content."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Final

# Upper bounds of the buckets of a histogram, in seconds.
BUCKETS: Final = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)

# The name and the label of a counter; the label may be empty.
CounterName = tuple[str, str]


class Meter:
    """A set of counters, about as cheap as a dictionary."""

    def __init__(self) -> None:
        self._totals: defaultdict[CounterName, float] = defaultdict(float)

    def add(self, name: str, value: float = 1.0, label: str = "") -> None:
        """Add to a counter."""
        self._totals[name, label] += value

    def time(self, name: str, seconds: float, label: str = "") -> None:
        """Count a duration."""
        self._totals[f"{name}_count", label] += 1
        self._totals[f"{name}_sum", label] += seconds
        for end in BUCKETS:
            if seconds <= end:
                self._totals[bucket(name, end), label] += 1

    def set_total(self, name: str, total: float, label: str = "") -> None:
        """Set a counter that is kept elsewhere, counted since the process began."""
        self._totals[name, label] = total

    def totals(self) -> dict[CounterName, float]:
        """Return all counters since the process began."""
        return dict(self._totals)


@cache
def bucket(name: str, end: float) -> str:
    """Return the counter of durations up to this bound."""
    return f"{name}_le_{end:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricFigures:
    """Figures computed from counters; a share or a time is None if nothing was counted.

    Shares are from 0 to 1, times in milliseconds.
    """

    recalls: int = 0
    empty_recalls: int = 0
    degraded_recalls: int = 0
    cached_recalls: int = 0
    recall_p50_ms: float | None = None
    recall_p95_ms: float | None = None
    prompts: int = 0
    late_prompts: int = 0
    """The number of prompts that were made without all that is remembered, to be in time."""
    injected_tokens: int = 0
    injected_items: int = 0
    used_items: int = 0
    used_share: float | None = None
    """The share of items in prompts that the answer takes up: at least half of the words by which
    an item says more than the question, measured in sessions; or the share reported as used, if
    that is more."""
    reused_share: float | None = None
    """The share of items in prompts that come from another session."""
    writes: int = 0
    duplicate_writes: int = 0
    """The number of writes that were merged with a stored record, or linked as the same."""
    duplicate_share: float | None = None
    window_tokens_saved: int = 0
    archive_tokens_saved: int = 0
    model_calls: int = 0
    model_failures: int = 0
    requests: int = 0
    failed_requests: int = 0
    """The number of requests that were answered with a 5xx status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricPoint:
    """What was counted in one step, from its start time on."""

    at: datetime
    figures: MetricFigures
    counters: Mapping[str, float]
    """By name, with the label after a colon: `recalls:hit`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """What was counted in a period, step by step and in total."""

    since: datetime
    until: datetime
    step_hours: int
    total: MetricFigures
    points: tuple[MetricPoint, ...]


def figures_of(counters: Mapping[CounterName, float]) -> MetricFigures:
    """Return the figures of some counters."""

    def one(name: str, label: str = "") -> int:
        return int(counters.get((name, label), 0))

    def every(name: str) -> int:
        return int(sum(value for (known, _), value in counters.items() if known == name))

    items = one("injected_items")
    writes = every("writes")
    # An item that is reported is mostly measured too.
    used = max(one("feedback", "used"), one("taken_up_items"))
    duplicates = one("writes", "merged") + one("writes", "same")
    return MetricFigures(
        recalls=every("recalls"),
        empty_recalls=one("recalls", "empty"),
        degraded_recalls=one("degraded_recalls"),
        cached_recalls=one("recall_cache", "hit"),
        recall_p50_ms=quantile_ms(counters, "recall_seconds", 0.50),
        recall_p95_ms=quantile_ms(counters, "recall_seconds", 0.95),
        prompts=one("prompts"),
        late_prompts=one("late_prompts"),
        injected_tokens=one("injected_tokens"),
        injected_items=items,
        used_items=used,
        used_share=share(used, items),
        reused_share=share(one("reused_items"), items),
        writes=writes,
        duplicate_writes=duplicates,
        duplicate_share=share(duplicates, writes),
        window_tokens_saved=one("window_tokens_saved"),
        archive_tokens_saved=one("archive_tokens_saved"),
        model_calls=every("model_calls"),
        model_failures=every("model_failures"),
        requests=every("requests"),
        failed_requests=one("requests", "5xx"),
    )


def share(part: float, whole: float) -> float | None:
    """Return a part divided by the whole, or None if the whole is zero."""
    return round(min(1.0, part / whole), 4) if whole else None


def quantile_ms(counters: Mapping[CounterName, float], name: str, share: float) -> float | None:
    """Return a quantile of durations in milliseconds, from counters with an empty label."""
    count = counters.get((f"{name}_count", ""), 0)
    if not count:
        return None
    wanted, low, below = share * count, 0.0, 0.0
    for end in BUCKETS:
        upto = counters.get((bucket(name, end), ""), 0)
        if upto >= wanted:
            within = (wanted - below) / max(1.0, upto - below)
            return round((low + (end - low) * min(1.0, within)) * 1_000, 2)
        low, below = end, upto
    return round(BUCKETS[-1] * 1_000, 2)


def summed(counters: Iterable[Mapping[CounterName, float]]) -> dict[CounterName, float]:
    """Return the sum of several sets of counters."""
    total: defaultdict[CounterName, float] = defaultdict(float)
    for one in counters:
        for name, value in one.items():
            total[name] += value
    return dict(total)
