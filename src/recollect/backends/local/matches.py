"""The best units as matches, with their owners."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from sqlalchemy import Connection

from recollect.backends.local.ranking import Ranking
from recollect.backends.local.unit_rows import read_units
from recollect.domain.filters import OwnerKind
from recollect.ports.units import UnitMatch


def matches_of(
    connection: Connection,
    best: Ranking,
    similarity: Callable[[float], float],
) -> list[UnitMatch]:
    """The ranked units that this snapshot has."""
    scores = dict(zip(best.units.tolist(), best.scores.tolist(), strict=True))
    matches: dict[int, UnitMatch] = {}
    for unit, kind, owner, ordinal, start, end, terms in read_units(connection, best.units):
        matches[unit] = UnitMatch(
            unit=unit,
            owner_kind=cast("OwnerKind", kind),
            owner_id=owner,
            ordinal=ordinal,
            span=(start, end),
            raw=scores[unit],
            score=similarity(scores[unit]),
            terms=terms,
        )
    return [matches[unit] for unit in scores if unit in matches]
