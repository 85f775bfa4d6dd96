"""Reciprocal rank fusion, for paths whose scores are not comparable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from recollect.ports.units import Scores
from recollect.recall.candidates import Candidates
from recollect.recall.paths import PathName

# From the paper that proposed it: the first few ranks of a path do not decide everything.
_RANK_OFFSET: Final = 60


def reciprocal_ranks(candidates: Candidates, weights: Mapping[PathName, float]) -> Scores:
    """Return the sum of weight / (60 + rank) over the paths; equal scores share a rank."""
    total = np.zeros(len(candidates))
    for path, weight in weights.items():
        opinion = candidates.opinions.get(path)
        if opinion is not None and weight:
            falling = -opinion.scores
            ranks = 1 + np.sort(falling).searchsorted(falling)
            total[candidates.owners.searchsorted(opinion.owners)] += weight / (_RANK_OFFSET + ranks)
    return total
