"""Units with their scores, and the best of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from recollect.backends.local.bm25 import Scores
from recollect.backends.local.segment import Ids

# One unit in this many is sampled first, for this many times the limit.
_SAMPLED: Final = 16
_MARGIN: Final = 2


@dataclass(frozen=True, slots=True)
class Ranking:
    """Units that matched, with their scores."""

    units: Ids
    scores: Scores

    @classmethod
    def of(cls, rankings: Iterable[Ranking]) -> Ranking:
        """Return several rankings as one."""
        parts = list(rankings)
        if len(parts) == 1:
            return parts[0]
        parts.append(cls(np.empty(0, np.int64), np.empty(0, np.float64)))
        return cls(
            np.concatenate([part.units for part in parts]),
            np.concatenate([part.scores for part in parts]),
        )

    def only(self, units: Ids) -> Ranking:
        """Return the ranking of these units only."""
        chosen = np.flatnonzero(np.isin(self.units, units))
        return Ranking(self.units[chosen], self.scores[chosen])

    def top(self, limit: int) -> Ranking:
        """Return the best units, best first; of equal ones, the earliest first."""
        if limit >= len(self.units):
            order = np.lexsort((self.units, -self.scores))
            return Ranking(self.units[order], self.scores[order])
        chosen = self._likely(limit)
        if limit < len(chosen):
            last = np.partition(self.scores[chosen], -limit)[-limit]
            chosen = chosen[self.scores[chosen] >= last]
        order = np.lexsort((self.units[chosen], -self.scores[chosen]))
        best = chosen[order[:limit]]
        return Ranking(self.units[best], self.scores[best])

    def _likely(self, limit: int) -> Ids:
        """Return the indexes above a score, estimated from a sample, that surely include the best.

        Selecting a few among these is five times as fast as among all.
        """
        sample = self.scores[::_SAMPLED]
        share = _MARGIN * limit // _SAMPLED
        if limit and share < len(sample) // 2:
            likely = np.flatnonzero(self.scores >= np.partition(sample, -share)[-share])
            if len(likely) >= limit:
                return likely
        return np.arange(len(self.scores))
