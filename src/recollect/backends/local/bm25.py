"""BM25 scores, and an absolute similarity in [0, 1] that is derived from them.

The similarity is the share of the query's idf weight that a unit covers; terms that no unit has
count as missed. It increases with BM25: 0 is nothing in common, about .74 is every term once in a
unit of average length, and 1 is the limit for ever stronger matches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recollect.domain.lazy_value import lazy_value

Scores = NDArray[np.float64]

K1: Final = 1.2
B: Final = 0.85
# More repetitions say nothing new, and this many fit into a byte.
MAX_REPEATS: Final = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """The number of units, their total length, and how many units have each query term."""

    units: int
    length: int
    frequencies: tuple[int, ...]

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(
            units=self.units + other.units,
            length=self.length + other.length,
            frequencies=tuple(
                mine + its for mine, its in zip(self.frequencies, other.frequencies, strict=True)
            ),
        )


@dataclass(frozen=True)
class Weights:
    """The weight of each query term among the units of the statistics."""

    statistics: Statistics
    # For each term, how many more units are assumed to have it; empty if none are.
    assumed: tuple[int, ...] = ()

    @lazy_value
    def terms(self) -> tuple[float, ...]:
        """Return the maximum that each term can add to a score."""
        return self._worth(least=0)

    @lazy_value
    def best(self) -> float:
        """Return the maximum possible score."""
        # A term that no unit has counts as if one had it; in a small memory it would otherwise
        # outweigh every match.
        return math.fsum(self._worth(least=1))

    def _worth(self, least: int) -> tuple[float, ...]:
        """Return the maximum of each term, if at least so many units have it."""
        units, frequencies = self.statistics.units, self.statistics.frequencies
        assumed = self.assumed or (0,) * len(frequencies)
        return tuple(
            [
                (K1 + 1) * inverse_frequency(units + more, (one or least) + more)
                for one, more in zip(frequencies, assumed, strict=True)
            ]
        )

    def damping(self, lengths: NDArray[np.int32]) -> Scores:
        """Return the length normalisation of each unit."""
        # All units may be without terms while a removed one still has some.
        average = max(self.statistics.length, 1) / self.statistics.units
        return lengths.astype(np.float64) * (K1 * B / average) + K1 * (1 - B)

    def similarities(self, raw: Scores) -> Scores:
        """Return the similarities of BM25 scores."""
        # With this exponent, a unit that covers a small share of the query scores about that share.
        return 1 - (1 - np.minimum(raw / self.best, 1.0)) ** (K1 + 1)


# Most terms of a question occur in few units or none.
@lru_cache(maxsize=1 << 12)
def inverse_frequency(units: int, frequency: int) -> float:
    """Return the idf of a term that `frequency` of `units` have; never negative."""
    return math.log(1 + (units - frequency + 0.5) / (frequency + 0.5))


def gains(repeats: NDArray[np.uint8], damping: Scores, worth: Scores) -> Scores:
    """Return what terms add to the scores of units, by their number of occurrences."""
    # In place: with a hundred thousand postings, allocating an array costs more than filling it.
    gained = repeats + damping
    np.divide(repeats, gained, out=gained)
    return np.multiply(worth, gained, out=gained)
