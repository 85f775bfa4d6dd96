"""Recall from several stores in one answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from recollect.domain.filters import Filter
from recollect.domain.hit import Recalled
from recollect.domain.scope import Holding, Scope, split_reachable
from recollect.domain.stats import CacheStats
from recollect.errors import StorageError
from recollect.recall.cache import CachedRecaller

_log: Final = logging.getLogger(__name__)


class SplitRecaller(CachedRecaller):
    """Asks the recaller of every store about the scopes that it holds, and keeps the best hits.

    Scores are similarities from 0 to 1 whichever store they come from, so they can be compared.
    While a store does not answer the others do, and the answer says so.
    """

    def __init__(
        self, home: CachedRecaller, holding: Holding[CachedRecaller], *, limit: int, gap: float
    ) -> None:
        self._home = home
        self._holding = holding
        self._limit = limit
        self._gap = gap

    async def recall(
        self,
        text: str,
        scopes: tuple[Scope, ...],
        where: Filter,
        *,
        limit: int | None = None,
        min_score: float | None = None,
        asked_at: datetime | None = None,
    ) -> Recalled:
        async def ask(recaller: CachedRecaller, some: tuple[Scope, ...]) -> Recalled:
            return await recaller.recall(
                text, some, where, limit=limit, min_score=min_score, asked_at=asked_at
            )

        async def answer(
            recaller: CachedRecaller, some: tuple[Scope, ...]
        ) -> Recalled | StorageError:
            try:
                return await ask(recaller, some)
            except StorageError as problem:
                return problem

        places, problems = split_reachable(scopes, self._holding)
        if len(places) == 1 and not problems:
            return await ask(*places[0])
        answers = await asyncio.gather(*(answer(*place) for place in places))
        problems += [it for it in answers if isinstance(it, StorageError)]
        recalled = [it for it in answers if isinstance(it, Recalled)]
        if not recalled:
            raise problems[0]
        return self._together(recalled, problems, self._limit if limit is None else limit)

    def _together(
        self, recalled: Sequence[Recalled], problems: Sequence[StorageError], limit: int
    ) -> Recalled:
        hits = sorted((hit for it in recalled for hit in it.hits), key=lambda hit: -hit.score)
        if hits:
            least = self._gap * hits[0].score
            hits = [hit for hit in hits if hit.score >= least]
        missed = sorted(
            (miss for answer in recalled for miss in answer.near_misses),
            key=lambda miss: -miss.score,
        )
        unread = [f"a store was not read: {problem}" for problem in problems]
        for note in unread:
            _log.warning(note)
        notes = [*(note for it in recalled for note in it.degraded), *unread]
        return replace(
            recalled[0],
            hits=tuple(hits[:limit]),
            degraded=tuple(dict.fromkeys(notes)),
            near_misses=tuple(missed[: max(len(it.near_misses) for it in recalled)]),
        )

    async def load(self, scopes: tuple[Scope, ...]) -> None:
        places, _ = split_reachable(scopes, self._holding)
        for recaller, some in places:
            await recaller.load(some)

    async def close(self) -> None:
        """Close the recaller at home; each of the others is closed by its own parts."""
        await self._home.close()

    def clear(self) -> None:
        self._home.clear()

    def stats(self) -> CacheStats:
        return self._home.stats()
