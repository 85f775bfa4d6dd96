"""Quality metrics of a ranking, over unit ids with binary relevance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

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
        "hit@1": _mean(hit(it.ranking, it.gold, 1) for it in answers),
        "hit@5": _mean(hit(it.ranking, it.gold, 5) for it in answers),
        "hit@10": _mean(hit(it.ranking, it.gold, 10) for it in answers),
        "recall@10": _mean(recall(it.ranking, it.gold) for it in answers),
        "all@5": _mean(found_all(it.ranking, it.gold, 5) for it in answers),
        "all@10": _mean(found_all(it.ranking, it.gold, 10) for it in answers),
        "ndcg@10": _mean(ndcg(it.ranking, it.gold) for it in answers),
        "mrr@10": _mean(reciprocal_rank(it.ranking, it.gold) for it in answers),
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
