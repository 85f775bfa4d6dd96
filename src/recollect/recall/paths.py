"""The search paths of a recall, which run at the same time and independently of each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from operator import methodcaller
from typing import Any, Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from recollect.domain.filters import Filter
from recollect.domain.hit import PathScore
from recollect.domain.lazy_value import lazy_value
from recollect.domain.times import from_micros, shifted, to_micros
from recollect.domain.unit import ARCHIVE, UNIT_OWNERS
from recollect.embedding.late_vectors import LateVectors, VectorGaps
from recollect.embedding.service import Asked, EmbeddingService
from recollect.language.analysis import query_terms, term_key
from recollect.language.times.expressions import AfterEvent, When
from recollect.language.units import entity_keys
from recollect.ports.runtime import seconds_left
from recollect.ports.units import Ids, Matches, Nearest, Scores, UnitIndex, VectorIndex
from recollect.recall.question import Question

PathName = Literal["keyword", "vector", "recent", "time", "entity", "replaced"]

# A delay that the caller would notice.
_MAX_DELAY_SECONDS: Final = 1.0
_ARCHIVE: Final = UNIT_OWNERS.index(ARCHIVE)


_DAY_MICROS: Final = 86_400 * 1_000_000
# A longer span says less about what is meant.
_FULL_WEIGHT_MICROS: Final = 366 * _DAY_MICROS


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A time that a question is about, in microseconds."""

    start: int
    end: int

    @classmethod
    def between(cls, start: datetime, end: datetime) -> TimeSpan:
        return cls(to_micros(start), to_micros(end))

    def closeness(self, moments: Ids) -> Scores:
        """Return 1 inside the span, falling to 0 about as fast as the span is long."""
        away = np.maximum(np.maximum(self.start - moments, moments - self.end), 0)
        length = max(self.end - self.start, _DAY_MICROS)
        tells = min(1.0, _FULL_WEIGHT_MICROS / length)
        return tells * np.exp(-away / length)


def closeness(moments: Ids, spans: Sequence[TimeSpan]) -> Scores:
    """Return how close moments are to the nearest of several spans."""
    near = np.zeros(len(moments))
    for span in spans:
        near = np.maximum(near, span.closeness(moments))
    return near


@dataclass(frozen=True, kw_only=True)
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

    @property
    def horizon(self) -> float:
        """Return an upper bound on the score of anything the path did not return."""
        return float(self.matches.scores[-1]) if self.is_cut_off else 0.0

    @lazy_value
    def by_owner(self) -> Matches:
        """Return one match per owner: the unit that represents it, sorted by owner.

        A long text scores half as a whole and half by its best passage.
        """
        matches = self.matches
        ordinals, units = matches.rows.columns("ordinal", "unit")
        if not ordinals.any():
            order = units.argsort()
            return Matches(
                rows=matches.rows.take(order), raw=matches.raw[order], scores=matches.scores[order]
            )
        # An owner's units have consecutive numbers, so the first one identifies it.
        owners, first, inverse = np.unique(units - ordinals, return_index=True, return_inverse=True)
        is_passage = ordinals > 0
        whole = np.full(len(owners), self.horizon)
        whole[inverse[~is_passage]] = matches.scores[~is_passage]
        # Matches come best first, so the first passage of an owner is its best.
        passages = np.flatnonzero(is_passage)
        long_ones, best = np.unique(inverse[passages], return_index=True)
        scores = whole.copy()
        best_passages = matches.scores[passages[best]]
        # The whole unit of an archive is only a description and adds nothing to a passage.
        is_archive = matches.column("kind")[passages[best]] == _ARCHIVE
        scores[long_ones] = np.where(
            is_archive, best_passages, (whole[long_ones] + best_passages) / 2
        )
        chosen = first.copy()
        chosen[long_ones] = passages[best]
        return Matches(rows=matches.rows.take(chosen), raw=matches.raw[chosen], scores=scores)

    @lazy_value
    def owners(self) -> Ids:
        """Return the owners that were found, in rising order."""
        units, ordinals = self.by_owner.rows.columns("unit", "ordinal")
        return units - ordinals

    def scores(self, owners: Ids, otherwise: float) -> Scores:
        """Return the scores of these owners, or `otherwise` for those that were not found."""
        if owners is self.owners:
            return self.by_owner.scores
        places = np.minimum(self.owners.searchsorted(owners), len(self.owners) - 1)
        return np.where(self.owners[places] == owners, self.by_owner.scores[places], otherwise)

    def path_scores(self, owners: Ids) -> list[PathScore | None]:
        """Return a PathScore for each owner, or None where the path did not find it."""
        places = np.minimum(self.owners.searchsorted(owners), len(self.owners) - 1)
        every = self.by_owner.scores
        scores = every[places]
        ranks = 1 + len(every) - np.sort(every).searchsorted(scores, "right")
        columns = (self.owners[places] == owners, ranks, self.by_owner.raw[places], scores)
        return [
            PathScore(path=self.path, rank=rank, raw=raw, score=score) if is_found else None
            for is_found, rank, raw, score in zip(*map(listed, columns), strict=True)
        ]


# A column as a list of plain values.
listed: Final[Callable[[NDArray[Any]], list[Any]]] = methodcaller("tolist")


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
    """A path to units with a similar embedding."""

    name: PathName = "vector"

    def __init__(
        self,
        embedding: EmbeddingService,
        vectors: VectorIndex,
        late: LateVectors,
        gaps: VectorGaps,
        patience: float,
    ) -> None:
        self._embedding = embedding
        self._vectors = vectors
        self._late = late
        self._gaps = gaps
        # A large text that was just stored must not delay everything else.
        self._patience_with_late = min(_MAX_DELAY_SECONDS, patience / 2)

    def waits(self, question: Question) -> bool:
        scopes = question.scopes
        return self._embedding.waits(question.subject, scopes) or not self._late.is_settled(scopes)

    async def search(self, question: Question, limit: int, within: Filter | None) -> Found:
        embedding = self._embedding
        if embedding.model is None:
            return Found(path=self.name, degraded=(embedding.absence,))
        models = embedding.answering(question.scopes)
        asked = await embedding.ask(question.subject, models)
        # Half of the time is for what comes after it.
        patience = min(self._patience_with_late, seconds_left() / 2)
        is_settled = await self._late.settled(question.scopes, within=patience)
        nearest = await self._nearest(question, asked, limit, within)
        if not nearest.models.issubset(models):
            # Another process has reindexed a scope, or its model was not known yet.
            asked = await embedding.ask(question.subject, nearest.models)
            nearest = await self._nearest(question, asked, limit, within)
        embedding.notice(question.scopes, nearest.models)
        missing = nearest.missing if asked.vectors and is_settled else 0
        return Found(
            path=self.name,
            matches=nearest.matches.on_scale(*embedding.calibration.scale),
            trust=1.0 if asked.vectors else 0.0,
            is_cut_off=len(nearest.matches) >= limit,
            degraded=(
                *asked.problems,
                *nearest.problems,
                *await self._gaps.notes(question.scopes, missing),
            ),
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
        # In UTC, since there is an hour in a year that clocks show twice.
        asked_at = (question.asked_at or question.now).astimezone(UTC)
        matches = await self._units.recent(
            question.scopes,
            shifted(asked_at, -self._reach),
            min(limit, self._limit),
            until=shifted(asked_at, timedelta(seconds=1)),
        )
        return Found(path=self.name, matches=matches)


# --- The time that a question names ---------------------------------------------------------------

# The minimum score of a memory that identifies a named event.
_MIN_EVENT_SCORE: Final = 0.4
_DAY: Final = timedelta(days=1)


class TimePath:
    """A path to units from the time that a question names, which boosts them but never filters."""

    name: PathName = "time"

    def __init__(self, units: UnitIndex) -> None:
        self._units = units

    def waits(self, question: Question) -> bool:
        return False

    async def search(self, question: Question, limit: int, within: Filter | None) -> Found:
        spans: list[TimeSpan] = []
        for named in question.times:
            span = await self._span(question, named)
            if span is not None:
                spans.append(span)
        if not spans:
            return Found(path=self.name, trust=0.0)
        # Of several named times only the first is searched; all of them raise scores.
        first = spans[0]
        matches = await self._units.recent(
            question.scopes, from_micros(first.start), limit, until=from_micros(first.end)
        )
        inside = Matches(rows=matches.rows, raw=matches.raw, scores=np.ones(len(matches)))
        return Found(
            path=self.name,
            matches=inside,
            trust=_time_share(question),
            spans=tuple(spans),
        )

    async def _span(self, question: Question, named: When | AfterEvent) -> TimeSpan | None:
        if isinstance(named, When):
            return _past_span(named, question.asked_at or question.now)
        keys = [term_key(term) for term in query_terms(named.event)]
        known = await self._units.search(question.scopes, keys, 1, now=question.now)
        if not len(known) or known.scores[0] < _MIN_EVENT_SCORE:
            return None
        at = from_micros(int(known.column("observed_at")[0]))
        return TimeSpan.between(shifted(at, named.start), shifted(at, named.end))


def _past_span(named: When, asked_at: datetime) -> TimeSpan | None:
    """Return the named time, unless it is in the future or only today.

    Nothing has been observed in the future yet, and people say "today" about anything.
    """
    is_today = named.start <= asked_at < named.end and named.end - named.start <= _DAY
    if named.start > asked_at or is_today:
        return None
    return TimeSpan.between(named.start, named.end)


def _time_share(question: Question) -> float:
    """Return how much of the question is about nothing but the time."""
    naming = {term for named in question.times for term in query_terms(named.text)}
    others = set(question.terms.values()) - naming
    return len(naming) / max(len(naming) + len(others), 1)


# --- One hop from the best hits to units that name the same entities ------------------------------

# Texts with more names than this are about nothing in particular.
_MAX_NAMES: Final = 64
# The names that matter stand near the beginning of a text.
_READ_CHARS: Final = 2_000
# The same texts are found again and again.
_named_in: Final = lru_cache(maxsize=1_024)(entity_keys)


async def search_entities(
    units: UnitIndex, question: Question, seeds: Mapping[str, str], limit: int
) -> Found | None:
    """Return the units that share names with the seeds (owner → text) but not with the question.

    A question that needs several records often names only the subject of the first one.
    """
    names = {key for text in seeds.values() for key in _named_in(text[:_READ_CHARS])}
    if names:
        names -= set(_named_in(question.text[:_READ_CHARS]))
    if not names or len(names) > _MAX_NAMES:
        return None
    matches = await units.search(question.scopes, sorted(names), limit, now=question.now)
    others = np.flatnonzero(~np.isin(matches.column("owner"), list(seeds)))
    if not len(others):
        return None
    return Found(
        path="entity",
        matches=Matches(
            rows=matches.rows.take(others), raw=matches.raw[others], scores=matches.scores[others]
        ),
    )
