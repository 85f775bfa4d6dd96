"""Care of the whole database, across all scopes. Never reachable from a caller's scope."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from recollect.domain.diagnosis import DatabaseCondition, IndexFigures
from recollect.domain.embedding import EmbeddingModel
from recollect.domain.record import Record
from recollect.domain.turn import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainUnit:
    """A unit that has no vector, with its owner and its place among the owner's units."""

    unit: int
    ordinal: int
    owner: Record | Turn


class Maintenance(Protocol):
    """What an operator or a background job needs."""

    async def analysed_otherwise(self, analyzer: str, limit: int) -> list[Record | Turn]:
        """Some owners of units that another analyzer made; empty when there are none."""
        ...

    async def without_vector(
        self, model: EmbeddingModel, *, after: int, limit: int
    ) -> list[PlainUnit]:
        """Units that have no vector of this model, by number, from the first above `after`."""
        ...

    async def count_without_vector(self, model: EmbeddingModel) -> int: ...

    async def vectors_of_others(self, model: EmbeddingModel) -> dict[str, int]:
        """How many vectors other models have made, by their names."""
        ...

    async def condition(self) -> DatabaseCondition:
        """What the database says about itself; every page of it is looked at."""
        ...

    async def figures(self, analyzer: str) -> IndexFigures:
        """How much there is; for a database of the newest revision only."""
        ...

    async def size(self) -> int:
        """Bytes the database takes on disk."""
        ...

    async def backup(self, target: Path) -> None:
        """A consistent copy of everything while others go on writing."""
        ...
