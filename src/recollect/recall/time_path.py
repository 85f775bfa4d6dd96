"""The time path: a question that names a time boosts what happened then, but never filters."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

import numpy as np

from recollect.domain.filters import Filter
from recollect.domain.times import from_micros, shifted
from recollect.language.analysis import query_terms, term_key
from recollect.language.times.expressions import AfterEvent, When
from recollect.ports.units import Matches, UnitIndex
from recollect.recall.paths import Found, PathName
from recollect.recall.question import Question
from recollect.recall.time_span import TimeSpan

# The minimum score of a memory that identifies a named event.
_MIN_EVENT_SCORE: Final = 0.4
_DAY: Final = timedelta(days=1)


class TimePath:
    """A path to units from the time that a question names."""

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
