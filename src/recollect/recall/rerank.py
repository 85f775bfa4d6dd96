"""What is known of a memory itself, beside how well it fits: kind, trust, use, age.

S = α·relevance + β·e^(−λ·age) + γ·source, times small bounded boosts. A memory that does not fit is
not lifted over one that does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from recollect.domain.category import is_user_profile
from recollect.domain.hit import Boost
from recollect.domain.record import Kind, Record
from recollect.domain.turn import Turn
from recollect.recall.intent import Lean

_DAY: Final = timedelta(days=1)
# So many uses say all that use can say.
_MUCH_USED: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankOptions:
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
        return max(by_kind, 1.0) * leaning * lean.preference * (1 + self.use)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reranked:
    """A new score and what made it."""

    score: float
    boosts: tuple[Boost, ...] = ()


def reranked(
    item: Record | Turn, relevance: float, lean: Lean, options: RerankOptions, now: datetime
) -> Reranked:
    """The score of a hit with all that is known of it."""
    boosts = _boosts(item, lean, options)
    score = math.prod((boost.factor for boost in boosts), start=_sum(item, relevance, options, now))
    told = tuple(boost for boost in boosts if boost.factor != 1)
    return Reranked(score=min(max(score, 0.0), 1.0), boosts=told)


def _sum(item: Record | Turn, relevance: float, options: RerankOptions, now: datetime) -> float:
    if not options.decay and not options.source:
        return relevance
    weights = options.relevance + options.decay + options.source
    fresh = math.exp(-options.decay_lambda * max((now - _happened(item)) / _DAY, 0.0))
    source = options.sources.get(item.source, 0.0) if isinstance(item, Record) else 0.0
    # Age and source are weighed by the fit: what is merely new is no answer.
    beside = relevance * (options.decay * fresh + options.source * source)
    return (options.relevance * relevance + beside) / weights


def _happened(item: Record | Turn) -> datetime:
    return item.observed_at if isinstance(item, Record) else item.at


def _boosts(item: Record | Turn, lean: Lean, options: RerankOptions) -> list[Boost]:
    if isinstance(item, Turn):
        return [Boost(reason="intent", factor=lean.turn)]
    boosts = [
        Boost(reason="intent", factor=_leaning(item, lean)),
        Boost(reason=f"kind {item.kind.value}", factor=options.kinds.get(item.kind, 1.0)),
        # Full trust is the rule and changes nothing.
        Boost(reason="confidence", factor=1 - options.confidence * (1 - item.confidence)),
    ]
    if item.helped or item.rejected:
        boosts.append(Boost(reason="feedback", factor=1 + options.use * _usefulness(item)))
    return boosts


def _leaning(record: Record, lean: Lean) -> float:
    by_kind = {
        Kind.SEMANTIC: lean.semantic,
        Kind.EPISODIC: lean.episodic,
        Kind.PROCEDURAL: lean.procedural,
    }[record.kind]
    return by_kind * (lean.preference if is_user_profile(record.category) else 1.0)


def _usefulness(record: Record) -> float:
    """From −1, always rejected, to 1, used often and never rejected."""
    told = record.helped + record.rejected
    balance = (record.helped - record.rejected) / told
    return balance * min(1.0, math.log1p(told) / math.log1p(_MUCH_USED))
