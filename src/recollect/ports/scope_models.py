"""Which embedding model serves which scope, and the units that lack its vectors.

For an operator or a background job, across all scopes. Never reachable from a caller's scope.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from recollect.domain.archive import Archive
from recollect.domain.document import Document
from recollect.domain.embedding import EmbeddingModel
from recollect.domain.record import Record
from recollect.domain.scope import Scope
from recollect.domain.turn import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainUnit:
    """A unit that lacks a vector, with its position among its owner's units.

    Its owner is None while the owner is being removed.
    """

    unit: int
    ordinal: int
    owner: Record | Turn | Archive | Document | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedUnits:
    """How many units a model serves; without a model, how many have no vectors at all."""

    model: EmbeddingModel | None
    scopes: int
    units: int


class ScopeModels(Protocol):
    """Keeps track of which model serves each scope."""

    async def served(self) -> list[ServedUnits]:
        """Return how many units each model serves; scopes without units are left out."""
        ...

    async def coming(self) -> str:
        """Return the model that a change is under way to, as the settings name it; else empty."""
        ...

    async def others(self, model: EmbeddingModel, *, limit: int) -> list[Scope]:
        """Return some scopes with units or vectors that this model does not serve."""
        ...

    async def answered_by(self, model: EmbeddingModel, *, limit: int) -> list[Scope]:
        """Return some scopes that this model serves."""
        ...

    async def claim(self, model: EmbeddingModel) -> None:
        """Let this model serve every scope with units that no model serves yet."""
        ...

    async def lacking(
        self, model: EmbeddingModel, *, after: int, limit: int, scope: Scope | None = None
    ) -> list[PlainUnit]:
        """Return units without a vector of this model, by number, starting above `after`: of one
        scope, or of all that the model serves.

        The `limit` is approximate, since the units of an owner come together.
        """
        ...

    async def count_lacking(
        self, model: EmbeddingModel, *, everywhere: bool = False, before: datetime | None = None
    ) -> int:
        """Return how many units lack a vector of this model where it serves, or anywhere.

        With `before`, only those that were observed before that time.
        """
        ...

    async def is_filling(self) -> bool:
        """Return whether a job that makes missing vectors waits or runs."""
        ...

    async def switch(self, scope: Scope, model: EmbeddingModel, *, after: int) -> bool:
        """Let this model serve a scope from now on, in one step that all readers see.

        If units above `after` lack a vector of it, nothing changes.
        """
        ...

    async def discard(self, model: EmbeddingModel, *, limit: int) -> int:
        """Remove some vectors of other models where this one serves; return how many."""
        ...
