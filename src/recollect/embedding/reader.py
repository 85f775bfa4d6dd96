"""One embedding model in use; after a failure it is not called for a while."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from datetime import datetime, timedelta
from itertools import accumulate, pairwise
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from recollect.domain.copies import copy_with
from recollect.domain.embedding import Calibration, EmbeddingModel
from recollect.domain.unit import OwnerUnits, Unit
from recollect.errors import NotAvailable, RecollectError
from recollect.ports.embedder import CachingEmbedder, Embedder
from recollect.ports.runtime import Clock
from recollect.ports.units import Vector

# The pause after a failure: a dead endpoint must not slow down every call.
REST: Final = timedelta(seconds=30)

_log = logging.getLogger(__name__)
Made = TypeVar("Made")


class Reader:
    """An embedder that returns nothing instead of raising, and says why."""

    def __init__(
        self,
        embedder: Embedder,
        clock: Clock,
        choice: str = "",
        patience: float | None = None,
    ) -> None:
        """`patience` is how many seconds a write waits for vectors; None = until they come."""
        self.model = EmbeddingModel(
            name=embedder.model, dimension=embedder.dimension, choice=choice
        )
        self._embedder = embedder
        self._remembers = embedder if isinstance(embedder, CachingEmbedder) else None
        self._clock = clock
        self._absence = ""
        self._rests_until: datetime | None = None
        self._patience = patience
        self._late: set[asyncio.Task[Any]] = set()

    @property
    def absence(self) -> str:
        """Return why there are no vectors at the moment; empty when there are."""
        if self._rests_until is not None and self._clock.now() >= self._rests_until:
            self._rests_until, self._absence = None, ""
        return self._absence

    @property
    def calibration(self) -> Calibration:
        """Return the calibration of the model's cosines."""
        return self._embedder.calibration

    def reads(self, text: str) -> bool:
        """Return whether the model knows the text's language."""
        return self._embedder.reads(text)

    def knows(self, text: str) -> bool:
        """Return whether the vector of this question is cached."""
        return self._remembers is not None and self._remembers.knows(text, "query")

    async def question(self, text: str) -> Vector | None:
        """Return the vector of a question, or None if it is unavailable."""
        if self.absence:
            return None
        asking = self._question(text)
        if self.knows(text):
            return await asking
        # Whoever does not wait for it any more finds it in the cache the next time.
        return await asyncio.shield(asking)

    async def passages(self, texts: Sequence[str]) -> NDArray[np.float32] | None:
        """Return a row per text, zeros where it cannot be read; None if unavailable."""
        if self.absence:
            return None
        readable = [place for place, text in enumerate(texts) if self.reads(text)]
        rows = np.zeros((len(texts), self.model.dimension), np.float32)
        if readable:
            try:
                rows[readable] = await self._in_time(
                    self._embedder.embed([texts[place] for place in readable], "passage")
                )
            except RecollectError as failure:
                self._rest(failure)
                return None
        return rows

    async def units(self, owners: Sequence[OwnerUnits]) -> tuple[OwnerUnits, ...] | None:
        """Return the units with vectors, or None if they are unavailable."""
        if self.absence:
            return None
        try:
            return await self._in_time(self.filled(owners))
        except RecollectError as failure:
            self._rest(failure)
            return None

    async def filled(self, owners: Sequence[OwnerUnits]) -> tuple[OwnerUnits, ...]:
        """Return the units with vectors; raise an error if they are unavailable."""
        read = [self._readable_pieces(owner) for owner in owners]
        texts = [piece.text for pieces in read for piece in pieces]
        if not texts:
            return tuple(owners)
        rows = await self._embedder.embed(texts, "passage")
        stored = rows.astype("<f2")
        ends = accumulate(map(len, read), initial=0)
        return tuple(
            _with_vectors(owner, pieces, rows[start:end], stored[start:end])
            for owner, pieces, (start, end) in zip(owners, read, pairwise(ends), strict=True)
        )

    async def close(self) -> None:
        """Close the embedder, and stop waiting for what is late."""
        self.stop()
        await self._embedder.close()

    def stop(self) -> None:
        """Stop waiting for vectors that are late; a job makes them."""
        for task in self._late:
            task.cancel()

    async def _in_time(self, work: Coroutine[Any, Any, Made]) -> Made:
        """Return the result, or raise an error after the patience of a write.

        The work goes on meanwhile; once it succeeds, the model is called again.
        """
        if self._patience is None:
            return await work
        task = asyncio.create_task(work)
        self._late.add(task)
        task.add_done_callback(self._late.discard)
        try:
            await asyncio.wait({task}, timeout=self._patience)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if task.done():
            return task.result()
        task.add_done_callback(self._note_late)
        raise NotAvailable(
            f"{self.model.name} did not answer within {self._patience:g} s",
            code="embedding_slow",
            hint="What is saved gets its vectors later; embedding.patience sets the time.",
        )

    def _note_late(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled() and task.exception() is None:
            self._rests_until, self._absence = None, ""

    async def _question(self, text: str) -> Vector | None:
        try:
            return (await self._embedder.embed([text], "query"))[0]
        except RecollectError as failure:
            self._rest(failure)
            return None

    def _readable_pieces(self, owner: OwnerUnits) -> tuple[Unit, ...]:
        """Return what is embedded of an owner: its passages, or the whole if it has none."""
        # A vector of a text that the model cannot read is noise.
        return tuple(unit for unit in owner.pieces if self.reads(unit.text))

    def _rest(self, failure: RecollectError) -> None:
        self._absence = f"the embedding model failed: {failure}"
        self._rests_until = self._clock.now() + REST
        _log.warning("%s; it is left alone for %s", self._absence, REST)


def _with_vectors(
    owner: OwnerUnits,
    embedded: Sequence[Unit],
    rows: NDArray[np.float32],
    stored: NDArray[np.float16],
) -> OwnerUnits:
    """Return the owner with the vectors on its pieces, and their mean on the whole."""
    if not embedded:
        return owner
    if len(owner.units) == 1:
        return copy_with(owner, units=(copy_with(embedded[0], vector=stored[0].tobytes()),))
    vectors = {
        piece.ordinal: vector.tobytes() for piece, vector in zip(embedded, stored, strict=True)
    }
    if 0 not in vectors:
        mean = rows.mean(axis=0).astype(np.float32)
        whole = np.divide(mean, max(float(np.linalg.norm(mean)), 1e-9))
        vectors[0] = whole.astype("<f2").tobytes()
    units = (
        copy_with(unit, vector=vectors[unit.ordinal]) if unit.ordinal in vectors else unit
        for unit in owner.units
    )
    return copy_with(owner, units=tuple(units))
