"""Fusion of the paths: one list of owners, each with one absolute score in [0, 1].

A keyword similarity and a cosine are both absolute, so the scores of the paths are added, not
ranked. A weak best hit stays weak, and a path that found nothing takes nothing away from the
others.

For a model whose cosines are not comparable, ranks can decide instead: the order is then that of
reciprocal ranks, and the scores are assigned in that order. So the answer as a whole scores as
before, and `min_score` keeps its meaning.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np

from recollect.domain.embedding import MemoryCalibration
from recollect.domain.sections import RecallSettings
from recollect.domain.times import to_micros
from recollect.domain.unit import TURN, UNIT_OWNERS, Trait
from recollect.language.units import script_of, signed
from recollect.ports.units import Ids, Scores
from recollect.recall.candidates import Candidates, gather
from recollect.recall.neighbourhood import from_neighbours
from recollect.recall.paths import Found, PathName, closeness, listed
from recollect.recall.question import Question

_STEEPNESS: Final = 1.3
_TURN: Final = UNIT_OWNERS.index(TURN)
# The number of different terms of a turn that says something; fewer may be a mere "Great!".
_FULL_TURN_TERMS: Final = 12
_CHATTER: Final = Trait.QUESTION | Trait.REQUEST | Trait.TOOL_OUTPUT
# A statement comes first if chatter scores less than this many times its score.
_CHATTER_MARGIN: Final = 2.0
_CHATTER_PENALTY: Final = 1e-3
# A message with more terms has a subject of its own.
_FEW_TERMS: Final = 3
_DAY_MICROS: Final = 86_400_000_000
# Anything older gets no bonus for freshness.
_FRESH_DAYS: Final = 30
# The score of what is from the time that a question about nothing else names.
_ONLY_TIME_SCORE: Final = 0.4
# The discount of a question, a request or a tool output.
_CHATTER_DISCOUNT: Final = 0.4


def fuse(
    question: Question,
    found: Sequence[Found],
    recall: RecallSettings,
    model: MemoryCalibration,
    superseded: Mapping[str, str] = MappingProxyType({}),
) -> Candidates:
    """Combine the paths into one ranking, best first; among equals, the oldest first.

    `superseded` maps superseded turns to the records that supersede them.
    """
    candidates = gather(found)
    if not len(candidates):
        return candidates
    words = recall.keyword_weight * _shared_words(question, candidates, found, model)
    evidence = words + _other_evidence(candidates, found, recall, model, question)
    around = from_neighbours(candidates, evidence, words, recall)
    factors = _factors(question, candidates, recall) * _freshness(question, candidates)
    total = (evidence + around) * factors
    near = np.zeros(len(candidates))
    for timed in (answer for answer in found if answer.spans):
        near = closeness(candidates.rows["observed_at"], timed.spans)
        # The more of the question is about a time, the more a matching time is an answer.
        total = total * (1 + recall.time_boost * near) + timed.trust * _ONLY_TIME_SCORE * near
    before, after = _successions(candidates, superseded)
    holding = np.ones(len(candidates))
    holding[before] = 1 - recall.outdated_discount
    recent = _recency_share(question, recall)
    overall = confidence(candidates, found, recent, model, only_asks=question.only_asks)
    # A candidate from the time asked for needs no words of the question.
    own = np.maximum(own_confidence(candidates, found, recent, model), near)
    own = _hand_on(own, before, after)
    scores = overall * own * calibrated(_hand_on(total, before, after) * holding)
    scores = _below_statements(scores, candidates)
    if recall.fusion == "rrf":
        ranked = _rank_scores(question, candidates, found, recall, model)
        ranked *= factors * (1 + recall.time_boost * near)
        ranked = _hand_on(ranked, before, after)
        order = np.lexsort((candidates.owners, -scores, -ranked * holding, scores == 0))
        scores = np.sort(scores)[::-1]
    else:
        order = np.lexsort((candidates.owners, -scores))
        scores = scores[order]
    return Candidates(
        candidates.owners[order],
        candidates.rows.take(order),
        candidates.found,
        scores,
        around[order],
        (factors * holding)[order],
        near[order],
        overall,
        superseded,
    )


def _shared_words(
    question: Question, candidates: Candidates, found: Sequence[Found], model: MemoryCalibration
) -> Scores:
    """Return the keyword scores, estimated for texts that are not in the question's language.

    A text in another language cannot share words with the question. What it would share in
    translation follows from its similarity; otherwise any text in the question's language that
    shares a word would rank above the answer.
    """
    words = candidates.by_path("keyword")
    trust = sum([answer.trust for answer in found if answer.path == "vector"])
    if not model.translation * trust:
        return words
    written_in = candidates.rows["traits"] & Trait.NOT_CHINESE
    is_foreign = written_in != (script_of(question.text) & Trait.NOT_CHINESE)
    if not is_foreign.any():
        return words
    estimated = model.translation * trust * candidates.by_path("vector")
    return np.where(is_foreign, np.maximum(words, estimated), words)


def _successions(candidates: Candidates, superseded: Mapping[str, str]) -> tuple[Ids, Ids]:
    """Return the places of superseded turns among the candidates, and of their successors."""
    if not superseded:
        return np.empty(0, np.intp), np.empty(0, np.intp)
    places = {owner: place for place, owner in enumerate(listed(candidates.rows["owner"]))}
    pairs = [
        (places[turn], places[record])
        for turn, record in superseded.items()
        if turn in places and record in places
    ]
    before, after = np.array(pairs, np.intp).reshape(-1, 2).T
    return before, after


def _below_statements(scores: Scores, candidates: Candidates) -> Scores:
    """Rank questions and requests below a statement that fits about as well.

    "What did I tell you about food?" has the words of the question but not the answer.
    """
    is_chatter = (candidates.rows["traits"] & _CHATTER) > 0
    if is_chatter.all() or not is_chatter.any():
        return scores
    best = scores[~is_chatter].max()
    is_above = is_chatter & (scores > best) & (scores < _CHATTER_MARGIN * best)
    return np.where(is_above, (1 - _CHATTER_PENALTY) * best, scores)


def _hand_on(values: Scores, before: Ids, after: Ids) -> Scores:
    """Pass the values of superseded turns on to their successors."""
    if not len(after):
        return values
    values = values.copy()
    np.maximum.at(values, after, values[before])
    return values


def calibrated(evidence: Scores) -> Scores:
    """Map evidence to [0, 1)."""
    return 1 - np.exp(-_STEEPNESS * np.maximum(evidence, 0.0))


def _other_evidence(
    candidates: Candidates,
    found: Sequence[Found],
    recall: RecallSettings,
    model: MemoryCalibration,
    question: Question,
) -> Scores:
    """Return the evidence of all paths but the keyword path."""
    trust = {answer.path: answer.trust for answer in found}
    vector = candidates.found.get("vector")
    # If there are more units, those not returned are at most as near as the last one returned.
    horizon = 0.0 if vector is None else vector.horizon
    nearness = candidates.by_path("vector", otherwise=horizon)
    evidence = _vector_weight(recall, model) * trust.get("vector", 0.0) * nearness
    if "entity" in candidates.found:
        evidence = evidence + recall.entity_weight * candidates.by_path("entity")
    recent = max(recall.recent_weight, question.lean.recent * _recency_share(question, recall))
    if recent:
        evidence = evidence + recent * candidates.by_path("recent")
    return evidence


def _vector_weight(recall: RecallSettings, model: MemoryCalibration) -> float:
    return model.vector_weight if recall.vector_weight is None else recall.vector_weight


def _recency_share(question: Question, recall: RecallSettings) -> float:
    """Return how much a message is about the most recent events, from 0 to 1.

    The more a message says itself, the less it needs recent events to be understood.
    """
    if not recall.recent_weight and not question.lean.recent:
        return 0.0
    return min(1.0, _FEW_TERMS / max(len(question.terms), 1))


def _rank_scores(
    question: Question,
    candidates: Candidates,
    found: Sequence[Found],
    recall: RecallSettings,
    model: MemoryCalibration,
) -> Scores:
    trust = {answer.path: answer.trust for answer in found}
    counting: dict[PathName, float] = {
        "keyword": recall.keyword_weight,
        "vector": _vector_weight(recall, model) * trust.get("vector", 0.0),
        "entity": recall.entity_weight,
        "recent": max(recall.recent_weight, question.lean.recent),
    }
    return reciprocal_ranks(candidates, counting)


def _factors(question: Question, candidates: Candidates, recall: RecallSettings) -> Scores:
    """Return the factor of each candidate for its speaker, its length and what it contains."""
    factors = np.ones(len(candidates))
    kinds, speakers, traits, variety = candidates.rows.columns(
        "kind", "speaker", "traits", "variety"
    )
    is_turn = kinds == _TURN
    if not is_turn.any():
        return factors
    named = np.fromiter(map(signed, question.terms), np.int64, len(question.terms))
    factors += recall.speaker_boost * np.isin(speakers, named)
    by_assistant = (traits & Trait.BY_ASSISTANT) > 0
    sign = 1 if question.is_about_answers else -1
    factors += sign * recall.assistant_discount * by_assistant
    fullness = np.log1p(variety) / np.log1p(_FULL_TURN_TERMS)
    terseness = recall.terse_discount * (1 - np.minimum(fullness, 1.0))
    # Questions, requests and tool outputs seldom contain the answer.
    is_chatter = (traits & _CHATTER) > 0
    factors *= 1 - _CHATTER_DISCOUNT * is_chatter
    return np.where(is_turn, factors * (1 - terseness), factors)


def _freshness(question: Question, candidates: Candidates) -> Scores | float:
    """Return the bonus for recent candidates, when a message continues something.

    Age is counted in whole days, so that the same message has the same answer all day. Anything
    newer than the message cannot be what it continues.
    """
    if not question.lean.fresh:
        return 1.0
    asked_at = to_micros(question.asked_at or question.now)
    age = (asked_at - candidates.rows["observed_at"]) // _DAY_MICROS
    fresh = np.where(age >= 0, np.clip(1 - age / _FRESH_DAYS, 0.0, 1.0), 0.0)
    return 1 + question.lean.fresh * fresh


# --- Reciprocal rank fusion, for paths whose scores are not comparable ----------------------------


# From the paper that proposed it: the first few ranks of a path do not decide everything.
_RANK_OFFSET: Final = 60


def reciprocal_ranks(candidates: Candidates, weights: Mapping[PathName, float]) -> Scores:
    """Return the sum of weight / (60 + rank) over the paths; equal scores share a rank."""
    total = np.zeros(len(candidates))
    for path, weight in weights.items():
        found = candidates.found.get(path)
        if found is not None and weight:
            falling = -found.by_owner.scores
            ranks = 1 + np.sort(falling).searchsorted(falling)
            total[candidates.owners.searchsorted(found.owners)] += weight / (_RANK_OFFSET + ranks)
    return total


# --- How confident it is that memory holds anything relevant to a question ------------------------
#
# The evidence for a candidate also adds up where nothing fits: a question about black holes meets a
# "hole" and somebody who talks all day. The best keyword and vector scores tell the two cases apart
# (measured, see docs/decisions/0017-sureness.md). The confidence is the same for all candidates of
# a question, so it changes no order.

# Above 0, so that a recall with a low `min_score` still returns everything.
_MIN_CONFIDENCE: Final = 0.1
_MIN_OWN_CONFIDENCE: Final = 0.5


def confidence(
    candidates: Candidates,
    found: Sequence[Found],
    recent: float,
    model: MemoryCalibration,
    *,
    only_asks: bool,
) -> float:
    """Return the confidence, from almost 0 to 1.

    `recent` is how much a message is about the most recent events; `model` calibrates the vector
    scores. `only_asks` is whether the message is a single question: an answer must be about all of
    it, while a task is served by anything that bears on a part of it.
    """
    if not _has_vectors(candidates, found):
        return 1.0
    words, nearness = _best(candidates, "keyword"), _best(candidates, "vector")
    fit = math.hypot(words, model.nearness * nearness)
    doubtful, certain = (
        (model.question_doubtful, model.question_sure)
        if only_asks
        else (model.doubtful, model.sure)
    )
    fitting = (fit - doubtful) / (certain - doubtful)
    # A question about a time is answered by whatever happened then.
    timed = max([answer.trust for answer in found if answer.spans], default=0.0)
    return min(1.0, max(_MIN_CONFIDENCE, fitting, timed, recent))


def own_confidence(
    candidates: Candidates,
    found: Sequence[Found],
    recent: float,
    model: MemoryCalibration,
) -> Scores | float:
    """Return for each candidate the confidence that its own text is relevant.

    The surroundings of a text decide which candidate is best, never whether one fits at all.
    """
    if not _has_vectors(candidates, found):
        return 1.0
    horizon = candidates.found["vector"].horizon
    nearness = model.nearness * candidates.by_path("vector", otherwise=horizon)
    fit = np.hypot(candidates.by_path("keyword"), nearness)
    own = (fit - model.foreign) / (model.fitting - model.foreign)
    return np.clip(own, max(_MIN_OWN_CONFIDENCE, recent), 1.0)


def _has_vectors(candidates: Candidates, found: Sequence[Found]) -> bool:
    """Return whether the vector path answered; keywords alone cannot find synonyms."""
    if "vector" not in candidates.found:
        return False
    return max([answer.trust for answer in found if answer.path == "vector"], default=0.0) > 0


def _best(candidates: Candidates, path: PathName) -> float:
    found = candidates.found.get(path)
    return 0.0 if found is None else float(found.by_owner.scores.max())
