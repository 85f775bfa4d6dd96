"""Reindexing in every store of a memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from recollect.domain.embedding import Reindexing
from recollect.domain.job import Progress
from recollect.embedding.reindex import ReindexService


class ReindexPlaces:
    """The `reindex` operation of all stores, one after another."""

    def __init__(self, every: Callable[[], Sequence[ReindexService]]) -> None:
        self._every = every

    async def reindex(
        self, progress: Progress | None, choice: str | None, *, in_background: bool
    ) -> int:
        """Make a model serve every scope; return how many units had no vector of it."""
        lacking = 0
        for service in self._every():
            lacking += await service.reindex(
                _continuing(progress, lacking), choice, in_background=in_background
            )
        return lacking

    async def progress(self) -> Reindexing:
        """Return the progress of a running switch, or what the model of the settings lacks."""
        parts = [await service.progress() for service in self._every()]
        served = Counter[str]()
        for part in parts:
            served.update(part.served)
        told = next((part for part in parts if part.is_going_on), parts[0])
        return Reindexing(
            model=told.model,
            is_going_on=told.is_going_on,
            units=sum(part.units for part in parts),
            lacking=sum(part.lacking for part in parts),
            stale=sum(part.stale for part in parts),
            served=dict(served),
        )

    async def stop(self) -> bool:
        """Stop a switch; return False if there is none."""
        return any([await service.stop() for service in self._every()])


def _continuing(progress: Progress | None, before: int) -> Progress | None:
    """Return the progress of what comes after so many units of other stores."""
    if progress is None or not before:
        return progress
    return lambda done, total: progress(before + done, before + total)
