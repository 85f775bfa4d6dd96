"""A memory about to be opened."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.ports.clock import Clock
    from recollect.ports.embedder import Embedder
    from recollect.settings import Settings


class Opening:
    """A memory about to be opened, to be awaited or entered."""

    def __init__(
        self,
        where: str | Path | Settings | None,
        clock: Clock | None,
        embedder: Embedder | None,
    ) -> None:
        self._where = where
        self._clock = clock
        self._embedder = embedder
        self._question: str | None = None
        self._memory: Memory | None = None

    def expecting(self, question: str | None) -> Opening:
        """Load the model while the rest is opened, because this question is asked at once."""
        self._question = question
        return self

    def __await__(self) -> Generator[Any, None, Memory]:
        return self._open().__await__()

    async def __aenter__(self) -> Memory:
        self._memory = await self._open()
        return self._memory

    async def __aexit__(self, *_: object) -> None:
        if self._memory is not None:
            await self._memory.close()

    async def _open(self) -> Memory:
        # The parts bring a database driver and more; importing Memory alone stays fast.
        from recollect.assemble import assemble

        return await assemble(self._where, self._clock, self._embedder, self._question)
