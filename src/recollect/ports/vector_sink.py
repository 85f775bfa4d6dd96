"""A vector store outside of the database: an approximate index of large scopes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from recollect.ports.units import Ids, Vector, Vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """The vectors that one model made of one scope: a search never leaves it.

    `scope` and `model` are numbers of the database that the store follows, so that the store learns
    no names.
    """

    scope: int
    model: int
    dimension: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkReport:
    """What a vector store says about itself: its version, and how its index is made."""

    version: str
    index: str
    problems: tuple[str, ...] = ()


class VectorSink(Protocol):
    """Vectors of units by number. Several databases may use one store without seeing each other.

    Every method raises `StoreAway` if the store does not answer in time. What a write has done is
    visible to the next search.
    """

    @property
    def name(self) -> str:
        """Return the URL of the store without its key."""
        ...

    async def put(self, space: Space, units: Ids, vectors: Vectors) -> None:
        """Store vectors of length 1, a row for each unit; existing ones are replaced."""
        ...

    async def finish(self, space: Space) -> None:
        """Make what was put quick to search; called when all scopes of a model are there."""
        ...

    async def remove(self, space: Space, units: Ids) -> None:
        """Erase the vectors of these units; unknown ones are ignored."""
        ...

    async def drop(self, scope: int) -> None:
        """Erase all vectors of a scope, of every model."""
        ...

    async def clear(self) -> None:
        """Erase everything that this database has in the store."""
        ...

    async def count(self, space: Space) -> int:
        """Return how many vectors there are in a space."""
        ...

    async def units(self, space: Space, after: int, limit: int) -> Ids:
        """Return the units of a space above this number, in ascending order."""
        ...

    async def search(self, space: Space, vector: Vector, limit: int) -> Ids:
        """Return the units with the nearest vectors, about the nearest first."""
        ...

    async def check(self) -> SinkReport:
        """Return the version and the index; try whether it may be written to."""
        ...

    async def close(self) -> None: ...
