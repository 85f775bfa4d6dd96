"""An embedder that counts its calls, for the usage of its tier."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.domain.model_tier import ModelUsage
from recollect.errors import RecollectError
from recollect.models.vectors import Vectors
from recollect.ports.embedder import Embedder, EmbedderAround, Metered, Progress, Purpose
from recollect.ports.runtime import span


class CountedEmbedder(EmbedderAround):
    """A wrapper that counts the calls of an embedder since the process began."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self._calls = 0
        self._failures = 0

    async def embed(
        self, texts: Sequence[str], purpose: Purpose, progress: Progress | None = None
    ) -> Vectors:
        self._calls += 1
        try:
            with span("embed", texts=len(texts), purpose=purpose):
                return await self._embedder.embed(texts, purpose, progress)
        except RecollectError:
            self._failures += 1
            raise

    def usage(self) -> ModelUsage:
        """Return the usage; a local model uses no tokens."""
        return ModelUsage(
            task="embed",
            model=self.model,
            calls=self._calls,
            failures=self._failures,
            input_tokens=self._embedder.input_tokens if isinstance(self._embedder, Metered) else 0,
        )
