"""Embedders of other libraries, which block the calling thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from recollect.domain.embedding import Calibration
from recollect.models.faults import (
    EmbeddingFailed,
    Vectors,
    missing_library,
    unit_rows,
    wrong_dimension,
)
from recollect.models.onnx_model import first_line, readable, session_errors
from recollect.models.quiet_libraries import import_quietly
from recollect.ports.embedder import Progress, Purpose

Encode = Callable[[list[str], Purpose], Vectors]

_BATCH: Final = 32


class BlockingEmbedder:
    """An encoder of a library, called in a thread, one batch at a time."""

    def __init__(self, model: str, encode: Encode, dimension: int | None = None) -> None:
        self._model = model
        self._encode = encode
        self._dimension = self._measured(dimension)

    @property
    def model(self) -> str:
        return self._model

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def calibration(self) -> Calibration:
        return Calibration()

    def reads(self, text: str) -> bool:
        return bool(text.strip())

    async def embed(
        self, texts: Sequence[str], purpose: Purpose, progress: Progress | None = None
    ) -> Vectors:
        vectors = np.empty((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), _BATCH):
            batch = [readable(text) for text in texts[start : start + _BATCH]]
            raw = await asyncio.to_thread(self._encoded, batch, purpose)
            vectors[start : start + len(batch)] = unit_rows(
                raw, count=len(batch), dimension=self.dimension, model=self.model
            )
            if progress is not None:
                progress(start + len(batch), len(texts))
        return vectors

    def notes(self) -> tuple[str, ...]:
        return ()

    async def close(self) -> None:
        """Do nothing: the libraries free their models with their objects."""

    def _measured(self, expected: int | None) -> int:
        length = int(self._encoded(["length"], "passage").shape[-1])
        if expected is not None and length != expected:
            raise wrong_dimension(self.model, expected=expected, got=length)
        return length

    def _encoded(self, texts: list[str], purpose: Purpose) -> Vectors:
        try:
            return self._encode(texts, purpose)
        except session_errors() as problem:
            raise EmbeddingFailed(f"{self.model} failed: {first_line(problem)}") from None


def open_fastembed(name: str, dimension: int | None) -> BlockingEmbedder:
    """Open a model of the library fastembed, which downloads it if needed."""
    model = _model("fastembed", "TextEmbedding", name, extra="fastembed")

    def encode(texts: list[str], purpose: Purpose) -> Vectors:
        encoder = model.query_embed if purpose == "query" else model.passage_embed
        return np.stack([np.asarray(row, np.float32) for row in encoder(texts)])

    return BlockingEmbedder(f"fastembed:{name}", encode, dimension)


def open_sentence_transformers(name: str, dimension: int | None) -> BlockingEmbedder:
    """Open a model of the library sentence-transformers, by name or folder."""
    model = _model(
        "sentence_transformers", "SentenceTransformer", name, extra="sentence-transformers"
    )

    def encode(texts: list[str], purpose: Purpose) -> Vectors:
        encoder = model.encode_query if purpose == "query" else model.encode_document
        return np.asarray(encoder(texts, show_progress_bar=False), np.float32)

    return BlockingEmbedder(f"sentence-transformers:{name}", encode, dimension)


def _model(library: str, kind: str, name: str, *, extra: str) -> Any:
    try:
        module: Any = import_quietly(library)
    except ImportError:
        raise missing_library(library, extra) from None
    try:
        return getattr(module, kind)(name)
    except session_errors() as problem:
        raise EmbeddingFailed(
            f"{library} cannot open {name}: {first_line(problem)}", code="model_not_found"
        ) from None
