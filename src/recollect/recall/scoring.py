"""Scores from the known properties of a memory beside its relevance: kind, trust, use, age.

S = α·relevance + β·e^(−λ·age) + γ·source, times small bounded boosts. A memory that is not relevant
is never lifted over one that is.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from datetime import datetime, timedelta
from typing import Final

import numpy as np

from recollect.domain.hit import Boost, Standing
from recollect.domain.record import Kind, is_user_profile
from recollect.domain.sections import RecallSettings
from recollect.ports.units import Scores
from recollect.recall.intent import IntentFactors

_DAY: Final = timedelta(days=1)
# The number of uses at which the boost for use is full.
_FULL_USE_COUNT: Final = 20
# Entering the prompts of a session counts for so much of a use that helped.
_ENTRY_SHARE: Final = 0.05

_KIND_REASONS: Final = {kind: f"kind {kind}" for kind in Kind}


def largest_factor(lean: IntentFactors, recall: RecallSettings) -> float:
    """Return the largest factor by which a score can rise."""
    by_kind = max(recall.kind_boosts.values(), default=1.0)
    leaning = max(lean.semantic, lean.episodic, lean.procedural, lean.turn)
    return max(by_kind, 1.0) * leaning * lean.preference * lean.shared * (1 + recall.use_boost)


class CandidateScoring:
    """The scoring of one question's candidates."""

    def __init__(self, lean: IntentFactors, recall: RecallSettings, now: datetime) -> None:
        self._lean = lean
        self._recall = recall
        self._now = now
        # Most memories have the same properties, so each combination is computed once.
        self._known: dict[Hashable, tuple[float, tuple[Boost, ...]]] = {}

    def scores(self, standings: Sequence[Standing], relevance: Sequence[float]) -> list[float]:
        """Return the final scores of candidates."""
        known = self._known
        # Everything but the time and the text is the same for most.
        factors = [(known.get(it[4:]) or self._factor(it))[0] for it in standings]
        scores = np.array(factors) * self._sums(standings, np.array(relevance))
        return np.minimum(np.maximum(scores, 0.0), 1.0).tolist()

    def boosts(self, standing: Standing) -> tuple[Boost, ...]:
        """Return the boosts that raised or lowered the score."""
        known = self._known.get(standing[4:]) or self._factor(standing)
        return known[1]

    def _factor(self, standing: Standing) -> tuple[float, tuple[Boost, ...]]:
        """Return the factor of everything but age and source, and the boosts it is made of."""
        alike = standing[4:]
        known = self._known.get(alike)
        if known is None:
            factors = _factors(standing, self._lean, self._recall)
            boosts = [Boost(reason=reason, factor=value) for reason, value in factors if value != 1]
            known = math.prod([value for _, value in factors]), tuple(boosts)
            self._known[alike] = known
        return known

    def _sums(self, standings: Sequence[Standing], relevance: Scores) -> Scores:
        recall, now = self._recall, self._now
        decay = recall.decay_weight or 0.0
        if not decay and not recall.source_weight:
            return relevance
        weights = recall.relevance_weight + decay + recall.source_weight
        ages = np.maximum([(now - it.observed_at) / _DAY for it in standings], 0.0)
        sources = np.array([recall.source_boosts.get(it.source, 0.0) for it in standings])
        # Age and source count in proportion to relevance: being new is no answer.
        beside = decay * np.exp(-recall.decay_lambda * ages) + recall.source_weight * sources
        return relevance * (recall.relevance_weight + beside) / weights


def _factors(
    standing: Standing, lean: IntentFactors, recall: RecallSettings
) -> list[tuple[str, float]]:
    if standing.kind is None:
        return [("intent", lean.turn)]
    factors = [
        ("intent", _intent_factor(standing.kind, standing.category, lean)),
        (_KIND_REASONS[standing.kind], recall.kind_boosts.get(standing.kind, 1.0)),
        # Full trust is the rule and changes nothing.
        ("confidence", 1 - recall.confidence_boost * (1 - standing.confidence)),
    ]
    if standing.is_of_others:
        factors.append(("known to others", lean.shared))
    if standing.helped or standing.rejected or standing.accessed:
        helped = standing.helped + _ENTRY_SHARE * standing.accessed
        reason = "feedback" if standing.helped or standing.rejected else "use"
        factors.append((reason, 1 + recall.use_boost * _usefulness(helped, standing.rejected)))
    return factors


def _intent_factor(kind: Kind, category: str, lean: IntentFactors) -> float:
    by_kind: float = getattr(lean, kind.value)
    return by_kind * (lean.preference if is_user_profile(category) else 1.0)


def _usefulness(helped: float, rejected: int) -> float:
    """Return −1 for always rejected up to 1 for often used and never rejected."""
    total = helped + rejected
    balance = (helped - rejected) / total
    return balance * min(1.0, math.log1p(total) / math.log1p(_FULL_USE_COUNT))
