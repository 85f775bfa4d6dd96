"""An embedder that counts what it is asked, for the figures of its tier."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.domain.model_tier import ModelUsage
from recollect.errors import RecollectError
from recollect.models.openai_endpoint import OpenAIEmbedder
from recollect.models.vectors import Vectors
from recollect.ports.embedder import Embedder, Progress, Purpose


class CountedEmbedder:
    """Another embedder, and its counts since the process began."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._calls = 0
        self._failures = 0

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def trust(self, text: str) -> float:
        return self._embedder.trust(text)

    async def embed(
        self, texts: Sequence[str], purpose: Purpose, progress: Progress | None = None
    ) -> Vectors:
        self._calls += 1
        try:
            return await self._embedder.embed(texts, purpose, progress)
        except RecollectError:
            self._failures += 1
            raise

    def notes(self) -> tuple[str, ...]:
        return self._embedder.notes()

    async def close(self) -> None:
        await self._embedder.close()

    def usage(self) -> ModelUsage:
        """What it was asked; a model of our own costs no tokens."""
        remote = self._embedder if isinstance(self._embedder, OpenAIEmbedder) else None
        return ModelUsage(
            task="embed",
            model=self.model,
            calls=self._calls,
            failures=self._failures,
            input_tokens=0 if remote is None else remote.input_tokens,
        )
