"""Scores from the known properties of a memory beside its relevance: kind, trust, use, age.

S = α·relevance + β·e^(−λ·age) + γ·source, times small bounded boosts. A memory that is not relevant
is never lifted over one that is.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from recollect.domain.hit import Boost, Standing
from recollect.domain.record import Kind, is_user_profile
from recollect.recall.intent import IntentFactors

_DAY: Final = timedelta(days=1)
# The number of uses at which the boost for use is full.
_FULL_USE_COUNT: Final = 20
# Entering the prompts of a session counts for so much of a use that helped.
_ENTRY_SHARE: Final = 0.05

_KIND_REASONS: Final = {kind: f"kind {kind}" for kind in Kind}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringOptions:
    """The weights of the known properties; all are settings."""

    relevance: float = 1.0
    decay: float = 0.0
    decay_lambda: float = 0.01
    source: float = 0.0
    sources: Mapping[str, float] = field(default_factory=dict[str, float])
    kinds: Mapping[Kind, float] = field(default_factory=dict[Kind, float])
    confidence: float = 0.05
    use: float = 0.05

    def most(self, lean: IntentFactors) -> float:
        """Return the largest factor by which a score can rise."""
        by_kind = max(self.kinds.values(), default=1.0)
        leaning = max(lean.semantic, lean.episodic, lean.procedural, lean.turn)
        return max(by_kind, 1.0) * leaning * lean.preference * lean.shared * (1 + self.use)


class CandidateScoring:
    """The scoring of one question's candidates."""

    def __init__(self, lean: IntentFactors, options: ScoringOptions, now: datetime) -> None:
        self._lean = lean
        self._options = options
        self._now = now
        # Most memories have the same properties, so each combination is computed once.
        self._known: dict[Hashable, tuple[float, tuple[Boost, ...]]] = {}

    def score(self, standing: Standing, relevance: float) -> float:
        """Return the final score of a candidate."""
        factor, _ = self._factor(standing)
        score = factor * _sum(standing, relevance, self._options, self._now)
        return min(max(score, 0.0), 1.0)

    def boosts(self, standing: Standing) -> tuple[Boost, ...]:
        """Return the boosts that raised or lowered the score."""
        _, boosts = self._factor(standing)
        return boosts

    def _factor(self, standing: Standing) -> tuple[float, tuple[Boost, ...]]:
        """Return the factor of everything but age and source, and the boosts it is made of."""
        # Everything but the time and the text.
        alike = standing[2:]
        known = self._known.get(alike)
        if known is None:
            factors = _factors(standing, self._lean, self._options)
            boosts = (Boost(reason=reason, factor=value) for reason, value in factors if value != 1)
            known = math.prod(value for _, value in factors), tuple(boosts)
            self._known[alike] = known
        return known


def _sum(standing: Standing, relevance: float, options: ScoringOptions, now: datetime) -> float:
    if not options.decay and not options.source:
        return relevance
    weights = options.relevance + options.decay + options.source
    age = max((now - standing.observed_at) / _DAY, 0.0)
    fresh = math.exp(-options.decay_lambda * age)
    source = options.sources.get(standing.source, 0.0)
    # Age and source count in proportion to relevance: being new is no answer.
    beside = relevance * (options.decay * fresh + options.source * source)
    return (options.relevance * relevance + beside) / weights


def _factors(
    standing: Standing, lean: IntentFactors, options: ScoringOptions
) -> list[tuple[str, float]]:
    if standing.kind is None:
        return [("intent", lean.turn)]
    factors = [
        ("intent", _intent_factor(standing.kind, standing.category, lean)),
        (_KIND_REASONS[standing.kind], options.kinds.get(standing.kind, 1.0)),
        # Full trust is the rule and changes nothing.
        ("confidence", 1 - options.confidence * (1 - standing.confidence)),
    ]
    if standing.is_of_others:
        factors.append(("known to others", lean.shared))
    if standing.helped or standing.rejected or standing.accessed:
        helped = standing.helped + _ENTRY_SHARE * standing.accessed
        reason = "feedback" if standing.helped or standing.rejected else "use"
        factors.append((reason, 1 + options.use * _usefulness(helped, standing.rejected)))
    return factors


def _intent_factor(kind: Kind, category: str, lean: IntentFactors) -> float:
    by_kind = {
        Kind.SEMANTIC: lean.semantic,
        Kind.EPISODIC: lean.episodic,
        Kind.PROCEDURAL: lean.procedural,
    }[kind]
    return by_kind * (lean.preference if is_user_profile(category) else 1.0)


def _usefulness(helped: float, rejected: int) -> float:
    """Return −1 for always rejected up to 1 for often used and never rejected."""
    total = helped + rejected
    balance = (helped - rejected) / total
    return balance * min(1.0, math.log1p(total) / math.log1p(_FULL_USE_COUNT))
