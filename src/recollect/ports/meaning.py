"""Vectors of units and of questions, or the reason why there are none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from recollect.domain.embedding import EmbeddingModel
from recollect.domain.job import NewJob
from recollect.domain.scope import Scope
from recollect.domain.unit import OwnerUnits
from recollect.ports.vectors import Vector


class EmbeddedUnits(Protocol):
    """Units with the vectors that are available, and the jobs that make the others."""

    @property
    def owners(self) -> tuple[OwnerUnits, ...]: ...

    @property
    def model(self) -> EmbeddingModel | None: ...

    @property
    def jobs(self) -> tuple[NewJob, ...]: ...


class AskedQuestion(Protocol):
    """The vectors of a question by model, and why some are missing."""

    @property
    def vectors(self) -> Mapping[EmbeddingModel, Vector]: ...

    @property
    def problems(self) -> tuple[str, ...]: ...


class MeaningService(Protocol):
    """Makes vectors; without a model, everything still works by words."""

    @property
    def model(self) -> EmbeddingModel | None:
        """Return the model that the settings name."""
        ...

    @property
    def absence(self) -> str:
        """Return why there are no vectors at the moment; empty if there are."""
        ...

    async def of_units(self, owners: Sequence[OwnerUnits]) -> EmbeddedUnits:
        """Return the units with vectors; those that cannot be made now are left to a job."""
        ...

    async def ask(self, text: str, models: Collection[EmbeddingModel]) -> AskedQuestion:
        """Return the vectors of a question by each of these models."""
        ...

    def answering(self, scopes: Iterable[Scope]) -> tuple[EmbeddingModel, ...]:
        """Return the models that serve these scopes, as far as is known."""
        ...

    def notice(self, scopes: Iterable[Scope], models: Collection[EmbeddingModel]) -> None:
        """Remember which model serves these scopes."""
        ...
