"""Embedding of texts and questions that never blocks saving or recalling.

Without a model, or if it fails, saving and recalling go on without vectors and report it; a
background job adds the vectors later. A scope is searched with the model that made its vectors
until it is reindexed, so a memory may open more models than its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recollect.domain.embedding import EmbeddingModel, MemoryCalibration
from recollect.domain.embedding_jobs import MISSING_VECTORS
from recollect.domain.job import NewJob
from recollect.domain.scope import Scope
from recollect.domain.unit import OwnerUnits
from recollect.embedding.reader import REST, Reader
from recollect.errors import NotAvailable, RecollectError
from recollect.ports.embedder import Embedder
from recollect.ports.runtime import Clock
from recollect.ports.units import Vector

# Opens the embedder for a value of the setting; may take long, and raises an error with the reason.
Opener = Callable[[str], Embedder]
# Returns how many seconds a write waits for the model of a setting; None = until it answers.
Patience = Callable[[str], float | None]
_MAX_NOTICED_SCOPES: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """Units with the vectors that could be made, and the jobs for the others."""

    owners: tuple[OwnerUnits, ...]
    model: EmbeddingModel | None = None
    jobs: tuple[NewJob, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question as vectors of several models, with the problems of those that failed."""

    vectors: Mapping[EmbeddingModel, Vector]
    problems: tuple[str, ...] = ()


class EmbeddingService:
    """The configured embedder, if there is one, and those that other scopes need."""

    def __init__(
        self,
        embedder: Embedder | None,
        clock: Clock,
        *,
        absence: str = "",
        choice: str = "",
        closing: Embedder | None = None,
        opener: Opener | None = None,
        patience: Patience = lambda _: None,
    ) -> None:
        self._patience = patience
        own = patience(choice)
        self._own = None if embedder is None else Reader(embedder, clock, choice, own)
        self._clock = clock
        self._absence = absence
        self._closing = [] if closing is None else [closing]
        self._opener = opener
        self._opening = asyncio.Lock()
        self._readers = {} if self._own is None else {self._own.model: self._own}
        self._refused: dict[EmbeddingModel, tuple[datetime, str]] = {}
        # The scopes whose vectors come from another model than the configured one.
        self._elsewhere: dict[Scope, EmbeddingModel] = {}

    @property
    def model(self) -> EmbeddingModel | None:
        """Return the configured model, or the one that the caller passed in."""
        return None if self._own is None else self._own.model

    @property
    def absence(self) -> str:
        """Return why there are no vectors at the moment; empty when there are."""
        return self._absence if self._own is None else self._own.absence

    @property
    def calibration(self) -> MemoryCalibration:
        """Return the calibration of the configured model."""
        return MemoryCalibration() if self._own is None else self._own.calibration.memory

    def waits(self, text: str, scopes: Iterable[Scope]) -> bool:
        """Return whether a model of these scopes has yet to embed this question."""
        readers = map(self._readers.get, self.answering(scopes))
        return any(reader is None or not reader.knows(text) for reader in readers)

    async def ask(self, text: str, models: Collection[EmbeddingModel]) -> Asked:
        """Embed a question with each of these models."""
        vectors: dict[EmbeddingModel, Vector] = {}
        problems: list[str] = []
        for model in models:
            reader = await self.reader(model)
            if reader is None:
                problems.append(self._refusal(model))
            elif reader.reads(text):
                vector = await reader.question(text)
                if vector is None:
                    problems.append(reader.absence)
                else:
                    vectors[model] = vector
        return Asked(vectors=vectors, problems=tuple(problems))

    async def of_units(self, owners: Sequence[OwnerUnits]) -> Embedded:
        """Return the units with vectors; a job makes those that are not available now."""
        if not any(owner.units for owner in owners) or self._own is None:
            return Embedded(owners=tuple(owners))
        models = self.answering({owner.scope for owner in owners})
        # One write has vectors of one model only; the store drops those that do not fit a scope.
        reader = self._readers[models[0]] if len(models) == 1 else self._own
        embedded = await reader.units(owners)
        if embedded is None:
            return Embedded(owners=tuple(owners), jobs=(MISSING_VECTORS,))
        return Embedded(owners=embedded, model=reader.model)

    async def of_texts(self, texts: Sequence[str]) -> NDArray[np.float32] | None:
        """Return one row of the configured model for each text, or None if it is unavailable."""
        return None if self._own is None else await self._own.passages(texts)

    def answering(self, scopes: Iterable[Scope]) -> tuple[EmbeddingModel, ...]:
        """Return the models that serve these scopes, as far as is known."""
        if self._own is None:
            return ()
        if not self._elsewhere:
            return (self._own.model,)
        own = self._own.model
        return tuple({self._elsewhere.get(scope, own): None for scope in scopes})

    def notice(self, scopes: Iterable[Scope], models: Collection[EmbeddingModel]) -> None:
        """Remember which model serves these scopes, if there is exactly one and it is open."""
        known = [model for model in models if model in self._readers]
        if len(models) != 1 or not known or (known[0] == self.model and not self._elsewhere):
            return
        for scope in scopes:
            if known[0] == self.model:
                self._elsewhere.pop(scope, None)
            elif len(self._elsewhere) < _MAX_NOTICED_SCOPES:
                self._elsewhere[scope] = known[0]

    async def reader(self, model: EmbeddingModel) -> Reader | None:
        """Return the reader for this model, opening it if necessary; None if that fails."""
        known = self._readers.get(model)
        if known is not None or self._own is None:
            return known
        tried = self._refused.get(model)
        if tried is not None and self._clock.now() < tried[0] + REST:
            return None
        try:
            opened = await self.open(model.choice)
        except RecollectError as problem:
            self._refused[model] = (self._clock.now(), problem.message)
            return None
        if opened.model != model:
            self._refused[model] = (self._clock.now(), f"{model.choice} is another model now")
            return None
        return opened

    async def open(self, choice: str) -> Reader:
        """Return the reader for this value of the setting; raise an error if it is unavailable."""
        async with self._opening:
            for reader in self._readers.values():
                if choice and reader.model.choice == choice:
                    return reader
            if not choice or self._opener is None:
                raise NotAvailable(
                    "this model can be opened only by the program that passed it in",
                    code="embedder_unusable",
                )
            embedder = await asyncio.to_thread(self._opener, choice)
            self._closing.append(embedder)
            reader = Reader(embedder, self._clock, choice, self._patience(choice))
            return self._readers.setdefault(reader.model, reader)

    async def close(self) -> None:
        """Close the embedders that were opened for this memory."""
        for reader in self._readers.values():
            reader.stop()
        for embedder in self._closing:
            await embedder.close()

    def _refusal(self, model: EmbeddingModel) -> str:
        """Explain why a model cannot embed the question."""
        _, why = self._refused[model]
        own = "" if self.model is None else f" those of {self.model.name}"
        return (
            f"the vectors of this scope are from {model.name}, which is not available: {why}; "
            f"`recollect reindex` makes{own}"
        )
