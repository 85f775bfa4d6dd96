"""What is known of a memory itself, beside how well it fits: kind, trust, use, age.

S = α·relevance + β·e^(−λ·age) + γ·source, times small bounded boosts. A memory that does not fit is
not lifted over one that does.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from recollect.domain.category import is_user_profile
from recollect.domain.hit import Boost
from recollect.domain.record import Kind
from recollect.domain.standing import Standing
from recollect.recall.intent import Lean

_DAY: Final = timedelta(days=1)
# So many uses say all that use can say.
_MUCH_USED: Final = 20

_OF_KIND: Final = {kind: f"kind {kind}" for kind in Kind}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringOptions:
    """How much what is known of a memory counts; all are settings."""

    relevance: float = 1.0
    decay: float = 0.0
    decay_lambda: float = 0.01
    source: float = 0.0
    sources: Mapping[str, float] = field(default_factory=dict[str, float])
    kinds: Mapping[Kind, float] = field(default_factory=dict[Kind, float])
    confidence: float = 0.05
    use: float = 0.05

    def most(self, lean: Lean) -> float:
        """The largest factor by which a score can rise."""
        by_kind = max(self.kinds.values(), default=1.0)
        leaning = max(lean.semantic, lean.episodic, lean.procedural, lean.turn)
        return max(by_kind, 1.0) * leaning * lean.preference * lean.shared * (1 + self.use)


class Weighing:
    """How what one question found is weighed."""

    def __init__(self, lean: Lean, options: ScoringOptions, now: datetime) -> None:
        self._lean = lean
        self._options = options
        self._now = now
        # Most memories stand alike, so each way of standing is weighed once.
        self._weighed: dict[Hashable, tuple[float, tuple[Boost, ...]]] = {}

    def score(self, standing: Standing, relevance: float) -> float:
        """The score of a hit with all that is known of it."""
        factor, _ = self._weigh(standing)
        score = factor * _sum(standing, relevance, self._options, self._now)
        return min(max(score, 0.0), 1.0)

    def boosts(self, standing: Standing) -> tuple[Boost, ...]:
        """What of that raised or lowered the score."""
        _, boosts = self._weigh(standing)
        return boosts

    def _weigh(self, standing: Standing) -> tuple[float, tuple[Boost, ...]]:
        """The factor of all that is known beside age and source, and what it is made of."""
        # All but when.
        alike = standing[1:]
        known = self._weighed.get(alike)
        if known is None:
            factors = _factors(standing, self._lean, self._options)
            boosts = (Boost(reason=reason, factor=it) for reason, it in factors if it != 1)
            known = math.prod(it for _, it in factors), tuple(boosts)
            self._weighed[alike] = known
        return known


def _sum(standing: Standing, relevance: float, options: ScoringOptions, now: datetime) -> float:
    if not options.decay and not options.source:
        return relevance
    weights = options.relevance + options.decay + options.source
    age = max((now - standing.observed_at) / _DAY, 0.0)
    fresh = math.exp(-options.decay_lambda * age)
    source = options.sources.get(standing.source, 0.0)
    # Age and source are weighed by the fit: what is merely new is no answer.
    beside = relevance * (options.decay * fresh + options.source * source)
    return (options.relevance * relevance + beside) / weights


def _factors(standing: Standing, lean: Lean, options: ScoringOptions) -> list[tuple[str, float]]:
    if standing.kind is None:
        return [("intent", lean.turn)]
    factors = [
        ("intent", _leaning(standing.kind, standing.category, lean)),
        (_OF_KIND[standing.kind], options.kinds.get(standing.kind, 1.0)),
        # Full trust is the rule and changes nothing.
        ("confidence", 1 - options.confidence * (1 - standing.confidence)),
    ]
    if standing.is_of_others:
        factors.append(("known to others", lean.shared))
    if standing.helped or standing.rejected:
        usefulness = _usefulness(standing.helped, standing.rejected)
        factors.append(("feedback", 1 + options.use * usefulness))
    return factors


def _leaning(kind: Kind, category: str, lean: Lean) -> float:
    by_kind = {
        Kind.SEMANTIC: lean.semantic,
        Kind.EPISODIC: lean.episodic,
        Kind.PROCEDURAL: lean.procedural,
    }[kind]
    return by_kind * (lean.preference if is_user_profile(category) else 1.0)


def _usefulness(helped: int, rejected: int) -> float:
    """From −1, always rejected, to 1, used often and never rejected."""
    told = helped + rejected
    balance = (helped - rejected) / told
    return balance * min(1.0, math.log1p(told) / math.log1p(_MUCH_USED))
