"""Search by meaning: the nearest vectors among a caller's units."""

from __future__ import annotations

from collections.abc import Sequence
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
    """The nearest units by cosine, best first, and how many units have no vector to compare."""

    matches: Matches
    missing: int = 0


class VectorIndex(Protocol):
    """Exact nearest neighbours among vectors that one model made."""

    async def search(
        self,
        scopes: Sequence[Scope],
        model: EmbeddingModel,
        question: Vector,
        limit: int,
        *,
        now: datetime,
        within: Filter | None = None,
    ) -> Nearest:
        """The units most like the question; with `within`, only owners it accepts."""
        ...

    def stats(self) -> IndexStats: ...
