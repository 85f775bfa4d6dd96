"""Recall for a whole message: what bears on all of it, then on its clauses.

A request often asks for several things ("write a note with my address, and say what I do"). No
memory is about all of them, so each clause is also asked by itself.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from datetime import datetime
from typing import Final

from recollect.domain.filters import Filter
from recollect.domain.hit import Recalled
from recollect.domain.scope import Scope
from recollect.language.analysis import query_terms
from recollect.language.sentences import sentences
from recollect.ports.runtime import IN_TIME, in_time, seconds_left
from recollect.recall.cache import CachedRecaller

_BETWEEN_CLAUSES: Final = re.compile(r"[,;:](?=\s)|[，；：、。！？]")
# A clause with fewer terms says nothing without the others.
_MIN_TERMS: Final = 2
_MAX_CLAUSES: Final = 8
_HITS_PER_CLAUSE: Final = 2
# A longer message is mostly material, such as a pasted text.
_MAX_MESSAGE_CHARACTERS: Final = 2_000


async def recall_for_message(
    recaller: CachedRecaller,
    message: str,
    scopes: tuple[Scope, ...],
    where: Filter,
    *,
    limit: int | None,
    clause_hits: int,
    min_score: float | None,
    asked_at: datetime | None,
) -> Recalled:
    """Return the hits for the message, followed by up to `clause_hits` more for its clauses."""
    recalled = await recaller.recall(
        message, scopes, where, limit=limit, min_score=min_score, asked_at=asked_at
    )
    clauses = clauses_of(message) if clause_hits else []

    async def ask_all() -> list[Recalled]:
        return await asyncio.gather(
            *(
                recaller.recall(
                    clause,
                    scopes,
                    where,
                    limit=_HITS_PER_CLAUSE,
                    min_score=min_score,
                    asked_at=asked_at,
                )
                for clause in clauses
            )
        )

    answers = await in_time(ask_all(), seconds_left()) if clauses else []
    if answers is None:
        note = f"the parts of the message were not looked up {IN_TIME}"
        return replace(recalled, degraded=(*recalled.degraded, note))
    known = {hit.id for hit in recalled}
    by_score = sorted((hit for answer in answers for hit in answer), key=lambda hit: -hit.score)
    more = list({hit.id: hit for hit in reversed(by_score) if hit.id not in known}.values())[::-1]
    return replace(recalled, hits=(*recalled.hits, *more[:clause_hits]))


def clauses_of(message: str) -> list[str]:
    """Return the clauses of a message that can be asked by themselves, if there are several."""
    if len(message) > _MAX_MESSAGE_CHARACTERS:
        return []
    pieces = (
        piece.strip()
        for sentence in sentences(message)
        for piece in _BETWEEN_CLAUSES.split(sentence)
    )
    found = [piece for piece in pieces if len(query_terms(piece)) >= _MIN_TERMS]
    return found[:_MAX_CLAUSES] if len(found) > 1 else []
