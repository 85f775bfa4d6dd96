"""Replay of a recall set through the knowledge base, with every unit as a document."""

from __future__ import annotations

import asyncio
import math
import time
from typing import Final

from recollect.evaluation.agent_view import text_of
from recollect.evaluation.metrics import Judged
from recollect.evaluation.recall_sets import SetQuery
from recollect.evaluation.replay import LIMIT, Replay

# Several passages may come from one document.
_PASSAGES: Final = 3 * LIMIT
_AT_ONCE: Final = 16


class DocumentReplay(Replay):
    """The replay of one set; each scope is a user with one collection."""

    async def _tell(self, scope: str, before: float = math.inf) -> None:
        knowledge = self._memory.scope(user=scope).knowledge
        started = time.perf_counter()
        # Several at a time, as when a folder is synchronised.
        due = list(self._due(scope, before))
        for first in range(0, len(due), _AT_ONCE):
            some = due[first : first + _AT_ONCE]
            added = [knowledge.add(text_of(unit), f"{unit.id}.txt") for unit in some]
            documents = await asyncio.gather(*added)
            self._unit_of |= {it.id: unit.id for it, unit in zip(documents, some, strict=True)}
            self._told(len(some))
        self._seconds_telling += time.perf_counter() - started

    async def _ask(self, query: SetQuery) -> Judged:
        knowledge = self._memory.scope(user=query.scope).knowledge
        started = time.perf_counter()
        found = await knowledge.search(query.query, limit=_PASSAGES)
        self._seconds_asking.append(time.perf_counter() - started)
        self._asked(1)
        units = dict.fromkeys(self._unit_of[passage.citation.document] for passage in found)
        return Judged(category=query.category, ranking=tuple(units)[:LIMIT], gold=query.gold)
