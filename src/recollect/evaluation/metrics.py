"""What a ranking is worth. Pure functions over unit ids; relevance is yes or no."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

_DEPTH = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One answered question: what was returned, best first, and what should have been."""

    category: str
    ranking: tuple[str, ...]
    gold: frozenset[str]


def quality(answers: Sequence[Judged]) -> dict[str, float]:
    """Every measure of the bench, each the mean over the questions."""
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
    """The two measures that tell most, and the number of questions, for each category."""
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
    """1 when the first `depth` hold at least one that is wanted."""
    return float(not gold.isdisjoint(ranking[:depth]))


def found_all(ranking: Sequence[str], gold: Set[str], depth: int) -> float:
    """1 when the first `depth` hold everything that is wanted."""
    return float(gold <= set(ranking[:depth]))


def recall(ranking: Sequence[str], gold: Set[str], depth: int = _DEPTH) -> float:
    """The share of what is wanted that the first `depth` hold."""
    return len(gold & set(ranking[:depth])) / len(gold)


def reciprocal_rank(ranking: Sequence[str], gold: Set[str], depth: int = _DEPTH) -> float:
    """One over the place of the first that is wanted; 0 when none is among the first `depth`."""
    places = (place for place, unit in enumerate(ranking[:depth], start=1) if unit in gold)
    first = next(places, None)
    return 0.0 if first is None else 1 / first


def ndcg(ranking: Sequence[str], gold: Set[str], depth: int = _DEPTH) -> float:
    """Gain of the wanted, less the later they come, as a share of the best possible order."""
    gained = sum(_gain(place) for place, unit in enumerate(ranking[:depth]) if unit in gold)
    return gained / sum(_gain(place) for place in range(min(depth, len(gold))))


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1] if ordered else 0.0


def _gain(place: int) -> float:
    return 1 / math.log2(place + 2)


def _mean(values: Iterable[float]) -> float:
    given = list(values)
    return sum(given) / len(given) if given else 0.0
