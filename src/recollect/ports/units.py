"""Keyword search over units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from recollect.domain.filters import Filter, OwnerKind
from recollect.domain.scope import Scope
from recollect.domain.stats import IndexStats

Ids = NDArray[np.int64]
Scores = NDArray[np.float64]

# What a unit belongs to and where that stands, as one row of an array; see domain/unit.py.
# `kind` is the place of the owner's kind in KINDS, `owner` its id.
KINDS: Final[tuple[OwnerKind, ...]] = ("record", "turn", "archive")
UNIT: Final = np.dtype(
    [
        ("unit", np.int64),
        ("kind", np.uint8),
        ("owner", np.object_),
        ("ordinal", np.int32),
        ("start", np.int32),
        ("end", np.int32),
        ("observed_at", np.int64),
        ("cluster", np.int64),
        ("place", np.int64),
        ("speaker", np.int64),
        ("traits", np.uint8),
        ("size", np.int32),
        ("variety", np.int32),
    ]
)
UnitRows = NDArray[np.void]


def no_units() -> UnitRows:
    return np.empty(0, UNIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """Units that matched, best first: as they stand, raw scores, similarities in [0, 1].

    Columns and not objects, since a search looks at hundreds and shows five.
    """

    rows: UnitRows
    raw: Scores
    scores: Scores

    @classmethod
    def none(cls) -> Matches:
        return cls(rows=no_units(), raw=np.empty(0), scores=np.empty(0))

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> NDArray[Any]:
        return self.rows[name]


class UnitIndex(Protocol):
    """BM25 over the units of the given scopes, never over anybody else's."""

    async def search(
        self,
        scopes: Sequence[Scope],
        terms: Sequence[int],
        limit: int,
        *,
        now: datetime,
        within: Filter | None = None,
    ) -> Matches:
        """The best units for these term keys, best first; with `within`, only owners it accepts."""
        ...

    async def recent(
        self, scopes: Sequence[Scope], since: datetime, limit: int, *, until: datetime
    ) -> Matches:
        """What happened last before `until`, newest first; the score falls to 0 at `since`."""
        ...

    async def terms_of(self, units: Sequence[int]) -> dict[int, frozenset[int]]:
        """The keys of the terms that these units have, to explain why they were found."""
        ...

    async def rank(self, terms: Sequence[int], texts: Sequence[Sequence[int]]) -> list[float]:
        """Calibrated scores of texts that are not in the index, ranked among themselves."""
        ...

    def stats(self) -> IndexStats: ...
