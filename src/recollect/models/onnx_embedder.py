"""An embedder over an ONNX model and its tokenizer, loaded when the first text comes."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, TypeVarTuple

import numpy as np
from numpy.typing import NDArray

from recollect.errors import Closed
from recollect.models.batches import by_length
from recollect.models.faults import EmbeddingFailed, ModelDamaged, missing_library
from recollect.models.onnx_session import Session, first_line, open_session, session_errors
from recollect.models.readable import readable
from recollect.models.vectors import Vectors, unit_rows
from recollect.ports.embedder import Progress, Purpose
from recollect.text.language import Language, language

Pooling = Literal["mean", "cls"]
Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")

# Small enough that a question waits little and a cancelled call stops soon; larger is not faster.
_BATCH_TOKENS: Final = 512
# Texts that are sorted by length together.
_WINDOW: Final = 2_048
_MOST_WORKERS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFiles:
    """What a model is loaded from; a graph too large for memory twice is given as a path."""

    graph: bytes | Path
    tokenizer: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTraits:
    """What must be known of a model before it is loaded."""

    name: str
    dimension: int
    longest: int
    pooling: Pooling = "mean"
    query_prefix: str = ""
    passage_prefix: str = ""
    languages: frozenset[Language] | None = None  # None: any


class OnnxEmbedder:
    """Runs batches of texts side by side on a few threads of its own."""

    def __init__(
        self,
        traits: ModelTraits,
        load: Callable[[], ModelFiles],
        *,
        translate: Callable[[str], str] = str,
        notes: Callable[[], tuple[str, ...]] = tuple,
        open_session: Callable[[bytes | Path], Session] = open_session,
    ) -> None:
        self._traits = traits
        self._load = load
        self._translate = translate
        self._notes = notes
        self._open_session = open_session
        self._workers = min(os.cpu_count() or 1, _MOST_WORKERS)
        # One thread more than one call uses, so that a question need not queue behind an import.
        self._threads = ThreadPoolExecutor(self._workers + 1, "recollect-embedder")
        self._lock = threading.Lock()
        self._engine: _Engine | None = None
        self._is_closed = False

    @property
    def model(self) -> str:
        return self._traits.name

    @property
    def dimension(self) -> int:
        return self._traits.dimension

    def understands(self, text: str) -> bool:
        languages = self._traits.languages
        return languages is None or language(text) in languages

    async def embed(
        self, texts: Sequence[str], purpose: Purpose, progress: Progress | None = None
    ) -> Vectors:
        vectors = np.empty((len(texts), self.dimension), np.float32)
        done = 0
        for start in range(0, len(texts), _WINDOW):
            window = texts[start : start + _WINDOW]
            tokens = await self._in_thread(self._tokens, window, purpose)
            batches = by_length([len(text) for text in tokens], _BATCH_TOKENS)
            for first in range(0, len(batches), self._workers):
                together = batches[first : first + self._workers]
                results = await asyncio.gather(
                    *(
                        self._in_thread(self._run, [tokens[at] for at in batch])
                        for batch in together
                    )
                )
                for batch, rows in zip(together, results, strict=True):
                    vectors[[start + at for at in batch]] = rows
                    done += len(batch)
                if progress is not None:
                    progress(done, len(texts))
        return vectors

    def notes(self) -> tuple[str, ...]:
        return self._notes()

    async def close(self) -> None:
        self._is_closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._engine = None

    def _in_thread(
        self, work: Callable[[*Arguments], Result], *arguments: *Arguments
    ) -> asyncio.Future[Result]:
        if self._is_closed:
            raise Closed("The embedder was closed")
        return asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)

    def _tokens(self, texts: Sequence[str], purpose: Purpose) -> list[NDArray[np.int64]]:
        traits = self._traits
        prefix = traits.query_prefix if purpose == "query" else traits.passage_prefix
        read = (self._translate(readable(text)) for text in texts)
        return [self._loaded().tokens(prefix + text) for text in read]

    def _run(self, tokens: list[NDArray[np.int64]]) -> Vectors:
        engine = self._loaded()
        try:
            raw = engine.vectors(tokens)
        except session_errors() as problem:
            self._forget(engine)
            raise EmbeddingFailed(
                f"{self.model} failed on {len(tokens)} texts: {first_line(problem)}",
                hint="The next call loads it again; `recollect models check` tells more.",
            ) from None
        return unit_rows(raw, count=len(tokens), dimension=self.dimension, model=self.model)

    def _loaded(self) -> _Engine:
        with self._lock:
            if self._engine is None:
                files = self._load()
                self._engine = _Engine(self._traits, files, self._open_session(files.graph))
            return self._engine

    def _forget(self, engine: _Engine) -> None:
        with self._lock:
            if self._engine is engine:
                self._engine = None


class _Engine:
    """A session with its tokenizer: tokens in, pooled vectors out."""

    def __init__(self, traits: ModelTraits, files: ModelFiles, session: Session) -> None:
        self._pooling = traits.pooling
        self._session = session
        self._inputs = {port.name for port in session.get_inputs()}
        self._tokenizer = _open_tokenizer(files.tokenizer, traits.longest)
        self._output = _best_output(session)

    def tokens(self, text: str) -> NDArray[np.int64]:
        # Where no mark opens a text, an empty one has no token; it stands as the first of all.
        return np.array(self._tokenizer.encode(text).ids or [0], np.int64)

    def vectors(self, tokens: Sequence[NDArray[np.int64]]) -> Vectors:
        ids = np.zeros((len(tokens), max(map(len, tokens))), np.int64)
        mask = np.zeros_like(ids)
        for row, text in enumerate(tokens):
            ids[row, : len(text)] = text
            mask[row, : len(text)] = 1
        feed: Mapping[str, NDArray[np.int64]] = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(ids),
        }
        wanted = {name: array for name, array in feed.items() if name in self._inputs}
        (raw,) = self._session.run([self._output], wanted)
        states = np.asarray(raw, np.float32)
        if states.ndim == 2:
            return states  # the graph pools by itself
        if self._pooling == "cls":
            return states[:, 0]
        shares = (mask / mask.sum(axis=1, keepdims=True)).astype(np.float32)
        return np.einsum("bt,bth->bh", shares, states)


def _best_output(session: Session) -> str:
    """A pooled output if the graph has one, otherwise the states of the tokens."""
    outputs = session.get_outputs()
    pooled = [port.name for port in outputs if port.name == "sentence_embedding"]
    return (pooled or [outputs[0].name])[0]


def _open_tokenizer(data: bytes, longest: int) -> Any:
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise missing_library("tokenizers", "local") from None
    try:
        tokenizer: Any = Tokenizer.from_str(data.decode("utf-8"))
    except Exception as problem:  # noqa: BLE001 (the library raises nothing narrower)
        raise ModelDamaged(f"tokenizer.json cannot be read: {problem}") from None
    # Files come with a padding and a cut of their own, which were another program's choice.
    tokenizer.no_padding()
    tokenizer.enable_truncation(longest)
    return tokenizer
