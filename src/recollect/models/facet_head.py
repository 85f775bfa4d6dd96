"""The local reader of facets: two linear heads on the vectors of the local embedder.

Beside the vector of a text they read the mean of its word rows: the words themselves tell more than
the vector where the embedder is weak. `training/facets` makes the file with their weights.
"""

from __future__ import annotations

import asyncio
import io
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recollect.errors import RecollectError
from recollect.language.characters import fold
from recollect.models.local_model import FACETS, SharedFiles, local_model
from recollect.ports.embedder import Embedder, Purpose
from recollect.ports.facets import UNDECIDED, FacetGuess, FacetReader
from recollect.ports.units import Vector

_log: Final = logging.getLogger(__name__)

_UNREADABLE: Final = FacetGuess(facet="")
_MAX_TOKENS: Final = 72
_HEADS: Final = ("facets", "abouts")


class LinearHead:
    """Softmax regression: weights in 8 bits, a temperature, and the least probability to name."""

    def __init__(self, data: Mapping[str, NDArray[Any]], name: str) -> None:
        self.names = tuple(map(str, data[f"{name}.names"]))
        self._weights = data[f"{name}.weights"].astype(np.float32) * data[f"{name}.scales"]
        self._bias = data[f"{name}.bias"].astype(np.float32)
        self._threshold = float(data[f"{name}.threshold"])

    def probabilities(self, vectors: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return one row per text."""
        scores = (vectors @ self._weights + self._bias).astype(np.float64)
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)

    def named(self, row: NDArray[np.float64]) -> tuple[str, float]:
        """Return the most likely name, or empty text if it is not likely enough."""
        best = int(row.argmax())
        share = float(row[best])
        return (self.names[best] if share >= self._threshold else ""), share


class WordMeans:
    """The mean of the word rows of texts, each of length 1. Thread-safe."""

    def __init__(self, shared: SharedFiles) -> None:
        self._words = shared.words
        self._tokenizer = shared.tokenizer

    def of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text, zeros where it has no words."""
        return np.stack([self._mean(text) for text in texts])

    def _mean(self, text: str) -> NDArray[np.float32]:
        pieces = self._tokenizer.pieces(fold(text))[:_MAX_TOKENS]
        rows = self._words.of(np.array(pieces or [0], np.int64))
        mean = rows.mean(axis=0)
        return mean / max(float(np.linalg.norm(mean)), 1e-9) * bool(pieces)


class FacetHeads:
    """Both heads of a file."""

    def __init__(self, shared: SharedFiles) -> None:
        with np.load(io.BytesIO(shared.files[FACETS]), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        self.facets, self.abouts = (LinearHead(arrays, name) for name in _HEADS)
        self._means = WordMeans(shared)

    def guesses(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> list[FacetGuess]:
        """Return one guess per text."""
        read = np.hstack([vectors, self._means.of(texts)])
        rows = zip(self.facets.probabilities(read), self.abouts.probabilities(read), strict=True)
        return [self._guess(facets, abouts) for facets, abouts in rows]

    def _guess(self, facets: NDArray[np.float64], abouts: NDArray[np.float64]) -> FacetGuess:
        facet, probability = self.facets.named(facets)
        about, _ = self.abouts.named(abouts)
        return FacetGuess(
            facet=facet,
            about=about if facet else "",
            probability=probability,
            facets=dict(zip(self.facets.names, facets.tolist(), strict=True)),
            abouts=dict(zip(self.abouts.names, abouts.tolist(), strict=True)),
        )


class LocalFacets:
    """Implements `FacetReader` with the local embedder."""

    def __init__(self, embedder: Embedder, load: Callable[[], SharedFiles]) -> None:
        self._embedder = embedder
        self._load = load
        self._heads: FacetHeads | None = None

    @property
    def model(self) -> str:
        return self._embedder.model

    async def read(
        self, statements: Sequence[str], vectors: Sequence[Vector | None] = ()
    ) -> Sequence[FacetGuess]:
        known = [*vectors, *[None] * (len(statements) - len(vectors))]
        return await self._guesses(statements, known, "passage")

    async def asked(self, question: str) -> FacetGuess:
        (guess,) = await self._guesses([question], [None], "query")
        return guess

    async def _guesses(
        self, texts: Sequence[str], vectors: Sequence[Vector | None], purpose: Purpose
    ) -> Sequence[FacetGuess]:
        # What the model cannot read stays unknown; what it could not read now is undecided.
        guesses = [UNDECIDED if self._embedder.reads(text) else _UNREADABLE for text in texts]
        try:
            rows = await self._rows(texts, vectors, purpose)
            if rows:
                known, read = [texts[place] for place in rows], np.stack([*rows.values()])
                if self._heads is None or len(known) > 1:
                    found = await asyncio.to_thread(self._read, known, read)
                else:
                    # One takes less time than handing it to a thread.
                    found = self._read(known, read)
                for place, guess in zip(rows, found, strict=True):
                    guesses[place] = guess
        except RecollectError as problem:
            _log.warning("facets stay undecided: %s", problem)
        return guesses

    def _read(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> list[FacetGuess]:
        return self._opened().guesses(texts, vectors)

    def _opened(self) -> FacetHeads:
        if self._heads is None:
            self._heads = FacetHeads(self._load())
        return self._heads

    async def _rows(
        self, texts: Sequence[str], vectors: Sequence[Vector | None], purpose: Purpose
    ) -> dict[int, Vector]:
        """Return the vectors by place; there is none of a text that the model cannot read."""
        rows = {place: vector for place, vector in enumerate(vectors) if vector is not None}
        missing = [
            place
            for place, text in enumerate(texts)
            if place not in rows and self._embedder.reads(text)
        ]
        if missing:
            made = await self._embedder.embed([texts[place] for place in missing], purpose)
            rows |= dict(zip(missing, made, strict=True))
        return rows


def open_facets(folder: Path | None, embedder: Embedder) -> FacetReader | None:
    """Return the reader of facets for this embedder; None if it is not the local one."""
    model = local_model(folder)
    found = model.where()
    if found is None or embedder.model != model.version() or not (found / FACETS).is_file():
        return None
    return LocalFacets(embedder, model.shared)
