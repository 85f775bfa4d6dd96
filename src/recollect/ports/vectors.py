"""Search by meaning: the nearest vectors among a caller's units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from recollect.domain.embedding import EmbeddingModel
from recollect.domain.filters import Filter
from recollect.domain.scope import Scope
from recollect.domain.stats import IndexStats
from recollect.ports.units import Matches

# One vector, and several as rows.
Vector = NDArray[np.float32]
Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """The nearest units by cosine, best first, and how many units have no vector to compare.

    `models` are those that answer in the scopes that were asked, whether or not the question came
    as their vector too.
    """

    matches: Matches
    models: frozenset[EmbeddingModel] = frozenset()
    missing: int = 0


class VectorIndex(Protocol):
    """Exact nearest neighbours, in each scope among the vectors of the model that answers there."""

    async def search(
        self,
        scopes: Sequence[Scope],
        question: Mapping[EmbeddingModel, Vector],
        limit: int,
        *,
        now: datetime,
        within: Filter | None = None,
    ) -> Nearest:
        """The units most like the question, which is given as the vectors of one or more models;
        with `within`, only owners it accepts."""
        ...

    def stats(self) -> IndexStats: ...
