"""Recall for an agent with a store of its own: its store and the common one, in one answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from recollect.domain.filters import Filter
from recollect.domain.hit import Recalled
from recollect.domain.scope import Scope
from recollect.domain.stats import CacheStats
from recollect.recall.cache import CachedRecaller


class SplitRecaller(CachedRecaller):
    """A recaller over two stores that keeps the best hits of both.

    Scores are absolute from 0 to 1 in every store, so they can be compared.
    """

    def __init__(
        self,
        own: CachedRecaller,
        common: CachedRecaller,
        holds: Callable[[Scope], bool],
        *,
        limit: int,
        gap: float,
    ) -> None:
        self._own = own
        self._common = common
        self._holds = holds
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
        own = tuple(filter(self._holds, scopes))
        common = tuple(scope for scope in scopes if scope not in own)
        recalled = await asyncio.gather(
            *(
                recaller.recall(
                    text, some, where, limit=limit, min_score=min_score, asked_at=asked_at
                )
                for recaller, some in ((self._own, own), (self._common, common))
                if some
            )
        )
        if len(recalled) == 1:
            return recalled[0]
        return self._merge(recalled, self._limit if limit is None else limit)

    def _merge(self, recalled: list[Recalled], limit: int) -> Recalled:
        hits = sorted(
            (hit for answer in recalled for hit in answer.hits), key=lambda hit: -hit.score
        )
        if hits:
            least = self._gap * hits[0].score
            hits = [hit for hit in hits if hit.score >= least]
        missed = sorted(
            (miss for answer in recalled for miss in answer.near_misses),
            key=lambda miss: -miss.score,
        )
        return replace(
            recalled[0],
            hits=tuple(hits[:limit]),
            degraded=tuple(dict.fromkeys(note for answer in recalled for note in answer.degraded)),
            near_misses=tuple(missed[: max(len(answer.near_misses) for answer in recalled)]),
        )

    async def close(self) -> None:
        """Close the agent's recaller; others still use the common one."""
        await self._own.close()

    def clear(self) -> None:
        self._own.clear()
        self._common.clear()

    def stats(self) -> CacheStats:
        return self._own.stats()
