"""Bringing the paths together: one list of owners, each with one absolute score in [0, 1].

A keyword similarity and a cosine are both absolute, so they are added, not ranked: a weak best
hit stays weak, and a path that found nothing takes nothing away from the others.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from recollect.domain.hit import Explanation, PathScore
from recollect.ports.units import UnitMatch
from recollect.recall.paths import Found

_STEEPNESS: Final = 1.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much each path counts; all are settings, with defaults found by measurement."""

    keyword: float = 1.0
    vector: float = 0.7
    recent: float = 0.0


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path put an owner: its best unit, and the score of the owner as a whole."""

    rank: int
    match: UnitMatch
    score: float


@dataclass(frozen=True, slots=True)
class Fused:
    """An owner that some path found, with its score."""

    score: float
    keyword: Place | None
    vector: Place | None
    recent: Place | None

    @property
    def best(self) -> UnitMatch:
        """The unit that speaks for the owner: where the words are, else where the meaning is."""
        place = self.keyword or self.vector or self.recent
        assert place is not None
        return place.match

    def explanation(self, names: Mapping[int, str]) -> Explanation:
        """Why it has its score; made only for what is returned."""
        places = {"keyword": self.keyword, "vector": self.vector, "recent": self.recent}
        present = _keys(self.keyword.match.terms) if self.keyword else frozenset[int]()
        return Explanation(
            paths=tuple(
                PathScore(path=path, rank=place.rank, raw=place.match.raw, score=place.score)
                for path, place in places.items()
                if place is not None
            ),
            matched_terms=tuple(name for key, name in names.items() if key in present),
        )


def fuse(found: Sequence[Found], weights: Weights) -> list[Fused]:
    """All owners that any path found, best first; of equals, the one written first."""
    by_path = {it.path: _places(it) for it in found}
    keyword, vector = by_path.get("keyword", {}), by_path.get("vector", {})
    recent = by_path.get("recent", {})
    # What the vector path did not return is at most as near as the last thing it did return.
    horizon = min((place.score for place in vector.values()), default=0.0)
    fused: list[Fused] = []
    for owner in keyword.keys() | vector.keys() | recent.keys():
        words, nearness, freshness = keyword.get(owner), vector.get(owner), recent.get(owner)
        score = calibrated(
            words.score if words else 0.0,
            nearness.score if nearness else horizon,
            freshness.score if freshness else 0.0,
            weights,
            has_vectors=bool(vector),
        )
        fused.append(Fused(score, words, nearness, freshness))
    return sorted(fused, key=lambda it: (-it.score, it.best.unit))


def _keys(terms: bytes) -> frozenset[int]:
    return frozenset(key for (key,) in struct.iter_unpack("<Q", terms))


def calibrated(
    words: float, nearness: float, freshness: float, weights: Weights, *, has_vectors: bool
) -> float:
    """One score from the three similarities.

    Words and meaning are two witnesses: what they say is added up, and the sum is bent into [0, 1)
    so that 0.3 is where questions that have nothing to do with the memory end (measured, see
    docs/decisions/0006-fusion.md).
    """
    fresh = weights.recent * freshness
    if not has_vectors:
        return min(words + fresh, 1.0)
    evidence = weights.keyword * words + weights.vector * max(nearness, 0.0) + fresh
    return 1 - math.exp(-_STEEPNESS * evidence)


def _places(found: Found) -> dict[str, Place]:
    """One place an owner. A long text counts half as a whole and half by its best passage."""
    horizon = found.matches[-1].score if found.is_cut_off else 0.0
    wholes = {it.owner_id: it for it in found.matches if it.ordinal == 0}
    passages: dict[str, UnitMatch] = {}
    for match in found.matches:
        if match.ordinal > 0:
            passages.setdefault(match.owner_id, match)
    scored: list[tuple[float, UnitMatch]] = []
    for owner in dict.fromkeys(match.owner_id for match in found.matches):
        whole, passage = wholes.get(owner), passages.get(owner)
        if whole is not None and passage is not None:
            scored.append(((whole.score + passage.score) / 2, passage))
        elif passage is not None:
            scored.append(((horizon + passage.score) / 2, passage))
        elif whole is not None:
            scored.append((whole.score, whole))
    scored.sort(key=lambda it: (-it[0], it[1].unit))
    return {
        match.owner_id: Place(rank, match, score)
        for rank, (score, match) in enumerate(scored, start=1)
    }
