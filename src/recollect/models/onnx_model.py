"""The base of ONNX models: their own threads, lazy loading, batches by length."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Generic, TypeVar, TypeVarTuple

from recollect.errors import Closed, NotAvailable
from recollect.models.onnx_session import first_line, session_errors
from recollect.models.tokenizer import Tokens

Engine = TypeVar("Engine")
Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")

# The activations of a layer for this many tokens fit into a core's cache: with 512, each takes 8
# to 16 % longer. Questions also wait less, and a cancelled call stops sooner.
_BATCH_TOKENS: Final = 192
_MAX_WORKERS: Final = 8


class OnnxModel(Generic[Engine]):
    """A model that loads its engine with the first text, and again after a failure."""

    def __init__(self, open_engine: Callable[[], Engine]) -> None:
        self._open_engine = open_engine
        self._workers = min(os.cpu_count() or 1, _MAX_WORKERS)
        # Bulk work shares the cores, so that a question need not queue behind it.
        self._bulk = ThreadPoolExecutor(self._workers, "recollect-model")
        self._questions = ThreadPoolExecutor(self._workers, "recollect-model")
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._is_closed = False

    async def close(self) -> None:
        self._is_closed = True
        for threads in (self._bulk, self._questions):
            threads.shutdown(wait=False, cancel_futures=True)
        self._engine = None

    def _in_thread(
        self,
        threads: ThreadPoolExecutor,
        work: Callable[[*Arguments], Result],
        *arguments: *Arguments,
    ) -> asyncio.Future[Result]:
        if self._is_closed:
            raise Closed("The model was closed")
        return asyncio.get_running_loop().run_in_executor(threads, work, *arguments)

    async def _in_batches(
        self,
        texts: Sequence[Tokens],
        run: Callable[[list[Tokens]], Result],
        take: Callable[[list[int], Result], None],
    ) -> None:
        """Run all texts, a few batches side by side; a result comes with its texts' positions."""
        waiting = by_length([len(text) for text in texts], _BATCH_TOKENS, self._workers)

        async def lane() -> None:
            while waiting:
                # The longest first, so that all lanes finish at about the same time.
                batch = waiting.pop()
                take(batch, await self._in_thread(self._bulk, run, [texts[at] for at in batch]))

        try:
            await asyncio.gather(*(lane() for _ in range(self._workers)))
        finally:
            # After a failure or cancellation the rest is not needed.
            waiting.clear()

    def _attempt(
        self, work: Callable[[Engine], Result], failed: Callable[[str], NotAvailable]
    ) -> Result:
        """Run work with the engine; if it fails, drop the engine, so that the next call reloads."""
        engine = self._loaded()
        try:
            return work(engine)
        except session_errors() as problem:
            self._forget(engine)
            raise failed(first_line(problem)) from None

    def _loaded(self) -> Engine:
        with self._lock:
            if self._engine is None:
                self._engine = self._open_engine()
            return self._engine

    def _forget(self, engine: Engine) -> None:
        with self._lock:
            if self._engine is engine:
                self._engine = None


# --- Batches of texts for a model -----------------------------------------------------------------


# A batch of fewer tokens is not worth splitting, because each run of the model has a fixed cost.
# With many batches, an uneven last one matters little.
_MIN_SPLIT_TOKENS: Final = 64
_MANY_BATCHES: Final = 3


def by_length(lengths: Sequence[int], budget: int, lanes: int = 1) -> list[list[int]]:
    """Return batches of indexes, shortest texts first, each within `budget` when padded.

    A batch is padded to its longest text, so texts of similar length waste least. A text over the
    budget gets its own batch. A small amount of work is split evenly between the parallel lanes,
    so that they do not wait for the one with the last batch.
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    filled = _batches(order, lengths, budget, sum(lengths))
    if lanes == 1 or len(filled) >= _MANY_BATCHES * lanes or sum(lengths) < _MIN_SPLIT_TOKENS:
        return filled
    wanted = -(-len(filled) // lanes) * lanes
    return _batches(order, lengths, budget, sum(lengths) / wanted)


def _batches(
    order: Sequence[int], lengths: Sequence[int], budget: int, share: float
) -> list[list[int]]:
    """Return batches in this order, within the budget and of about `share` tokens each."""
    batches: list[list[int]] = []
    batch: list[int] = []
    taken = 0
    for position in order:
        length = lengths[position]
        is_full = (len(batch) + 1) * length > budget
        if batch and (is_full or taken + length / 2 > share * (len(batches) + 1)):
            batches.append(batch)
            batch = []
        batch.append(position)
        taken += length
    if batch:
        batches.append(batch)
    return batches
