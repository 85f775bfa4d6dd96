"""The time path: a question that names a time pulls what happened then, and never filters."""

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

# An event is known when a memory fits its name so well.
_KNOWN_EVENT: Final = 0.4
_DAY: Final = timedelta(days=1)


class TimePath:
    """Units from the time that a question names."""

    name: PathName = "time"

    def __init__(self, units: UnitIndex) -> None:
        self._units = units

    def waits(self, question: Question) -> bool:
        return False

    async def search(self, question: Question, limit: int, within: Filter | None) -> Found:
        spans: list[TimeSpan] = []
        for named in question.times:
            stretch = await self._stretch(question, named)
            if stretch is not None:
                spans.append(stretch)
        if not spans:
            return Found(path=self.name, trust=0.0)
        # What lies in several of the named times is as likely in the first as in the last.
        first = spans[0]
        matches = await self._units.recent(
            question.scopes, from_micros(first.start), limit, until=from_micros(first.end)
        )
        inside = Matches(rows=matches.rows, raw=matches.raw, scores=np.ones(len(matches)))
        return Found(
            path=self.name,
            matches=inside,
            trust=_share_of_time(question),
            spans=tuple(spans),
        )

    async def _stretch(self, question: Question, named: When | AfterEvent) -> TimeSpan | None:
        if isinstance(named, When):
            return _in_the_past(named, question.asked_at or question.now)
        keys = [term_key(term) for term in query_terms(named.event)]
        known = await self._units.search(question.scopes, keys, 1, now=question.now)
        if not len(known) or known.scores[0] < _KNOWN_EVENT:
            return None
        at = from_micros(int(known.column("observed_at")[0]))
        return TimeSpan.between(shifted(at, named.start), shifted(at, named.end))


def _in_the_past(named: When, asked_at: datetime) -> TimeSpan | None:
    """Nothing was noticed in the future yet, and "today" is said of whatever one talks about."""
    is_today = named.start <= asked_at < named.end and named.end - named.start <= _DAY
    if named.start > asked_at or is_today:
        return None
    return TimeSpan.between(named.start, named.end)


def _share_of_time(question: Question) -> float:
    """How much of the question is about nothing but the time."""
    naming = {term for named in question.times for term in query_terms(named.text)}
    others = set(question.terms.values()) - naming
    return len(naming) / max(len(naming) + len(others), 1)
