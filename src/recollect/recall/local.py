"""What this process can answer by itself, while the database server is away or is caught up with.

There is no index here: what waits in the spool, and what was recalled in this process before, is
compared with the words of the question.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from recollect.domain.filters import Filter
from recollect.domain.hit import Explanation, Hit
from recollect.domain.record import Record
from recollect.domain.scope import Scope
from recollect.domain.turn import Turn
from recollect.language.analysis import query_terms, terms

AWAY: Final = "the database server is away: this is what this process knows"
WAITING: Final = "some of this waits to be stored"


def local_hits(
    text: str,
    scopes: Sequence[Scope],
    where: Filter,
    items: Iterable[Record | Turn],
    *,
    now: datetime,
    min_score: float,
) -> list[Hit]:
    """Return the items of these scopes that share words with a question, best first."""
    wanted = set(query_terms(text))
    if not wanted:
        return []
    allowed = frozenset(scopes)
    hits: dict[str, Hit] = {}
    for item in items:
        if item.scope not in allowed or not _accepts(where, item, now):
            continue
        matched = wanted.intersection(terms(item.content))
        score = len(matched) / len(wanted)
        if matched and score >= min_score:
            why = Explanation(paths=(), matched_terms=tuple(sorted(matched)), relevance=score)
            span = (0, len(item.content))
            hits[item.id] = Hit(item=item, score=score, span=span, explanation=why)
    return sorted(hits.values(), key=lambda hit: -hit.score)


def _accepts(where: Filter, item: Record | Turn, now: datetime) -> bool:
    if isinstance(item, Record):
        return where.accepts_record(item, now)
    return item.act != "retracted" and where.accepts_turn(item)
