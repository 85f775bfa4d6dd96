"""Quality metrics of a ranking, and the result of a set as JSON and as a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Final

from rich import box
from rich.table import Table

_DEPTH = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A question's ranking, best first, and the relevant units."""

    category: str
    ranking: tuple[str, ...]
    gold: frozenset[str]


def quality(answers: Sequence[Judged]) -> dict[str, float]:
    """Return all metrics, each the mean over the questions."""
    return {
        "hit@1": _mean(hit(answer.ranking, answer.gold, 1) for answer in answers),
        "hit@5": _mean(hit(answer.ranking, answer.gold, 5) for answer in answers),
        "hit@10": _mean(hit(answer.ranking, answer.gold, 10) for answer in answers),
        "recall@10": _mean(recall(answer.ranking, answer.gold) for answer in answers),
        "all@5": _mean(found_all(answer.ranking, answer.gold, 5) for answer in answers),
        "all@10": _mean(found_all(answer.ranking, answer.gold, 10) for answer in answers),
        "ndcg@10": _mean(ndcg(answer.ranking, answer.gold) for answer in answers),
        "mrr@10": _mean(reciprocal_rank(answer.ranking, answer.gold) for answer in answers),
    }


def quality_by_category(answers: Sequence[Judged]) -> dict[str, Mapping[str, float]]:
    """Return the two most telling metrics and the number of questions of each category."""
    groups: dict[str, list[Judged]] = {}
    for answer in answers:
        groups.setdefault(answer.category, []).append(answer)
    return {
        category: {
            "n": len(group),
            "hit@10": _mean(hit(it.ranking, it.gold, 10) for it in group),
            "ndcg@10": _mean(ndcg(it.ranking, it.gold) for it in group),
        }
        for category, group in sorted(groups.items())
    }


def hit(ranking: Sequence[str], gold: Set[str], depth: int) -> float:
    """Return 1 if the first `depth` units include a relevant one, else 0."""
    return float(not gold.isdisjoint(ranking[:depth]))


def found_all(ranking: Sequence[str], gold: Set[str], depth: int) -> float:
    """Return 1 if the first `depth` units include all relevant ones, else 0."""
    return float(gold <= set(ranking[:depth]))


def recall(ranking: Sequence[str], gold: Set[str], depth: int = _DEPTH) -> float:
    """Return the share of the relevant units among the first `depth`."""
    return len(gold & set(ranking[:depth])) / len(gold)


def reciprocal_rank(ranking: Sequence[str], gold: Set[str], depth: int = _DEPTH) -> float:
    """Return one over the rank of the first relevant unit; 0 if it is not in the first `depth`."""
    places = (place for place, unit in enumerate(ranking[:depth], start=1) if unit in gold)
    first = next(places, None)
    return 0.0 if first is None else 1 / first


def ndcg(ranking: Sequence[str], gold: Set[str], depth: int = _DEPTH) -> float:
    """Return the normalised discounted cumulative gain of the first `depth` units."""
    gained = sum(_gain(place) for place, unit in enumerate(ranking[:depth]) if unit in gold)
    return gained / sum(_gain(place) for place in range(min(depth, len(gold))))


def percentile(values: Iterable[float], share: float) -> float:
    """Return the smallest value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1] if ordered else 0.0


def _gain(place: int) -> float:
    return 1 / math.log2(place + 2)


def _mean(values: Iterable[float]) -> float:
    given = list(values)
    return sum(given) / len(given) if given else 0.0


# --- The result of one recall set, as a line of JSON and as a table -------------------------------

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
    figures = (
        ("same", "once"),
        ("update", "followed"),
        ("conflict", "surfaced"),
        ("different", "lost"),
        ("different", "linked"),
    )
    for label, figure in figures:
        table.add_column(f"{label}: {figure}", justify="right")
    for origin in ("hand", "auto"):
        for language, part in result.get(origin, {}).items():
            cells = (
                f"{part[label][figure]:.3f} ({part[label]['of']})" if label in part else ""
                for label, figure in figures
            )
            table.add_row(f"{origin} {language}", *cells)
    return table


def as_extraction_table(result: Mapping[str, Any]) -> Table:
    """Return a table with the figures of extraction."""
    figures = ("items", "recall", "precision", "silent", "ms_a_turn")
    table = _table_of(figures)
    table.add_row(*(str(result[figure]) for figure in figures))
    return table


def as_route_table(result: Mapping[str, Any]) -> Table:
    """Return a table with the figures of routing, by language and flag."""
    figures = ("messages", "accuracy", "wrong_yes", "wrong_no")
    table = _table_of(figures, "")
    for language, flags in result.items():
        for flag, values in flags.items():
            table.add_row(f"{language} {flag}", *(str(values[figure]) for figure in figures))
    return table


def as_digest_table(result: Mapping[str, Mapping[str, float]]) -> Table:
    """Return a table with the share of facts that each way of shortening keeps."""
    table = _table_of(result, "")
    groups = dict.fromkeys(group for shares in result.values() for group in shares)
    for group in groups:
        table.add_row(group, *(f"{shares[group]:.3f}" for shares in result.values()))
    return table


def _table_of(figures: Iterable[str], *names: str) -> Table:
    """Return a table with columns of names and then of figures."""
    table = Table(*names, box=box.SIMPLE_HEAD, pad_edge=False)
    for figure in figures:
        table.add_column(figure.replace("_", " "), justify="right")
    return table


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in values.items()}
