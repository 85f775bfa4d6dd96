"""Bringing the paths together: one list of owners, each with one absolute score in [0, 1].

What the paths say is evidence of one kind: a keyword similarity and a cosine are both absolute, so
they are added, not ranked. A weak best hit stays weak, and a path that found nothing takes nothing
away from the others.

Where paths are not comparable (a model whose cosines mean little), ranks can decide instead: then
the order is that of reciprocal ranks, and the scores are dealt out in that order. So the answer as
a whole scores as before, and `min_score` keeps its meaning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

import numpy as np

from recollect.domain.calibration import MemoryCalibration
from recollect.domain.hit import Boost, Explanation, PathScore
from recollect.domain.owner import TURN, UNIT_OWNERS, UnitOwner
from recollect.domain.times import to_micros
from recollect.domain.unit import Trait
from recollect.language.units import signed
from recollect.ports.units import Ids, Scores
from recollect.recall.candidates import Candidates, gather, listed
from recollect.recall.confidence import confidence, own_confidence
from recollect.recall.neighbourhood import NeighbourhoodOptions, from_neighbours
from recollect.recall.paths import Found, PathName
from recollect.recall.question import Question
from recollect.recall.rank_fusion import reciprocal_ranks
from recollect.recall.time_span import closeness

Fusion = Literal["scores", "rrf"]

_STEEPNESS: Final = 1.3
_TURN: Final = UNIT_OWNERS.index(TURN)
# A turn of so many different terms says something; one of fewer is perhaps a mere "Great!".
_FULL_TURN: Final = 12
_CHATTER: Final = Trait.QUESTION | Trait.REQUEST | Trait.TOOL_OUTPUT
# A statement fits as well as chatter does up to so many times its score.
_FITS_AS_WELL: Final = 2.0
_BEHIND: Final = 1e-3
# A message of more terms has a subject of its own.
_FEW_TERMS: Final = 3
_DAY: Final = 86_400_000_000
# What is older is not fresh at all.
_FRESH_DAYS: Final = 30


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
    surroundings: NeighbourhoodOptions = field(default_factory=NeighbourhoodOptions)
    # A turn whose speaker the question names is worth so much more,
    speaker: float = 0.4
    # one by the assistant so much less, since it repeats what it was told (or so much more when
    # the question asks for what it said),
    assistant: float = 0.25
    # one that says next to nothing too,
    terse: float = 0.25
    # and a question, a request or a tool's output so much less again.
    chatter: float = 0.4
    # Whether scores are added or ranks.
    fusion: Fusion = "scores"
    # What a turn said that a record replaced counts so much less.
    outdated: float = 0.5
    # What has a time or a number, when the question asks for one, is worth so much more.
    answering: float = 0.1
    confidence: MemoryCalibration = field(default_factory=MemoryCalibration)


class Fused(NamedTuple):
    """An owner that some path found, with its score."""

    candidates: Candidates
    owner_kind: UnitOwner
    owner_id: str
    # The record that says what holds now, where this no longer does.
    replaced_by: str | None
    # How sure it is that anything here has to do with the question.
    confidence: float
    at: int
    score: float
    surroundings: float
    factor: float
    closeness: float

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

    @property
    def is_found(self) -> bool:
        """Whether it was found itself, and not only what it follows."""
        return self.candidates.column("owner")[self.at] == self.owner_id

    @property
    def is_passage(self) -> bool:
        """Whether a part of it speaks for it, not all."""
        return bool(self.candidates.column("ordinal")[self.at])

    def explanation(
        self,
        paths: tuple[PathScore, ...],
        matched_terms: tuple[str, ...],
        boosts: tuple[Boost, ...],
    ) -> Explanation:
        """Why it has its score; made only for what is returned."""
        return Explanation(
            paths=paths,
            matched_terms=matched_terms,
            surroundings=self.surroundings,
            factor=self.factor,
            closeness=self.closeness,
            sureness=self.confidence,
            relevance=self.score,
            boosts=boosts,
        )


@dataclass(frozen=True, slots=True)
class Ranked:
    """All owners that any path found, best first: columns, of which few rows are ever looked at."""

    candidates: Candidates
    # Where they are among the candidates, and their scores.
    places: Ids
    scores: Scores
    # What made the scores, in the order of the candidates.
    surroundings: Scores
    factors: Scores
    closeness: Scores
    # How sure it is that any of them has to do with the question.
    confidence: float
    # The turns that no longer hold, and the records that stand for them.
    replaced: Mapping[str, str]

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[Fused]:
        return iter(self.between(0, len(self)))

    def turns(self, most: int) -> list[str]:
        """Those of the best that are turns."""
        places = self.places[:most]
        rows = self.candidates.rows
        return listed(rows["owner"][places[rows["kind"][places] == _TURN]])

    def between(self, start: int, end: int) -> list[Fused]:
        """Those from one rank, counted from 0, up to another."""
        places = self.places[start:end]
        rows = self.candidates.rows
        kinds: list[int] = rows["kind"][places].tolist()
        owners = listed(rows["owner"][places])
        successors = map(self.replaced.get, owners)
        columns = (
            *(places, self.scores[start:end]),
            *(self.surroundings[places], self.factors[places], self.closeness[places]),
        )
        return [
            Fused(self.candidates, UNIT_OWNERS[kind], owner, successor, self.confidence, *values)
            for kind, owner, successor, values in zip(
                kinds, owners, successors, zip(*map(listed, columns), strict=True), strict=True
            )
        ]


def fuse(
    question: Question,
    found: Sequence[Found],
    weights: Weights,
    replaced: Mapping[str, str] = MappingProxyType({}),
) -> Ranked:
    """All owners that any path found, best first; of equals, the one written first.

    `replaced` are the turns that no longer hold, with the records that say what does.
    """
    candidates = gather(found)
    if not len(candidates):
        nothing = np.empty(0)
        return Ranked(
            candidates, candidates.owners, nothing, nothing, nothing, nothing, 1.0, replaced
        )
    words = weights.keyword * candidates.scores("keyword")
    evidence = words + _beside_words(candidates, found, weights, question)
    around = from_neighbours(candidates, evidence, words, weights.surroundings)
    factors = _factors(question, candidates, weights) * _freshness(question, candidates)
    total = (evidence + around) * factors
    near = np.zeros(len(candidates))
    for timed in (it for it in found if it.spans):
        near = closeness(candidates.column("observed_at"), timed.spans)
        # The more of the question is the time, the more being of that time is an answer.
        total = total * (1 + weights.time * near) + timed.trust * weights.only_time * near
    before, after = _successions(candidates, replaced)
    holding = np.ones(len(candidates))
    holding[before] = 1 - weights.outdated
    recent = _about_last(question, weights)
    sure = confidence(candidates, found, recent, weights.confidence, only_asks=question.only_asks)
    # What belongs to the time that is asked for needs no words of the question.
    own = np.maximum(own_confidence(candidates, found, recent, weights.confidence), near)
    own = _handed_on(own, before, after)
    scores = sure * own * calibrated(_handed_on(total, before, after) * holding)
    scores = _below_statements(scores, candidates)
    if weights.fusion == "rrf":
        ranked = _by_ranks(question, candidates, found, weights)
        ranked *= factors * (1 + weights.time * near)
        ranked = _handed_on(ranked, before, after)
        order = np.lexsort((candidates.owners, -scores, -ranked * holding, scores == 0))
        scores = np.sort(scores)[::-1]
    else:
        order = np.lexsort((candidates.owners, -scores))
        scores = scores[order]
    return Ranked(candidates, order, scores, around, factors * holding, near, sure, replaced)


def _successions(candidates: Candidates, replaced: Mapping[str, str]) -> tuple[Ids, Ids]:
    """Where the turns that no longer hold are among the candidates, and what stands for each."""
    if not replaced:
        return np.empty(0, np.intp), np.empty(0, np.intp)
    places = {owner: place for place, owner in enumerate(listed(candidates.column("owner")))}
    pairs = [
        (places[turn], places[record])
        for turn, record in replaced.items()
        if turn in places and record in places
    ]
    before, after = np.array(pairs, np.intp).reshape(-1, 2).T
    return before, after


def _below_statements(scores: Scores, candidates: Candidates) -> Scores:
    """Return the scores, where what asks or orders is not above a statement that fits as well.

    "What did I tell you about food?" has the words of the question, and not its answer.
    """
    is_chatter = (candidates.column("traits") & _CHATTER) > 0
    if is_chatter.all() or not is_chatter.any():
        return scores
    best = scores[~is_chatter].max()
    is_above = is_chatter & (scores > best) & (scores < _FITS_AS_WELL * best)
    return np.where(is_above, (1 - _BEHIND) * best, scores)


def _handed_on(values: Scores, before: Ids, after: Ids) -> Scores:
    """What speaks for a turn that no longer holds speaks for what stands for it."""
    if not len(after):
        return values
    values = values.copy()
    np.maximum.at(values, after, values[before])
    return values


def calibrated(evidence: Scores) -> Scores:
    """Evidence bent into [0, 1)."""
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
    recent = max(weights.recent, question.lean.recent * _about_last(question, weights))
    if recent:
        evidence = evidence + recent * candidates.scores("recent")
    return evidence


def _about_last(question: Question, weights: Weights) -> float:
    """How much a message is about what was last, from 0 to 1.

    The more it says itself, the less it takes what is merely recent to understand it.
    """
    if not weights.recent and not question.lean.recent:
        return 0.0
    return min(1.0, _FEW_TERMS / max(len(question.terms), 1))


def _by_ranks(
    question: Question, candidates: Candidates, found: Sequence[Found], weights: Weights
) -> Scores:
    trust = {it.path: it.trust for it in found}
    counting: dict[PathName, float] = {
        "keyword": weights.keyword,
        "vector": weights.vector * trust.get("vector", 0.0),
        "entity": weights.entity,
        "recent": max(weights.recent, question.lean.recent),
    }
    return reciprocal_ranks(candidates, counting)


def _factors(question: Question, candidates: Candidates, weights: Weights) -> Scores:
    """How much more or less it is worth for what it has, who said it and how much it says."""
    factors = np.ones(len(candidates))
    answers = 1 + weights.answering * _answering(question, candidates)
    is_turn = candidates.column("kind") == _TURN
    if not is_turn.any():
        return factors * answers
    named = np.fromiter(map(signed, question.terms), np.int64, len(question.terms))
    factors += weights.speaker * np.isin(candidates.column("speaker"), named)
    by_assistant = (candidates.column("traits") & Trait.BY_ASSISTANT) > 0
    sign = 1 if question.is_about_answers else -1
    factors += sign * weights.assistant * by_assistant
    fullness = np.log1p(candidates.column("variety")) / np.log1p(_FULL_TURN)
    terseness = weights.terse * (1 - np.minimum(fullness, 1.0))
    # Who asks or orders something, and what a tool gave, seldom tells what is asked for.
    is_chatter = (candidates.column("traits") & _CHATTER) > 0
    factors *= 1 - weights.chatter * is_chatter
    return np.where(is_turn, factors * (1 - terseness), factors) * answers


def _answering(question: Question, candidates: Candidates) -> Scores | float:
    """The share of what the question asks for (a time, a number) that each text has."""
    kinds = list(question.wanted)
    if not kinds:
        return 0.0
    traits = candidates.column("traits")
    return np.mean([(traits & kind) > 0 for kind in kinds], axis=0)


def _freshness(question: Question, candidates: Candidates) -> Scores | float:
    """How much more it is worth to be of late, for a message that goes on with something.

    Counted in whole days, so that the same message has the same answer all day long. What is of
    later than the message cannot be what it goes on with.
    """
    if not question.lean.fresh:
        return 1.0
    asked_at = to_micros(question.asked_at or question.now)
    age = (asked_at - candidates.column("observed_at")) // _DAY
    fresh = np.where(age >= 0, np.clip(1 - age / _FRESH_DAYS, 0.0, 1.0), 0.0)
    return 1 + question.lean.fresh * fresh
