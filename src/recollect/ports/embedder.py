"""Turning text into vectors, whichever model does it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from recollect.domain.calibration import Calibration

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Some models read a question otherwise than the text that answers it.
Purpose = Literal["query", "passage"]

# Called with how many texts are done, and of how many.
Progress = Callable[[int, int], None]


class Embedder(Protocol):
    """One embedding model. Safe to call from several tasks at once."""

    @property
    def model(self) -> str:
        """A name that changes whenever the vectors would."""
        ...

    @property
    def dimension(self) -> int: ...

    @property
    def calibration(self) -> Calibration:
        """What the model's cosines mean."""
        ...

    def reads(self, text: str) -> bool:
        """Return whether the model knows the text's language.

        What it does not read gets no vector, and vector search stands aside for it.
        """
        ...

    async def embed(
        self, texts: Sequence[str], purpose: Purpose, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        """One row a text, in their order, each of length 1. Cancelling takes effect at once."""
        ...

    def notes(self) -> tuple[str, ...]:
        """What works less well than it could, and how to mend it."""
        ...

    async def close(self) -> None: ...


@runtime_checkable
class Metered(Protocol):
    """An embedder whose provider counts the tokens it reads."""

    @property
    def input_tokens(self) -> int: ...


@runtime_checkable
class Remembering(Protocol):
    """An embedder that need not read again what it has read."""

    def knows(self, text: str, purpose: Purpose) -> bool:
        """Whether the vector of this text is at hand."""
        ...


class EmbedderAround:
    """Another embedder as it is, for those that add something to it."""

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
