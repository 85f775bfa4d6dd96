"""Embedding models, and the service that makes vectors of units and questions with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recollect.domain.embedding import Calibration


# Some models embed a question differently from the text that answers it.
Purpose = Literal["query", "passage"]

# Called with the number of texts done and the total.
Progress = Callable[[int, int], None]


class Embedder(Protocol):
    """One embedding model. Safe to call from several tasks at once."""

    @property
    def model(self) -> str:
        """Return a name that changes whenever the vectors would."""
        ...

    @property
    def dimension(self) -> int: ...

    @property
    def calibration(self) -> Calibration:
        """Return how to interpret the model's cosines."""
        ...

    def reads(self, text: str) -> bool:
        """Return whether the model supports the text's language.

        Other texts get no vector, and vector search skips them.
        """
        ...

    async def embed(
        self, texts: Sequence[str], purpose: Purpose, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        """Return one row per text, in order, each of length 1. It can be cancelled at any time."""
        ...

    def notes(self) -> tuple[str, ...]:
        """Return what works less well than it could, and how to fix it."""
        ...

    async def close(self) -> None: ...


@runtime_checkable
class Metered(Protocol):
    """An embedder whose provider counts tokens."""

    @property
    def input_tokens(self) -> int: ...


@runtime_checkable
class CachingEmbedder(Protocol):
    """An embedder that caches vectors."""

    def knows(self, text: str, purpose: Purpose) -> bool:
        """Return whether the vector of this text is cached."""
        ...


class EmbedderAround:
    """A wrapper that delegates to another embedder, for subclasses that add something."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    @property
    def calibration(self) -> Calibration:
        return self._embedder.calibration

    def reads(self, text: str) -> bool:
        return self._embedder.reads(text)

    async def embed(
        self, texts: Sequence[str], purpose: Purpose, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        return await self._embedder.embed(texts, purpose, progress)

    def notes(self) -> tuple[str, ...]:
        return self._embedder.notes()

    async def close(self) -> None:
        await self._embedder.close()
