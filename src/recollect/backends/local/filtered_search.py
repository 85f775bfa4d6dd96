"""Filtered search that filters the best units first.

Most filters accept at least one unit in ten. Then enough matches are found among the best of all
units, without reading everything in the scope that the filter accepts. The result is the same.

"""

from __future__ import annotations

from datetime import datetime
from typing import Final

import numpy as np
from sqlalchemy import Connection

from recollect.backends.local.ranking import Ranking
from recollect.backends.local.unit_rows import read_accepted
from recollect.domain.filters import Filter

# How many times the limit is examined.
_MAX_REACH: Final = 10
_STEPS: Final = 4


def best_within(
    connection: Connection, ranking: Ranking, where: Filter, now: datetime, limit: int
) -> Ranking | None:
    """Return the best units that the filter accepts; None if too few of those examined match."""
    if where.session is not None or (where.since is not None and where.until is not None):
        # These filters accept few units, which an index finds.
        return None
    best = ranking.top(_MAX_REACH * limit)
    step = max(len(best.units) // _STEPS, 1)
    accepted = np.empty(0, np.int64)
    for start in range(0, len(best.units), step):
        passing = read_accepted(connection, best.units[start : start + step], where, now)
        accepted = np.concatenate([accepted, passing])
        if not len(accepted):
            # The filter accepts few units, so other ways are better.
            break
        if len(accepted) >= limit:
            return best.only(accepted).top(limit)
    return None
