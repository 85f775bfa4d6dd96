"""Summaries of sessions in a recall: they answer what happened when, and compete with nothing.

A summary says in other words what its turns and records say in full. It stands behind them, and is
added to the answer of a question about a past time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from recollect.domain.record import SESSION_EPISODE, Kind, Record
from recollect.language.times.expressions import When
from recollect.ports.store import Store
from recollect.recall.candidate_loader import ScoredCandidate
from recollect.recall.question import Question

_MAX_SUMMARIES: Final = 2
_MAX_LOOKED_AT: Final = 20


class SessionSummaries:
    """A search for the summaries of sessions at the times that a question names."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def of(self, question: Question) -> Sequence[Record]:
        """Return the latest summaries of each past time that is named."""
        found: dict[str, Record] = {}
        if not question.where.wants_records or question.where.since or question.where.until:
            return ()
        for time in question.times:
            if isinstance(time, When) and time.start <= question.now:
                kinds = frozenset({Kind.EPISODIC})
                where = replace(question.where, kinds=kinds, since=time.start, until=time.end)
                events = await self._store.records(
                    question.scopes, where, now=question.now, limit=_MAX_LOOKED_AT
                )
                summaries = [event for event in events if event.is_session_episode]
                found |= {summary.id: summary for summary in summaries[:_MAX_SUMMARIES]}
        return tuple(found.values())


def sums_up(hit: ScoredCandidate) -> bool:
    """Return whether a hit is the summary of a session."""
    return hit.standing.kind is Kind.EPISODIC and hit.standing.source == SESSION_EPISODE


def behind_sources(hits: list[ScoredCandidate]) -> list[ScoredCandidate]:
    """Return the summaries of sessions last, with no more than the score of what is before."""
    others = [hit for hit in hits if not sums_up(hit)]
    if not others or len(others) == len(hits):
        return hits
    least = others[-1].score
    summaries = (hit for hit in hits if sums_up(hit))
    return [*others, *(hit._replace(score=min(hit.score, least)) for hit in summaries)]
