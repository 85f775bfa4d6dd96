"""The result of one recall set, as a line of JSON and as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rich import box
from rich.table import Table

# The metrics that fit into eighty columns; the JSON has all.
_SHOWN: Final = ("hit@1", "hit@5", "hit@10", "all@10", "ndcg@10")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResult:
    """The quality and speed of one set, measured in one run."""

    set_name: str
    questions: int
    quality: Mapping[str, float] = field(hash=False)
    by_category: Mapping[str, Mapping[str, float]] = field(hash=False)
    ingest_per_s: float
    recall_p50_ms: float
    recall_p95_ms: float
    embedder: str
    skipped_units: int

    def as_json(self) -> dict[str, Any]:
        """Return the result as JSON, rounded to significant digits."""
        return {
            "set": self.set_name,
            "n": self.questions,
            **_rounded(self.quality),
            "by_category": {name: _rounded(it) for name, it in self.by_category.items()},
            "ingest_per_s": round(self.ingest_per_s, 1),
            "recall_p50_ms": round(self.recall_p50_ms, 3),
            "recall_p95_ms": round(self.recall_p95_ms, 3),
            "embedder": self.embedder,
        }


def as_table(results: Iterable[RecallResult]) -> Table:
    """Return a table with one row per set."""
    table = Table(
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        caption="told: units a second; p50, p95: milliseconds a question",
    )
    table.add_column("set", no_wrap=True)
    for name in ("n", *_SHOWN, "told", "p50", "p95"):
        table.add_column(name, justify="right", no_wrap=True)
    for result in results:
        table.add_row(
            result.set_name,
            str(result.questions),
            *(f"{result.quality[name]:.3f}" for name in _SHOWN),
            f"{result.ingest_per_s:.0f}",
            f"{result.recall_p50_ms:.1f}",
            f"{result.recall_p95_ms:.1f}",
        )
    return table


def as_judge_table(result: Mapping[str, Any]) -> Table:
    """Return a table with one row per group of pairs."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, caption=f"judge: {result['judge']}")
    table.add_column("pairs", no_wrap=True)
    figures = {"same": "once", "update": "followed", "conflict": "surfaced", "different": "lost"}
    for label, figure in figures.items():
        table.add_column(f"{label}: {figure}", justify="right")
    for origin in ("hand", "auto"):
        for language, part in result.get(origin, {}).items():
            cells = (
                f"{part[label][figure]:.3f} ({part[label]['of']})" if label in part else ""
                for label, figure in figures.items()
            )
            table.add_row(f"{origin} {language}", *cells)
    return table


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in values.items()}
