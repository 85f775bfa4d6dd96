"""The base of ONNX models: sessions, tokens, threads of their own and lazy loading."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar, TypeVarTuple

import numpy as np
from numpy.typing import NDArray

from recollect.domain.free_memory import give_back
from recollect.errors import Closed, NotAvailable
from recollect.models.faults import ModelDamaged, missing_library
from recollect.models.quiet_libraries import import_quietly
from recollect.models.wordpiece import wordpiece_of
from recollect.ports.runtime import give_way

# --- A small interface to onnxruntime, with its errors translated into ours -----------------------

_PLAIN_ERRORS: Final = (RuntimeError, ValueError, MemoryError, OSError)


class Port(Protocol):
    """An input or output of a graph."""

    @property
    def name(self) -> str: ...
    @property
    def shape(self) -> Sequence[str | int | None]: ...


class Session(Protocol):
    """The part of an onnxruntime session that we use."""

    def get_inputs(self) -> Sequence[Port]: ...
    def get_outputs(self) -> Sequence[Port]: ...
    def run(
        self, output_names: Sequence[str] | None, input_feed: Mapping[str, NDArray[Any]]
    ) -> Sequence[Any]: ...


def open_session(graph: bytes | Path, threads: int = 1) -> Session:
    """Open a session that computes on the calling thread, unless it gets more threads.

    Batches run in parallel instead of splitting each over threads, which would wait for each other
    as soon as another program takes a core.
    """
    try:
        onnxruntime: Any = import_quietly("onnxruntime")
    except ImportError:
        raise missing_library("onnxruntime") from None
    options: Any = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    # Spinning threads would keep a core busy that others could use.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.inter_op_num_threads = 1
    _share_arena(onnxruntime)
    options.add_session_config_entry("session.use_env_allocators", "1")
    options.log_severity_level = 3  # errors come as exceptions; warnings would go to stderr
    source = graph if isinstance(graph, bytes) else str(graph)
    try:
        session: Any = onnxruntime.InferenceSession(
            source, options, providers=["CPUExecutionProvider"]
        )
    except session_errors() as problem:
        raise ModelDamaged(f"The model cannot be opened: {first_line(problem)}") from None
    # The library holds the file for a change of providers, of which there is only one.
    session._model_bytes = None
    give_back()
    return session


@cache
def _share_arena(onnxruntime: Any) -> None:
    """Let all sessions use the same memory, which each would keep for its largest batch."""
    kinds, uses = onnxruntime.OrtAllocatorType, onnxruntime.OrtMemType
    plain = onnxruntime.OrtMemoryInfo("Cpu", kinds.ORT_ARENA_ALLOCATOR, 0, uses.DEFAULT)
    # Another part of the program may have done the same before.
    with contextlib.suppress(*session_errors()):
        onnxruntime.create_and_register_allocator(plain, None)


@cache
def session_errors() -> tuple[type[Exception], ...]:
    """Return the errors that a session raises; their only common base is Exception."""
    try:
        runtime = import_quietly("onnxruntime.capi.onnxruntime_pybind11_state")
    except ImportError:
        return _PLAIN_ERRORS
    things: Iterable[object] = vars(runtime).values()
    own = (kind for kind in things if isinstance(kind, type) and issubclass(kind, Exception))
    return (*_PLAIN_ERRORS, *own)


def first_line(problem: Exception) -> str:
    return str(problem).partition("\n")[0][:300] or type(problem).__name__


# --- Tokens and batches of tokens for ONNX models -------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tokens:
    """The token numbers of a text, or of two texts after each other."""

    ids: NDArray[np.int64]
    # 0 for each token of the first text, 1 for the second.
    types: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ids)


class Tokenizer:
    """A tokenizer.json that truncates at the maximum length of the model."""

    def __init__(self, data: bytes, longest: int) -> None:
        self._tokenizer = _opened(data)
        # The padding and truncation in the file were another program's choice.
        self._tokenizer.no_padding()
        # Of two texts, the longer one is truncated.
        self._tokenizer.enable_truncation(longest)

    def read(self, text: str, second: str | None = None) -> Tokens:
        read = self._tokenizer.encode(text, second)
        # Without special tokens an empty text has no token, so it gets the first one.
        return Tokens(np.array(read.ids or [0], np.int64), np.array(read.type_ids or [0], np.int64))

    def pieces(self, text: str) -> list[int]:
        """Return the tokens of a text alone, without the marks that open and close it."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids


def padded(texts: Sequence[Tokens]) -> dict[str, NDArray[np.int64]]:
    """Return the inputs of a model for a batch, padded to the longest text."""
    ids = np.zeros((len(texts), max(map(len, texts))), np.int64)
    mask = np.zeros_like(ids)
    types = np.zeros_like(ids)
    for row, text in enumerate(texts):
        ids[row, : len(text)] = text.ids
        mask[row, : len(text)] = 1
        types[row, : len(text)] = text.types
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}


def _opened(data: bytes) -> Any:
    own = wordpiece_of(data)
    if own is not None:
        return own
    try:
        from tokenizers import Tokenizer as FromLibrary
    except ImportError:
        raise missing_library("tokenizers", "folder") from None
    try:
        return FromLibrary.from_str(data.decode("utf-8"))
    except Exception as problem:  # noqa: BLE001 (the library raises nothing narrower)
        raise ModelDamaged(f"tokenizer.json cannot be read: {problem}") from None


# --- Text that every library accepts --------------------------------------------------------------


def readable(text: str) -> str:
    """Return the text with a question mark for each lone surrogate, which cannot be encoded."""
    return text.encode("utf-8", "replace").decode("utf-8")


# --- The base of ONNX models: their own threads, lazy loading, batches by length ------------------

Engine = TypeVar("Engine")
Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")

# The activations of a layer for this many tokens fit into a core's cache: with 512, each takes 8
# to 16 % longer. Questions also wait less, and a cancelled call stops sooner.
_BATCH_TOKENS: Final = 192
WORKERS: Final = min(os.cpu_count() or 1, 8)


@cache
def question_threads() -> ThreadPoolExecutor:
    """Return the threads in which all models read what somebody waits for: one for each core."""
    return ThreadPoolExecutor(WORKERS, "recollect-model")


class OnnxModel(Generic[Engine]):
    """A model that loads its engine with the first text, and again after a failure."""

    def __init__(self, open_engine: Callable[[], Engine]) -> None:
        self._open_engine = open_engine
        # Bulk work shares the cores, so that a question need not queue behind it.
        self._bulk = ThreadPoolExecutor(WORKERS, "recollect-model")
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._is_closed = False

    async def close(self) -> None:
        self._is_closed = True
        self._bulk.shutdown(wait=False, cancel_futures=True)
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
        waiting = by_length([len(text) for text in texts], _BATCH_TOKENS, WORKERS)

        async def lane() -> None:
            while waiting:
                # The longest first, so that all lanes finish at about the same time.
                batch = waiting.pop()
                began = time.monotonic()
                take(batch, await self._in_thread(self._bulk, run, [texts[at] for at in batch]))
                await give_way(time.monotonic() - began)

        try:
            await asyncio.gather(*(lane() for _ in range(WORKERS)))
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
