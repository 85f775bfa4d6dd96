"""The best units as matches, with their owners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
from sqlalchemy import Connection

from recollect.backends.local.ranking import Ranking
from recollect.backends.local.unit_rows import read_units
from recollect.domain.filters import OwnerKind
from recollect.ports.units import UnitMatch


def matches_of(
    connection: Connection,
    best: Ranking,
    similarity: Callable[[float], float],
    keys: Sequence[int] = (),
) -> list[UnitMatch]:
    """The ranked units that this snapshot has, each with those of the term keys it contains."""
    scores = dict(zip(best.units.tolist(), best.scores.tolist(), strict=True))
    matches: dict[int, UnitMatch] = {}
    for unit, kind, owner, ordinal, start, end, terms in read_units(connection, best.units):
        present = set(np.frombuffer(terms, "<u8").tolist()) if keys else set[int]()
        matches[unit] = UnitMatch(
            unit=unit,
            owner_kind=cast("OwnerKind", kind),
            owner_id=owner,
            ordinal=ordinal,
            span=(start, end),
            raw=scores[unit],
            score=similarity(scores[unit]),
            terms=tuple([key for key in keys if key in present]),
        )
    return [matches[unit] for unit in scores if unit in matches]
