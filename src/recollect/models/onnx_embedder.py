"""An embedder with an ONNX model and a tokenizer, loaded by the first text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from recollect.domain.embedding import Calibration
from recollect.language.characters import Language, language
from recollect.models.faults import EmbeddingFailed, Vectors, unit_rows
from recollect.models.onnx_model import (
    OnnxModel,
    Session,
    Tokenizer,
    Tokens,
    open_session,
    padded,
    question_threads,
    readable,
)
from recollect.ports.embedder import Progress, Purpose

# --- Word vectors with one byte per number, which several models share ----------------------------


class WordRows:
    """A table of word vectors: small integers, and a factor for each row."""

    def __init__(self, rows: NDArray[np.int8], scales: NDArray[np.float32]) -> None:
        self._rows = rows
        self._scales = scales

    def of(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the vector of each token."""
        vectors: NDArray[Any] = self._rows[ids] * self._scales[ids][..., None]
        return vectors.astype(np.float32, copy=False)


# --- An embedder with an ONNX model and a tokenizer, loaded by the first text ---------------------

Pooling = Literal["mean", "cls"]

# How many texts are sorted by length together.
_WINDOW_TEXTS: Final = 2_048


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFiles:
    """The files of a model; a graph that is too large to hold twice is given as a path."""

    graph: bytes | Path
    tokenizer: bytes | Tokenizer
    words: WordRows | None = None
    """The word vectors of a graph that takes vectors instead of token numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTraits:
    """The properties of a model that must be known before it is loaded."""

    name: str
    dimension: int
    longest: int
    pooling: Pooling = "mean"
    query_prefix: str = ""
    passage_prefix: str = ""
    languages: frozenset[Language] | None = None  # None: any
    calibration: Calibration = field(default_factory=Calibration)


class OnnxEmbedder(OnnxModel["_Engine"]):
    """Runs batches of texts in parallel on its own threads."""

    def __init__(
        self,
        traits: ModelTraits,
        load: Callable[[], ModelFiles],
        *,
        translate: Callable[[str], str] = str,
        notes: Callable[[], tuple[str, ...]] = tuple,
        open_session: Callable[[bytes | Path], Session] = open_session,
    ) -> None:
        def open_engine() -> _Engine:
            files = load()
            return _Engine(traits, files, open_session(files.graph))

        super().__init__(open_engine)
        self._traits = traits
        self._translate = translate
        self._notes = notes

    @property
    def model(self) -> str:
        return self._traits.name

    @property
    def dimension(self) -> int:
        return self._traits.dimension

    @property
    def calibration(self) -> Calibration:
        return self._traits.calibration

    def reads(self, text: str) -> bool:
        languages = self._traits.languages
        return languages is None or language(text) in languages

    def expect(self, text: str) -> None:
        """Load the model in a thread, because this text will be embedded soon."""
        # A failure to load is raised by the call that embeds.
        question_threads().submit(self._tokens, [text], "query")

    async def embed(
        self, texts: Sequence[str], purpose: Purpose, progress: Progress | None = None
    ) -> Vectors:
        if len(texts) == 1 and progress is None:
            # A single question is handed to another thread only once.
            return await self._in_thread(
                question_threads(), lambda: self._run(self._tokens(texts, purpose))
            )
        vectors = np.empty((len(texts), self.dimension), np.float32)
        done = 0
        start = 0

        def take(batch: list[int], rows: Vectors) -> None:
            nonlocal done
            vectors[[start + at for at in batch]] = rows
            done += len(batch)
            if progress is not None:
                progress(done, len(texts))

        for start in range(0, len(texts), _WINDOW_TEXTS):
            window = texts[start : start + _WINDOW_TEXTS]
            tokens = await self._in_thread(self._bulk, self._tokens, window, purpose)
            await self._in_batches(tokens, self._run, take)
        return vectors

    def notes(self) -> tuple[str, ...]:
        return self._notes()

    def _tokens(self, texts: Sequence[str], purpose: Purpose) -> list[Tokens]:
        traits = self._traits
        prefix = traits.query_prefix if purpose == "query" else traits.passage_prefix
        read = (self._translate(readable(text)) for text in texts)
        return [self._loaded().tokenizer.read(prefix + text) for text in read]

    def _run(self, tokens: list[Tokens]) -> Vectors:
        def failed(why: str) -> EmbeddingFailed:
            return EmbeddingFailed(
                f"{self.model} failed on {len(tokens)} texts: {why}",
                hint="The next call loads it again; `recollect models check` tells more.",
            )

        raw = self._attempt(lambda engine: engine.vectors(tokens), failed)
        return unit_rows(raw, count=len(tokens), dimension=self.dimension, model=self.model)


class _Engine:
    """A session with its tokenizer, which turns tokens into pooled vectors."""

    def __init__(self, traits: ModelTraits, files: ModelFiles, session: Session) -> None:
        given = files.tokenizer
        self.tokenizer = given if isinstance(given, Tokenizer) else Tokenizer(given, traits.longest)
        self._pooling = traits.pooling
        self._session = session
        self._words = files.words
        self._inputs = {port.name for port in session.get_inputs()}
        self._output = _best_output(session)

    def vectors(self, tokens: Sequence[Tokens]) -> Vectors:
        feed: dict[str, NDArray[Any]] = {**padded(tokens)}
        mask = feed["attention_mask"]
        if self._words is not None:
            feed["words"] = self._words.of(feed["input_ids"])
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
    """Return the pooled output if the graph has one, otherwise that of the tokens."""
    outputs = session.get_outputs()
    pooled = [port.name for port in outputs if port.name == "sentence_embedding"]
    return (pooled or [outputs[0].name])[0]
