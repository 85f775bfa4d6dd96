"""Answers of recalls, kept for a few minutes and only while nothing was written in their scopes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from recollect.domain.fields import checked_share, checked_text
from recollect.domain.filters import Filter
from recollect.domain.hit import Recalled
from recollect.domain.page import checked_limit
from recollect.domain.scope import Scope
from recollect.domain.stats import CacheStats
from recollect.domain.times import aware
from recollect.ports.clock import Clock
from recollect.ports.store import Store
from recollect.recall.meaning import Meaning
from recollect.recall.pipeline import MAX_LIMIT, MAX_QUERY, Recaller

# An answer with more characters is found again instead of being kept.
_LARGEST: Final = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheOptions:
    """How long answers are kept, and how many; 0 keeps none."""

    seconds: float = 300
    size: int = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    recalled: Recalled
    versions: tuple[int, ...]
    until: datetime


class CachedRecaller:
    """A recaller that remembers. Any write in a scope, by whatever process, makes it ask again.

    The records in a kept answer may show an `access_count` that is a few minutes old: being
    counted changes no answer.
    """

    def __init__(
        self,
        recaller: Recaller,
        store: Store,
        meaning: Meaning,
        clock: Clock,
        options: CacheOptions,
    ) -> None:
        self._recaller = recaller
        self._store = store
        self._meaning = meaning
        self._clock = clock
        self._lifetime = timedelta(seconds=options.seconds)
        self._size = options.size if options.seconds else 0
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._hits = 0
        self._misses = 0

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
        """What the recaller answers, or answered lately."""
        if not self._size:
            self._misses += 1
            return await self._recaller.recall(
                text, scopes, where, limit=limit, min_score=min_score, asked_at=asked_at
            )
        absence = self._meaning.absence
        key = (
            checked_text(text, "query", MAX_QUERY),
            scopes,
            where,
            None if limit is None else checked_limit(limit, MAX_LIMIT),
            None if min_score is None else checked_share(min_score),
            # Without a time of its own a question is asked today: that is what "yesterday" needs.
            self._clock.now().date() if asked_at is None else aware(asked_at, "asked_at"),
            # An answer that was found without a model stands only while there is none.
            absence,
        )
        # Read first: what is written while the answer is looked for makes it outdated.
        versions = await self._store.versions(scopes)
        kept = self._kept.get(key)
        if kept is not None and kept.versions == versions and self._clock.now() < kept.until:
            self._hits += 1
            self._kept.move_to_end(key)
            return kept.recalled
        self._misses += 1
        recalled = await self._recaller.recall(
            text, scopes, where, limit=limit, min_score=min_score, asked_at=asked_at
        )
        # Whatever else went wrong may go well the next time.
        if all(note == absence for note in recalled.degraded) and _size(recalled) <= _LARGEST:
            self._keep(key, recalled, versions)
        return recalled

    async def close(self) -> None:
        await self._recaller.close()

    def clear(self) -> None:
        """Let go of every answer: something that one of them says is forgotten."""
        self._kept.clear()

    def stats(self) -> CacheStats:
        return CacheStats(hits=self._hits, misses=self._misses, entries=len(self._kept))

    def _keep(self, key: Hashable, recalled: Recalled, versions: tuple[int, ...]) -> None:
        until = min([self._clock.now() + self._lifetime, *_ends(recalled)])
        self._kept[key] = _Kept(recalled=recalled, versions=versions, until=until)
        self._kept.move_to_end(key)
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)


def _ends(recalled: Recalled) -> list[datetime]:
    """When records of the answer expire."""
    records = (hit.record for hit in recalled)
    return [it.expires_at for it in records if it is not None and it.expires_at is not None]


def _size(recalled: Recalled) -> int:
    return sum(len(hit.content) for hit in recalled)
