"""What every model over ONNX shares: threads of its own, late loading, batches by length."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Generic, TypeVar, TypeVarTuple

from recollect.errors import Closed, NotAvailable
from recollect.models.batches import by_length
from recollect.models.onnx_session import first_line, session_errors
from recollect.models.tokenizer import Tokens

Engine = TypeVar("Engine")
Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")

# What a layer makes of so many tokens stays in a core's cache: 512 take 8 to 16 % longer each, on
# texts of any length. A question waits little, too, and a cancelled call stops soon.
_BATCH_TOKENS: Final = 192
_MOST_WORKERS: Final = 8


class OnnxModel(Generic[Engine]):
    """Loads its engine when the first text comes, and again after the engine failed."""

    def __init__(self, open_engine: Callable[[], Engine]) -> None:
        self._open_engine = open_engine
        self._workers = min(os.cpu_count() or 1, _MOST_WORKERS)
        # All that is read in bulk shares the cores; a question need not queue behind it.
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
                # The longest first, so that all lanes end at about the same time.
                batch = waiting.pop()
                take(batch, await self._in_thread(self._bulk, run, [texts[at] for at in batch]))

        try:
            await asyncio.gather(*(lane() for _ in range(self._workers)))
        finally:
            # Whoever failed or was cancelled wants no more of them.
            waiting.clear()

    def _attempt(
        self, work: Callable[[Engine], Result], failed: Callable[[str], NotAvailable]
    ) -> Result:
        """Work with the engine; one that fails is given up, and the next call loads another."""
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
