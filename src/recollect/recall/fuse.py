"""Bringing the paths together: one list of owners, each with one absolute score in [0, 1].

What the paths say is evidence of one kind: a keyword similarity and a cosine are both absolute, so
they are added, not ranked. A weak best hit stays weak, and a path that found nothing takes nothing
away from the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from recollect.domain.filters import OwnerKind
from recollect.domain.hit import Boost, Explanation, PathScore
from recollect.domain.unit import Trait
from recollect.ports.units import KINDS, Scores
from recollect.recall.candidates import Candidates, gather
from recollect.recall.paths import Found
from recollect.recall.question import Question
from recollect.recall.stretch import closeness
from recollect.recall.surroundings import SurroundingsOptions, from_surroundings
from recollect.text.searchable import signed

_STEEPNESS: Final = 1.3
_TURN: Final = KINDS.index("turn")
# A turn of so many different terms says something; one of fewer is perhaps a mere "Great!".
_FULL_TURN: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much each kind of evidence counts; all are settings, with defaults by measurement."""

    keyword: float = 1.0
    vector: float = 0.7
    recent: float = 0.0
    # What names the same as the best hits counts so much.
    entity: float = 0.1
    # What is of the time that the question names is worth so much more,
    time: float = 0.3
    # and so much in itself when the question asks for nothing but a time.
    only_time: float = 0.4
    surroundings: SurroundingsOptions = field(default_factory=SurroundingsOptions)
    # A turn whose speaker the question names is worth so much more,
    speaker: float = 0.4
    # one by the assistant so much less, since it repeats what it was told (or so much more when
    # the question asks for what it said),
    assistant: float = 0.25
    # and one that says next to nothing too.
    terse: float = 0.25


@dataclass(frozen=True, slots=True)
class Fused:
    """An owner that some path found, with its score."""

    candidates: Candidates
    at: int
    score: float
    surroundings: float
    factor: float
    closeness: float

    @property
    def owner_id(self) -> str:
        return str(self.candidates.column("owner")[self.at])

    @property
    def owner_kind(self) -> OwnerKind:
        return KINDS[int(self.candidates.column("kind")[self.at])]

    @property
    def unit(self) -> int:
        """The unit that speaks for it."""
        return int(self.candidates.column("unit")[self.at])

    @property
    def span(self) -> tuple[int, int]:
        return (
            int(self.candidates.column("start")[self.at]),
            int(self.candidates.column("end")[self.at]),
        )

    def explanation(self, matched_terms: tuple[str, ...], boosts: tuple[Boost, ...]) -> Explanation:
        """Why it has its score; made only for what is returned."""
        owner = int(self.candidates.owners[self.at])
        return Explanation(
            paths=tuple(self._path_scores(owner)),
            matched_terms=matched_terms,
            surroundings=self.surroundings,
            factor=self.factor,
            closeness=self.closeness,
            relevance=self.score,
            boosts=boosts,
        )

    def _path_scores(self, owner: int) -> Sequence[PathScore]:
        scores: list[PathScore] = []
        for path, opinion in self.candidates.opinions.items():
            place = opinion.place_of(owner)
            if place is not None:
                mine = opinion.scores[place]
                rank = 1 + int(np.count_nonzero(opinion.scores > mine))
                raw = float(opinion.raw[place])
                scores.append(PathScore(path=path, rank=rank, raw=raw, score=float(mine)))
        return scores


def fuse(question: Question, found: Sequence[Found], weights: Weights) -> list[Fused]:
    """All owners that any path found, best first; of equals, the one written first."""
    candidates = gather(found)
    if not len(candidates):
        return []
    words = weights.keyword * candidates.scores("keyword")
    evidence = words + _beside_words(candidates, found, weights, question)
    around = from_surroundings(candidates, evidence, words, weights.surroundings)
    factors = _factors(question, candidates, weights)
    total = (evidence + around) * factors
    near = np.zeros(len(candidates))
    for timed in (it for it in found if it.stretches):
        near = closeness(candidates.column("observed_at"), timed.stretches)
        # The more of the question is the time, the more being of that time is an answer.
        total = total * (1 + weights.time * near) + timed.trust * weights.only_time * near
    scores = calibrated(total)
    order = np.lexsort((candidates.owners, -scores))
    columns = zip(
        order.tolist(),
        *(column[order].tolist() for column in (scores, around, factors, near)),
        strict=True,
    )
    return [Fused(candidates, *values) for values in columns]


def calibrated(evidence: Scores) -> Scores:
    """Evidence bent into [0, 1).

    0.3 is where questions that have nothing to do with the memory end (measured, see
    docs/decisions/0006-fusion.md).
    """
    return 1 - np.exp(-_STEEPNESS * np.maximum(evidence, 0.0))


def _beside_words(
    candidates: Candidates, found: Sequence[Found], weights: Weights, question: Question
) -> Scores:
    """What all paths but the keyword path say."""
    trust = {it.path: it.trust for it in found}
    vector = candidates.opinions.get("vector")
    # Where there are more, what is not among the nearest is at most as near as the last of them.
    horizon = 0.0 if vector is None else vector.horizon
    nearness = candidates.scores("vector", otherwise=horizon)
    evidence = weights.vector * trust.get("vector", 0.0) * nearness
    if "entity" in candidates.opinions:
        evidence = evidence + weights.entity * candidates.scores("entity")
    recent = max(weights.recent, question.lean.recent)
    if recent:
        evidence = evidence + recent * candidates.scores("recent")
    return evidence


def _factors(question: Question, candidates: Candidates, weights: Weights) -> Scores:
    """How much more or less a turn is worth for who said it and how much it says."""
    is_turn = candidates.column("kind") == _TURN
    factors = np.ones(len(candidates))
    if not is_turn.any():
        return factors
    named = np.fromiter(map(signed, question.terms), np.int64, len(question.terms))
    factors += weights.speaker * np.isin(candidates.column("speaker"), named)
    by_assistant = (candidates.column("traits") & Trait.BY_ASSISTANT) > 0
    sign = 1 if question.is_about_answers else -1
    factors += sign * weights.assistant * by_assistant
    fullness = np.log1p(candidates.column("variety")) / np.log1p(_FULL_TURN)
    terseness = weights.terse * (1 - np.minimum(fullness, 1.0))
    return np.where(is_turn, factors * (1 - terseness), factors)
