"""Turning text into vectors without ever standing in the way.

When there is no model, or it fails, saving and recalling go on without vectors and say so; what
was saved meanwhile gets its vectors from a background job.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

import numpy as np

from recollect.domain.embedding import EmbeddingModel
from recollect.domain.job import NewJob
from recollect.domain.unit import OwnerUnits, Unit
from recollect.errors import RecollectError
from recollect.ports.clock import Clock
from recollect.ports.embedder import Embedder
from recollect.ports.vectors import Vector

EMBED: Final = "embed"
# After a failure the model is left alone for so long: a dead endpoint must not slow every call.
_REST: Final = timedelta(seconds=30)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """Units with their vectors as far as there are any, and the work that is left for later."""

    owners: tuple[OwnerUnits, ...]
    model: EmbeddingModel | None = None
    jobs: tuple[NewJob, ...] = ()


class Meaning:
    """The embedder, if there is one, and why there is none at the moment."""

    def __init__(
        self,
        embedder: Embedder | None,
        clock: Clock,
        *,
        absence: str = "",
        closing: Embedder | None = None,
    ) -> None:
        self._embedder = embedder
        self._closing = closing
        self._clock = clock
        self._absence = absence
        self._rests_until: datetime | None = None

    @property
    def model(self) -> EmbeddingModel | None:
        """The model that makes vectors now."""
        if self._embedder is None:
            return None
        return EmbeddingModel(name=self._embedder.model, dimension=self._embedder.dimension)

    @property
    def absence(self) -> str:
        """Why there are no vectors at the moment; empty when there are."""
        if self._rests_until is not None and self._clock.now() >= self._rests_until:
            self._rests_until, self._absence = None, ""
        return self._absence

    def trust(self, text: str) -> float:
        """How much a vector of this text means, from 0 to 1."""
        return 0.0 if self._embedder is None else self._embedder.trust(text)

    async def of_question(self, text: str) -> Vector | None:
        """The vector of a question; None when it cannot be had."""
        if self._embedder is None or self.absence:
            return None
        try:
            return (await self._embedder.embed([text], "query"))[0]
        except RecollectError as failure:
            self._rest(failure)
            return None

    async def of_units(self, owners: Sequence[OwnerUnits]) -> Embedded:
        """The same units with vectors; those that cannot be had now are left to a job."""
        if not any(owner.units for owner in owners) or self._embedder is None:
            return Embedded(owners=tuple(owners))
        later = Embedded(owners=tuple(owners), jobs=(NewJob(kind=EMBED, key="missing"),))
        if self.absence:
            return later
        try:
            return Embedded(owners=await self.filled(owners), model=self.model)
        except RecollectError as failure:
            self._rest(failure)
            return later

    async def filled(self, owners: Sequence[OwnerUnits]) -> tuple[OwnerUnits, ...]:
        """The same units with vectors, or an error."""
        pieces = [piece for owner in owners for piece in self._readable(owner)]
        if self._embedder is None or not pieces:
            return tuple(owners)
        vectors = await self._embedder.embed([piece.text for piece in pieces], "passage")
        rows = iter(vectors)
        return tuple(_with_vectors(owner, self._readable(owner), rows) for owner in owners)

    def _readable(self, owner: OwnerUnits) -> tuple[Unit, ...]:
        """What is embedded of an owner: its passages, or all of it when it has none."""
        # A vector of a text the model cannot read is noise, so it gets none.
        return tuple(unit for unit in owner.pieces if self.trust(unit.text) > 0)

    async def close(self) -> None:
        """Close the embedder that was opened for this memory."""
        if self._closing is not None:
            await self._closing.close()

    def _rest(self, failure: RecollectError) -> None:
        self._absence = f"the embedding model failed: {failure}"
        self._rests_until = self._clock.now() + _REST
        _log.warning("%s; it is left alone for %s", self._absence, _REST)


def _with_vectors(
    owner: OwnerUnits, embedded: Sequence[Unit], rows: Iterator[Vector]
) -> OwnerUnits:
    """The owner with the next vectors on its pieces and, for the whole, their mean."""
    vectors = {piece.ordinal: next(rows) for piece in embedded}
    if vectors and 0 not in vectors:
        mean = np.stack(list(vectors.values())).mean(axis=0).astype(np.float32)
        vectors[0] = np.divide(mean, max(float(np.linalg.norm(mean)), 1e-9))
    units = (
        replace(unit, vector=vectors[unit.ordinal].astype("<f2").tobytes())
        if unit.ordinal in vectors
        else unit
        for unit in owner.units
    )
    return replace(owner, units=tuple(units))
