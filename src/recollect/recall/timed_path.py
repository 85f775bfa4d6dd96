"""A path that measures the time of its answers."""

from __future__ import annotations

from time import perf_counter

from recollect.domain.filters import Filter
from recollect.domain.meter import Meter
from recollect.recall.paths import Found, Path, PathName
from recollect.recall.question import Question


class TimedPath:
    """A path wrapped in a timer."""

    def __init__(self, path: Path, meter: Meter) -> None:
        self._path = path
        self._meter = meter

    @property
    def name(self) -> PathName:
        return self._path.name

    def waits(self, question: Question) -> bool:
        return self._path.waits(question)

    async def search(self, question: Question, limit: int, within: Filter | None) -> Found:
        began = perf_counter()
        try:
            return await self._path.search(question, limit, within)
        finally:
            self._meter.time("path_seconds", perf_counter() - began, self._path.name)
