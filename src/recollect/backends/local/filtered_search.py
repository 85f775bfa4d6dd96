"""The best units that a filter accepts, looked for from the best on.

Most filters accept one in ten or more. Then those that are wanted are soon found among the best of
all, and the scope need not be gone through for everything that the filter accepts. The answer
is the same.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

import numpy as np
from sqlalchemy import Connection

from recollect.backends.local.ranking import Ranking
from recollect.backends.local.unit_rows import read_accepted
from recollect.domain.filters import Filter

# So many times what is wanted is looked at.
_REACH: Final = 10
_STEPS: Final = 4


def best_within(
    connection: Connection, ranking: Ranking, where: Filter, now: datetime, limit: int
) -> Ranking | None:
    """The best of all units that the filter accepts; None if too few of those looked at pass."""
    if where.session is not None or (where.since is not None and where.until is not None):
        # What is in them is few, and found by an index.
        return None
    best = ranking.top(_REACH * limit)
    step = max(len(best.units) // _STEPS, 1)
    accepted = np.empty(0, np.int64)
    for start in range(0, len(best.units), step):
        passing = read_accepted(connection, best.units[start : start + step], where, now)
        accepted = np.concatenate([accepted, passing])
        if not len(accepted):
            # It is a rare one, for which there are better ways.
            break
        if len(accepted) >= limit:
            return best.only(accepted).top(limit)
    return None
