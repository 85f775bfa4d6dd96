"""A cache of recall results, valid for a few minutes and only until their scopes change."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import perf_counter
from typing import Final

from recollect.domain.fields import checked_share, checked_text
from recollect.domain.filters import Filter
from recollect.domain.hit import Recalled
from recollect.domain.meter import Meter
from recollect.domain.page import checked_limit
from recollect.domain.scope import Scope
from recollect.domain.sections import RecallSettings
from recollect.domain.stats import CacheStats
from recollect.domain.times import aware
from recollect.ports.runtime import Clock, caller_waits
from recollect.ports.store import Store, one_snapshot
from recollect.recall.meaning import EmbeddingService
from recollect.recall.pipeline import MAX_LIMIT, MAX_QUERY, Recaller

# Longer answers are not cached.
_MAX_CACHED_CHARS: Final = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    recalled: Recalled
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answers:
    """The cached answers for some scopes, valid at these versions of the scopes."""

    versions: tuple[int, ...]
    by_question: OrderedDict[Hashable, _Kept] = field(
        default_factory=OrderedDict[Hashable, _Kept], hash=False
    )


class CachedRecaller:
    """A recaller with a cache. A write to a scope by any process invalidates its answers.

    The records in a cached answer may show an `access_count` that is a few minutes old: counting an
    access changes no answer.
    """

    def __init__(
        self,
        recaller: Recaller,
        store: Store,
        meaning: EmbeddingService,
        clock: Clock,
        settings: RecallSettings,
        meter: Meter | None = None,
    ) -> None:
        self._recaller = recaller
        self._store = store
        self._meaning = meaning
        self._clock = clock
        self._meter = meter or Meter()
        self._lifetime = timedelta(seconds=settings.cache_seconds)
        self._size = settings.cache_size if settings.cache_seconds else 0
        # Grouped by scopes, so that a write drops every answer it made stale, not only those that
        # are asked for again.
        self._answers: OrderedDict[tuple[Scope, ...], _Answers] = OrderedDict()
        self._count = 0
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
        """Return the recaller's answer, from the cache if it is still valid."""
        began = perf_counter()
        with caller_waits(), one_snapshot():
            recalled = await self._recall(text, scopes, where, limit, min_score, asked_at)
        self._meter.time("recall_seconds", perf_counter() - began)
        self._meter.add("recalls", label="hit" if recalled.hits else "empty")
        if recalled.degraded:
            self._meter.add("degraded_recalls")
        return recalled

    async def _recall(
        self,
        text: str,
        scopes: tuple[Scope, ...],
        where: Filter,
        limit: int | None,
        min_score: float | None,
        asked_at: datetime | None,
    ) -> Recalled:
        if not self._size:
            self._misses += 1
            return await self._recaller.recall(
                text, scopes, where, limit=limit, min_score=min_score, asked_at=asked_at
            )
        absence = self._meaning.absence
        key = (
            checked_text(text, "query", MAX_QUERY),
            where,
            None if limit is None else checked_limit(limit, MAX_LIMIT),
            None if min_score is None else checked_share(min_score),
            # A question without a time is asked today, which decides what "yesterday" means.
            self._clock.now().date() if asked_at is None else aware(asked_at, "asked_at"),
            # An answer found without a model is valid only while there is none.
            absence,
        )
        # Read the versions first: a write during the search must make the answer stale.
        versions = await self._store.versions(scopes)
        answers = self._valid_answers(scopes, versions)
        kept = answers.get(key)
        if kept is not None and self._clock.now() < kept.until:
            self._hits += 1
            answers.move_to_end(key)
            return kept.recalled
        self._misses += 1
        recalled = await self._recaller.recall(
            text, scopes, where, limit=limit, min_score=min_score, asked_at=asked_at
        )
        # Any other failure may be gone the next time, so that answer is not cached.
        if (
            all(note == absence for note in recalled.degraded)
            and _char_count(recalled) <= _MAX_CACHED_CHARS
        ):
            self._keep(key, recalled, scopes, versions)
        return recalled

    async def load(self, scopes: tuple[Scope, ...]) -> None:
        """Load what the first question about these scopes needs."""
        with one_snapshot():
            await self._recaller.load(scopes)

    async def close(self) -> None:
        await self._recaller.close()

    def clear(self) -> None:
        """Drop every answer, because something they may contain was forgotten."""
        self._answers.clear()
        self._count = 0

    def stats(self) -> CacheStats:
        return CacheStats(hits=self._hits, misses=self._misses, entries=self._count)

    def _valid_answers(
        self, scopes: tuple[Scope, ...], versions: tuple[int, ...]
    ) -> OrderedDict[Hashable, _Kept]:
        """Return the valid answers for these scopes and mark them as recently used."""
        answers = self._answers.get(scopes)
        if answers is None or answers.versions != versions:
            self._drop(scopes)
            answers = self._answers[scopes] = _Answers(versions=versions)
            if len(self._answers) > self._size:
                # Scopes without answers count too, so that their number is bounded.
                self._drop(next(iter(self._answers)))
        self._answers.move_to_end(scopes)
        return answers.by_question

    def _keep(
        self,
        key: Hashable,
        recalled: Recalled,
        scopes: tuple[Scope, ...],
        versions: tuple[int, ...],
    ) -> None:
        answers = self._valid_answers(scopes, versions)
        until = min([self._clock.now() + self._lifetime, *_expiry_times(recalled)])
        self._count += key not in answers
        answers[key] = _Kept(recalled=recalled, until=until)
        answers.move_to_end(key)
        while self._count > self._size:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        """Drop the oldest answer of the least recently used scopes."""
        scopes, answers = next(iter(self._answers.items()))
        if answers.by_question:
            answers.by_question.popitem(last=False)
            self._count -= 1
        else:
            self._drop(scopes)

    def _drop(self, scopes: tuple[Scope, ...]) -> None:
        outdated = self._answers.pop(scopes, None)
        self._count -= len(outdated.by_question) if outdated is not None else 0


def _expiry_times(recalled: Recalled) -> list[datetime]:
    """Return the times at which records of the answer expire."""
    records = (hit.record for hit in recalled)
    return [
        record.expires_at
        for record in records
        if record is not None and record.expires_at is not None
    ]


def _char_count(recalled: Recalled) -> int:
    return sum(len(hit.content) for hit in recalled)
