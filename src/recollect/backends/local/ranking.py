"""Units with their scores, and the best of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from recollect.backends.local.bm25 import Scores
from recollect.backends.local.segment import Ids


@dataclass(frozen=True, slots=True)
class Ranking:
    """Units that matched, with their scores."""

    units: Ids
    scores: Scores

    @classmethod
    def of(cls, rankings: Iterable[Ranking]) -> Ranking:
        """Several rankings as one."""
        parts = list(rankings)
        if len(parts) == 1:
            return parts[0]
        parts.append(cls(np.empty(0, np.int64), np.empty(0, np.float64)))
        return cls(
            np.concatenate([part.units for part in parts]),
            np.concatenate([part.scores for part in parts]),
        )

    def top(self, limit: int) -> Ranking:
        """The best, best first; of equals the one written first."""
        chosen = np.arange(len(self.scores))
        if limit < len(chosen):
            last = np.partition(self.scores, -limit)[-limit]
            chosen = np.flatnonzero(self.scores >= last)
        order = np.lexsort((self.units[chosen], -self.scores[chosen]))
        best = chosen[order[:limit]]
        return Ranking(self.units[best], self.scores[best])
