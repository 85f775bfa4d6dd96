"""The one ranker's arithmetic: BM25, and an absolute similarity in [0, 1] made of it.

The similarity is the share of the query's idf weight that a unit covers, where terms that no unit
has count as missed. It only ever rises with BM25: 0 is nothing in common, about .74 is every term
once in a unit of average length, and 1 is the limit that ever stronger matches approach.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]

K1: Final = 1.2
B: Final = 0.85
# More repeats than this say nothing new, and a byte holds them.
MAX_REPEATS: Final = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """How many units there are, how long they are together, and how many have each query term."""

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
    """What each term of a query is worth among the units that the statistics describe."""

    statistics: Statistics

    @cached_property
    def terms(self) -> tuple[float, ...]:
        """The most that each term can add to a score."""
        units, frequencies = self.statistics.units, self.statistics.frequencies
        return tuple([(K1 + 1) * inverse_frequency(units, one) for one in frequencies])

    @cached_property
    def best(self) -> float:
        """What a unit would score that matched every term as strongly as can be."""
        # A term that no unit has counts as if one had it: in a small memory it would otherwise
        # outweigh everything that was found.
        units, frequencies = self.statistics.units, self.statistics.frequencies
        return (K1 + 1) * math.fsum(inverse_frequency(units, one or 1) for one in frequencies)

    def damping(self, lengths: NDArray[np.int32]) -> Scores:
        """How much the length of a unit holds its terms back."""
        # Units may all be without terms while one that was removed still has some.
        average = max(self.statistics.length, 1) / self.statistics.units
        return lengths.astype(np.float64) * (K1 * B / average) + K1 * (1 - B)

    def similarities(self, raw: Scores) -> Scores:
        """The calibrated form of BM25 scores."""
        # With this power a unit that covers a small share of the query scores about that share.
        return 1 - (1 - np.minimum(raw / self.best, 1.0)) ** (K1 + 1)


# Most terms of a question are in none or few of the units.
@lru_cache(maxsize=1 << 12)
def inverse_frequency(units: int, frequency: int) -> float:
    """The worth of a term that `frequency` of `units` have; never negative."""
    return math.log(1 + (units - frequency + 0.5) / (frequency + 0.5))


def gains(repeats: NDArray[np.uint8], damping: Scores, worth: Scores) -> Scores:
    """What terms add to the scores of units that have them so many times."""
    # In one array: with a hundred thousand postings making another costs more than filling it.
    gained = repeats + damping
    np.divide(repeats, gained, out=gained)
    return np.multiply(worth, gained, out=gained)
