"""Vectors of what is stored and of questions, or the reason why there are none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from recollect.domain.embedding import EmbeddingModel
from recollect.domain.job import NewJob
from recollect.domain.scope import Scope
from recollect.domain.unit import OwnerUnits
from recollect.ports.vectors import Vector


class EmbeddedUnits(Protocol):
    """Units with their vectors as far as there are any, and the work that is left for later."""

    @property
    def owners(self) -> tuple[OwnerUnits, ...]: ...

    @property
    def model(self) -> EmbeddingModel | None: ...

    @property
    def jobs(self) -> tuple[NewJob, ...]: ...


class AskedQuestion(Protocol):
    """A question as the vectors of some models, and what kept others away."""

    @property
    def vectors(self) -> Mapping[EmbeddingModel, Vector]: ...

    @property
    def problems(self) -> tuple[str, ...]: ...


class MeaningService(Protocol):
    """Makes vectors, and never stands in the way when there is no model."""

    @property
    def model(self) -> EmbeddingModel | None:
        """The model that the settings name."""
        ...

    @property
    def absence(self) -> str:
        """Why there are no vectors at the moment; empty when there are."""
        ...

    async def of_units(self, owners: Sequence[OwnerUnits]) -> EmbeddedUnits:
        """Return the same units with vectors; those that cannot be had now are left to a job."""
        ...

    async def ask(self, text: str, models: Collection[EmbeddingModel]) -> AskedQuestion:
        """Return a question as each of these models reads it."""
        ...

    def answering(self, scopes: Iterable[Scope]) -> tuple[EmbeddingModel, ...]:
        """Return the models that answer in these scopes, as far as is known."""
        ...

    def notice(self, scopes: Iterable[Scope], models: Collection[EmbeddingModel]) -> None:
        """Remember which model answers in these scopes."""
        ...
