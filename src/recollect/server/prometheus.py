"""What this process counted, as Prometheus reads it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from recollect.domain.meter import BUCKETS, CounterName, bucket
from recollect.domain.stats import Stats

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_TIMED: Final = re.compile(r"(\w+_seconds)_(?:count|sum|le_[\d.]+)")


def written(totals: Mapping[CounterName, float], stats: Stats) -> str:
    """Return counters and the state of the parts as text."""
    return "\n".join((*_counters(totals), *_times(totals), *_gauges(stats), ""))


def _counters(totals: Mapping[CounterName, float]) -> Iterator[str]:
    by_name: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for (name, label), value in sorted(totals.items()):
        if _TIMED.fullmatch(name) is None:
            by_name[name][label] = value
    for name, values in by_name.items():
        yield f"# TYPE recollect_{name}_total counter"
        for label, value in values.items():
            yield f"recollect_{name}_total{_labels(label=label)} {value:g}"


def _times(totals: Mapping[CounterName, float]) -> Iterator[str]:
    found = {
        (timed[1], label) for name, label in totals if (timed := _TIMED.fullmatch(name)) is not None
    }
    previous = ""
    for name, label in sorted(found):
        if name != previous:
            yield f"# TYPE recollect_{name} histogram"
            previous = name
        count = totals.get((f"{name}_count", label), 0)
        for end in BUCKETS:
            value = totals.get((bucket(name, end), label), 0)
            yield f"recollect_{name}_bucket{_labels(label=label, le=f'{end:g}')} {value:g}"
        yield f"recollect_{name}_bucket{_labels(label=label, le='+Inf')} {count:g}"
        yield f"recollect_{name}_sum{_labels(label=label)} {totals.get((f'{name}_sum', label), 0)}"
        yield f"recollect_{name}_count{_labels(label=label)} {count:g}"


def _gauges(stats: Stats) -> Iterator[str]:
    gauges = {
        ("jobs", "waiting"): stats.jobs.waiting,
        ("jobs", "failed"): stats.jobs.failed,
        ("index_bytes", "keyword"): stats.keyword_index.bytes,
        ("index_bytes", "vector"): stats.vector_index.bytes,
        ("database_bytes", ""): stats.database_bytes,
        **{("model_paused", it.task): int(it.paused_until is not None) for it in stats.models},
    }
    previous = ""
    for (name, label), value in gauges.items():
        if name != previous:
            yield f"# TYPE recollect_{name} gauge"
            previous = name
        yield f"recollect_{name}{_labels(label=label)} {value}"


def _labels(**given: str) -> str:
    told = [f'{name}="{value.translate(_ESCAPES)}"' for name, value in given.items() if value != ""]
    return f"{{{','.join(told)}}}" if told else ""


_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
