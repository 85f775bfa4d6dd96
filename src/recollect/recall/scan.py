"""Recall without an index, for past states and hidden records: slow and exact."""

from __future__ import annotations

import asyncio

from recollect.domain.hit import Explanation, Hit, PathScore, Recalled
from recollect.domain.record import Record
from recollect.domain.turn import Turn
from recollect.language.analysis import ANALYZER_VERSION
from recollect.language.units import record_units, turn_units
from recollect.ports.store import Store
from recollect.ports.units import KnownTerms, Terms, UnitIndex
from recollect.recall.question import Question


async def scan(question: Question, store: Store, units: UnitIndex) -> Recalled:
    """Return everything that passes the filter and has the question's words, best first."""
    items: list[Record | Turn] = []
    if question.where.wants_records:
        items += await store.records(question.scopes, question.where, now=question.now)
    if question.where.wants_turns:
        items += await store.turns(question.scopes, question.where)
    held = [item.id for item in items if isinstance(item, Turn) or item.is_live]
    known = await units.known_terms(held, ANALYZER_VERSION)
    # Analysing what the index does not hold takes long, so it runs in a thread.
    texts = await asyncio.to_thread(lambda: [_terms(item, known) for item in items])
    scores = await units.rank(list(question.terms), texts)
    good = [
        index for index, score in enumerate(scores) if score > 0 and score >= question.min_score
    ]
    good.sort(key=lambda index: (-scores[index], items[index].id))
    return Recalled(
        hits=tuple(
            _hit(question, items[index], scores[index], texts[index], rank)
            for rank, index in enumerate(good[: question.limit], start=1)
        )
    )


def _terms(item: Record | Turn, known: KnownTerms) -> Terms:
    """Return the terms of an item, from the index if it holds this version."""
    version = item.version if isinstance(item, Record) else 1
    if (found := known.get((item.id, version))) is not None:
        return found
    owner = record_units(item, hidden=True) if isinstance(item, Record) else turn_units(item)
    return [key for unit in owner.units for key in unit.terms]


def _hit(question: Question, item: Record | Turn, score: float, text: Terms, rank: int) -> Hit:
    present = set[int](text)
    return Hit(
        item=item,
        score=score,
        span=(0, len(item.content)),
        explanation=Explanation(
            paths=(PathScore(path="keyword", rank=rank, raw=score, score=score),),
            matched_terms=tuple(name for key, name in question.terms.items() if key in present),
        ),
    )
