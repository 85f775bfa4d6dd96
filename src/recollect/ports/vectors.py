"""Vector search: the nearest vectors among a caller's units."""

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

# A vector, and several vectors as rows.
Vector = NDArray[np.float32]
Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """The nearest units by cosine, best first, and how many units have no vector.

    `models` are those that serve the given scopes, whether or not the question has a vector of
    them.
    """

    matches: Matches
    models: frozenset[EmbeddingModel] = frozenset()
    missing: int = 0


class VectorIndex(Protocol):
    """Exact nearest neighbours, in each scope among the vectors of the model that serves it."""

    async def search(
        self,
        scopes: Sequence[Scope],
        question: Mapping[EmbeddingModel, Vector],
        limit: int,
        *,
        now: datetime,
        within: Filter | None = None,
    ) -> Nearest:
        """Return the units nearest to the question, given as vectors of one or more models.

        With `within`, return only units of owners that it accepts."""
        ...

    def stats(self) -> IndexStats: ...
