"""The search paths of a recall, which run at the same time and independently of each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from time import perf_counter
from typing import Final, Literal, Protocol

from recollect.domain.filters import Filter
from recollect.domain.meter import Meter
from recollect.domain.times import shifted
from recollect.embedding.late_vectors import LateVectors, VectorGaps
from recollect.embedding.service import Asked, EmbeddingService
from recollect.ports.runtime import seconds_left
from recollect.ports.units import Matches, Nearest, UnitIndex, VectorIndex
from recollect.recall.question import Question
from recollect.recall.time_span import TimeSpan

PathName = Literal["keyword", "vector", "recent", "time", "entity", "replaced"]

# A delay that the caller would notice.
_MAX_DELAY_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The result of one path, best first, and what kept it from finding more."""

    path: PathName
    matches: Matches = field(default_factory=Matches.none)
    # How much its scores count for this question.
    trust: float = 1.0
    is_cut_off: bool = False
    degraded: tuple[str, ...] = ()
    # The times that the question names, if this is the time path.
    spans: tuple[TimeSpan, ...] = ()


class Path(Protocol):
    """A way to find units for a question."""

    @property
    def name(self) -> PathName: ...

    def waits(self, question: Question) -> bool:
        """Return whether the path has to wait for a model or a server."""
        ...

    async def search(self, question: Question, limit: int, within: Filter | None) -> Found: ...


class KeywordPath:
    """A path to units that contain the question's words."""

    name: PathName = "keyword"

    def __init__(self, units: UnitIndex) -> None:
        self._units = units

    def waits(self, question: Question) -> bool:
        return False

    async def search(self, question: Question, limit: int, within: Filter | None) -> Found:
        if not question.terms:
            return Found(path=self.name)
        matches = await self._units.search(
            question.scopes,
            list(question.terms),
            limit,
            now=question.now,
            within=within,
            slight=question.slight,
        )
        return Found(path=self.name, matches=matches, is_cut_off=len(matches) >= limit)


class VectorPath:
    """A path to units with a similar meaning."""

    name: PathName = "vector"

    def __init__(
        self,
        meaning: EmbeddingService,
        vectors: VectorIndex,
        late: LateVectors,
        gaps: VectorGaps,
        patience: float,
    ) -> None:
        self._meaning = meaning
        self._vectors = vectors
        self._late = late
        self._gaps = gaps
        # A large text that was just stored must not delay everything else.
        self._patience_with_late = min(_MAX_DELAY_SECONDS, patience / 2)

    def waits(self, question: Question) -> bool:
        scopes = question.scopes
        return self._meaning.waits(question.subject, scopes) or not self._late.is_settled(scopes)

    async def search(self, question: Question, limit: int, within: Filter | None) -> Found:
        meaning = self._meaning
        if meaning.model is None:
            return Found(path=self.name, degraded=(meaning.absence,))
        models = meaning.answering(question.scopes)
        asked = await meaning.ask(question.subject, models)
        # Half of the time is for what comes after it.
        patience = min(self._patience_with_late, seconds_left() / 2)
        is_settled = await self._late.settled(question.scopes, within=patience)
        nearest = await self._nearest(question, asked, limit, within)
        if not nearest.models.issubset(models):
            # Another process has reindexed a scope, or its model was not known yet.
            asked = await meaning.ask(question.subject, nearest.models)
            nearest = await self._nearest(question, asked, limit, within)
        meaning.notice(question.scopes, nearest.models)
        missing = nearest.missing if asked.vectors and is_settled else 0
        return Found(
            path=self.name,
            matches=nearest.matches.on_scale(*meaning.calibration.scale),
            trust=1.0 if asked.vectors else 0.0,
            is_cut_off=len(nearest.matches) >= limit,
            degraded=(*asked.problems, *await self._gaps.notes(question.scopes, missing)),
        )

    async def _nearest(
        self, question: Question, asked: Asked, limit: int, within: Filter | None
    ) -> Nearest:
        return await self._vectors.search(
            question.scopes, asked.vectors, limit, now=question.now, within=within
        )


class RecentPath:
    """A path to the most recent units, whatever their words; for follow-ups."""

    name: PathName = "recent"

    def __init__(self, units: UnitIndex, *, days: float, limit: int, weight: float) -> None:
        self._units = units
        self._weight = weight
        self._reach = timedelta(days=days)
        self._limit = limit

    def waits(self, question: Question) -> bool:
        return False

    async def search(self, question: Question, limit: int, within: Filter | None) -> Found:
        if not max(self._weight, question.lean.recent):
            return Found(path=self.name)
        asked_at = question.asked_at or question.now
        matches = await self._units.recent(
            question.scopes,
            shifted(asked_at, -self._reach),
            min(limit, self._limit),
            until=shifted(asked_at, timedelta(seconds=1)),
        )
        return Found(path=self.name, matches=matches)


# --- A path that measures the time of its answers -------------------------------------------------


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
