"""The local reader: linear heads on the vectors of the local embedder and on the form of a text."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from recollect.language.extraction.features import GRAMS, form, grams
from recollect.models.local_model import DIMENSION, LocalModel, local_model
from recollect.models.onnx_embedder import OnnxEmbedder
from recollect.ports.reader import Reading

if TYPE_CHECKING:
    from recollect.ports.reader import Lasts

READER: Final = "reader.npz"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heads:
    weights: NDArray[np.float32]
    """A row for each feature; columns: worth keeping, and how long."""
    limit: float
    lasts: Sequence[Lasts]


class LocalReader:
    """Reads parts of messages with the embedder of the data package. Thread-safe."""

    def __init__(self, model: LocalModel) -> None:
        self._model = model
        self._parts: tuple[OnnxEmbedder, _Heads] | None = None

    async def read(self, parts: Sequence[tuple[str, str]]) -> Sequence[Reading]:
        """Return a reading for each pair of the words before a part and its own words."""
        if not parts:
            return ()
        embedder, heads = await asyncio.to_thread(self._loaded)
        texts = [*dict.fromkeys(text for part in parts for text in part if text)]
        vectors = dict(zip(texts, await embedder.embed(texts, "passage"), strict=True))
        known = np.array([_row(part, vectors) for part in parts], np.float32)
        scores = known @ heads.weights
        longest: list[int] = scores[:, 1:].argmax(1).tolist()
        return [
            Reading(score=float(score) - heads.limit, lasts=heads.lasts[place])
            for score, place in zip(scores[:, 0], longest, strict=True)
        ]

    def _loaded(self) -> tuple[OnnxEmbedder, _Heads]:
        if self._parts is None:
            self._parts = self._model.open(), _read_heads(self._model.shared().files[READER])
        return self._parts


def open_reader(folder: Path | None) -> LocalReader | None:
    """Return the local reader; None where its file or libraries are not installed."""
    model = local_model(folder)
    if model.condition() != "ready" or READER not in model.shared().files:
        return None
    return LocalReader(model)


def features(
    before: NDArray[np.float32] | None, own: NDArray[np.float32], part: tuple[str, str]
) -> NDArray[np.float32]:
    """Return what the heads weigh: both vectors, the form, the words, and a constant."""
    words = np.zeros(GRAMS, np.float32)
    places = sorted(grams(part[1]))
    words[places] = 1 / np.sqrt(max(1, len(places)))
    first = np.zeros(DIMENSION, np.float32) if before is None else before
    return np.concatenate([own, first, form(*part), words, [1.0]], dtype=np.float32)


def _row(part: tuple[str, str], vectors: dict[str, NDArray[np.float32]]) -> NDArray[np.float32]:
    return features(vectors.get(part[0]), vectors[part[1]], part)


def _read_heads(data: bytes) -> _Heads:
    file: Any = np.load(io.BytesIO(data), allow_pickle=False)
    return _Heads(
        weights=file["weights"].astype(np.float32),
        limit=float(file["limit"]),
        lasts=[str(it) for it in file["lasts"]],  # pyright: ignore[reportArgumentType]
    )
