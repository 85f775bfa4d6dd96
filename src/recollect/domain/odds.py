"""Probabilities, and the odds that they mean as a logarithm."""

from __future__ import annotations

import math
from typing import Final

# A probability of exactly 0 or 1 would outweigh everything that speaks against it.
_LEAST: Final = 0.001


def log_odds(probability: float) -> float:
    """Return the odds as a logarithm: 0 is even, above is rather yes."""
    inside = min(1 - _LEAST, max(_LEAST, probability))
    return math.log(inside / (1 - inside))


def probability(log_odds: float) -> float:
    """Return the probability, from 0 to 1."""
    return 0.5 + math.tanh(log_odds / 2) / 2
