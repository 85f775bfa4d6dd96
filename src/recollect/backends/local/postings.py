"""The packed postings of one scope, which follow additions and removals.

There are a few segments, each several times as large as the next: additions make a small one at
the end, and neighbours of similar size are merged. Removed units are only marked at first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from recollect.backends.local.bm25 import Scores, Statistics, Weights
from recollect.backends.local.ranking import Ranking
from recollect.backends.local.segment import Ids, Keys, Mask, Segment, Spans, join, keep
from recollect.domain.lazy_value import lazy_value

# A segment is merged into the one before it when it has more than 1/_STEP of its units.
_STEP: Final = 4
# A segment is packed again when more than one unit in this many was removed.
_DEAD: Final = 4


@dataclass(frozen=True)
class _Part:
    """A segment and a mask of its remaining units; no mask means all."""

    segment: Segment
    alive: Mask | None = None

    @lazy_value
    def units(self) -> int:
        return self.segment.size if self.alive is None else int(np.count_nonzero(self.alive))

    @lazy_value
    def length(self) -> int:
        lengths = self.segment.lengths
        return int((lengths if self.alive is None else lengths[self.alive]).sum(dtype=np.int64))

    @property
    def bytes(self) -> int:
        return self.segment.bytes + (0 if self.alive is None else self.alive.nbytes)

    def frequencies(self, spans: Spans) -> list[int]:
        if self.alive is None:
            return [end - start for start, end in spans]
        members = self.segment.members
        return [int(np.count_nonzero(self.alive[members[start:end]])) for start, end in spans]

    def score(self, spans: Spans, weights: Weights, allowed: Ids | None) -> Ranking:
        scores: Scores = self.segment.score(spans, weights)
        matched = scores > 0
        if self.alive is not None:
            matched &= self.alive
        if allowed is not None:
            matched &= np.isin(self.segment.units, allowed, assume_unique=True)
        chosen = matched.nonzero()[0]
        return Ranking(self.segment.units.take(chosen), scores.take(chosen))

    def without(self, removed: Ids) -> _Part:
        gone = np.isin(self.segment.units, removed)
        if not gone.any():
            return self
        alive = ~gone if self.alive is None else self.alive & ~gone
        part = _Part(self.segment, alive)
        if (self.segment.size - part.units) * _DEAD > self.segment.size:
            return part.compact()
        return part

    def compact(self) -> _Part:
        return self if self.alive is None else _Part(keep(self.segment, self.alive))


@dataclass(frozen=True)
class PackedPostings:
    """An immutable state of a scope's postings; applying changes makes the next state."""

    parts: tuple[_Part, ...] = ()

    @lazy_value
    def units(self) -> int:
        return sum(part.units for part in self.parts)

    @lazy_value
    def length(self) -> int:
        """Return the total number of terms of all units."""
        return sum(part.length for part in self.parts)

    @property
    def bytes(self) -> int:
        return sum(part.bytes for part in self.parts)

    def added(self, segment: Segment) -> PackedPostings:
        """Return the state with the units of this segment, which must be newer than all others."""
        if not segment.size:
            return self
        parts = [*self.parts, _Part(segment)]
        while len(parts) > 1 and parts[-1].segment.size * _STEP > parts[-2].segment.size:
            second, first = parts.pop().compact(), parts.pop().compact()
            parts.append(_Part(join([first.segment, second.segment])))
        return PackedPostings(tuple(parts))

    def removed(self, units: Ids) -> PackedPostings:
        """Return the state without these units; unknown ones are ignored."""
        if not len(units):
            return self
        parts = [part.without(units) for part in self.parts]
        return PackedPostings(tuple(part for part in parts if part.segment.size))


class PackedSearch:
    """A search in a scope's postings: terms are looked up once, then counted and scored."""

    def __init__(self, postings: PackedPostings, keys: Keys) -> None:
        self._postings = postings
        self._keys = keys
        self._spans = [part.segment.spans(keys) for part in postings.parts]

    @property
    def statistics(self) -> Statistics:
        """Return the statistics of the remaining units."""
        counts = [part.frequencies(spans) for part, spans in self._parts]
        totals = map(sum, zip(*counts, strict=True)) if counts else [0] * len(self._keys)
        return Statistics(
            units=self._postings.units, length=self._postings.length, frequencies=tuple(totals)
        )

    def score(self, weights: Weights, allowed: Ids | None = None) -> Ranking:
        """Return the scores of all allowed units that have any of the terms."""
        return Ranking.of([part.score(spans, weights, allowed) for part, spans in self._parts])

    @property
    def _parts(self) -> Iterable[tuple[_Part, Spans]]:
        return zip(self._postings.parts, self._spans, strict=True)


def most_bytes(units: int, length: int) -> int:
    """Return the maximum memory of postings with this many units and terms."""
    return 13 * units + (8 + 4 + 4 + 1) * length
