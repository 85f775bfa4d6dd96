"""Which model's vectors answer in which scope, and the units that lack one.

For an operator or a background job, across all scopes. Never reachable from a caller's scope.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from recollect.domain.archive import Archive
from recollect.domain.document import Document
from recollect.domain.embedding import EmbeddingModel
from recollect.domain.record import Record
from recollect.domain.scope import Scope
from recollect.domain.turn import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainUnit:
    """A unit that lacks a vector, with its place among its owner's units.

    It has no owner while that is being removed.
    """

    unit: int
    ordinal: int
    owner: Record | Turn | Archive | Document | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """How much a model answers for; without a model, how much has no vectors at all."""

    model: EmbeddingModel | None
    scopes: int
    units: int


class Serving(Protocol):
    """The book of which model answers where."""

    async def served(self) -> list[Served]:
        """How much each model answers for; scopes without units are left out."""
        ...

    async def coming(self) -> str:
        """The model that is to answer everywhere, as settings name it, while work on that waits
        or goes on; empty when there is none."""
        ...

    async def others(self, model: EmbeddingModel, *, limit: int) -> list[Scope]:
        """Some scopes with units or vectors in which this model does not answer."""
        ...

    async def answered_by(self, model: EmbeddingModel, *, limit: int) -> list[Scope]:
        """Return some scopes in which this model answers."""
        ...

    async def claim(self, model: EmbeddingModel) -> None:
        """Let this model answer wherever there are units and none answers yet."""
        ...

    async def lacking(
        self, model: EmbeddingModel, *, after: int, limit: int, scope: Scope | None = None
    ) -> list[PlainUnit]:
        """Units without a vector of this model, by number, from the first above `after`: of one
        scope, or of all in which the model answers.

        About `limit` of them, for an owner's units come together.
        """
        ...

    async def count_lacking(self, model: EmbeddingModel, *, everywhere: bool = False) -> int:
        """How many units lack a vector of this model where it answers, or anywhere."""
        ...

    async def switch(self, scope: Scope, model: EmbeddingModel, *, after: int) -> bool:
        """Let this model answer in a scope from now on, in one step that all its readers see.

        Not if there are units above `after` that lack a vector of it: then nothing changes.
        """
        ...

    async def discard(self, model: EmbeddingModel, *, limit: int) -> int:
        """Remove some vectors that other models made where this one answers; how many."""
        ...
