"""Answers of recalls, kept for a few minutes and only while nothing was written in their scopes."""

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
from recollect.domain.stats import CacheStats
from recollect.domain.times import aware
from recollect.ports.clock import Clock
from recollect.ports.snapshot import one_snapshot
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
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answers:
    """The answers about some scopes that are right at these versions of them."""

    versions: tuple[int, ...]
    by_question: OrderedDict[Hashable, _Kept] = field(
        default_factory=OrderedDict[Hashable, _Kept], hash=False
    )


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
        meter: Meter | None = None,
    ) -> None:
        self._recaller = recaller
        self._store = store
        self._meaning = meaning
        self._clock = clock
        self._meter = meter or Meter()
        self._lifetime = timedelta(seconds=options.seconds)
        self._size = options.size if options.seconds else 0
        # By scopes, so that a write lets go of all that it made outdated, not only of what happens
        # to be asked again.
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
        """Return what the recaller answers, or answered lately."""
        began = perf_counter()
        with one_snapshot():
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
            # Without a time of its own a question is asked today: that is what "yesterday" needs.
            self._clock.now().date() if asked_at is None else aware(asked_at, "asked_at"),
            # An answer that was found without a model stands only while there is none.
            absence,
        )
        # Read first: what is written while the answer is looked for makes it outdated.
        versions = await self._store.versions(scopes)
        answers = self._at(scopes, versions)
        kept = answers.get(key)
        if kept is not None and self._clock.now() < kept.until:
            self._hits += 1
            answers.move_to_end(key)
            return kept.recalled
        self._misses += 1
        recalled = await self._recaller.recall(
            text, scopes, where, limit=limit, min_score=min_score, asked_at=asked_at
        )
        # Whatever else went wrong may go well the next time.
        if all(note == absence for note in recalled.degraded) and _size(recalled) <= _LARGEST:
            self._keep(key, recalled, scopes, versions)
        return recalled

    async def close(self) -> None:
        await self._recaller.close()

    def clear(self) -> None:
        """Let go of every answer: something that one of them says is forgotten."""
        self._answers.clear()
        self._count = 0

    def stats(self) -> CacheStats:
        return CacheStats(hits=self._hits, misses=self._misses, entries=self._count)

    def _at(
        self, scopes: tuple[Scope, ...], versions: tuple[int, ...]
    ) -> OrderedDict[Hashable, _Kept]:
        """The answers that are still right, as those that were needed last."""
        answers = self._answers.get(scopes)
        if answers is None or answers.versions != versions:
            self._let_go(scopes)
            answers = self._answers[scopes] = _Answers(versions=versions)
            if len(self._answers) > self._size:
                # Not every answer is kept: there may be more scopes than answers.
                self._let_go(next(iter(self._answers)))
        self._answers.move_to_end(scopes)
        return answers.by_question

    def _keep(
        self,
        key: Hashable,
        recalled: Recalled,
        scopes: tuple[Scope, ...],
        versions: tuple[int, ...],
    ) -> None:
        answers = self._at(scopes, versions)
        until = min([self._clock.now() + self._lifetime, *_ends(recalled)])
        self._count += key not in answers
        answers[key] = _Kept(recalled=recalled, until=until)
        answers.move_to_end(key)
        while self._count > self._size:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        """Let go of the oldest answer about the scopes that nobody asked about for longest."""
        scopes, answers = next(iter(self._answers.items()))
        if answers.by_question:
            answers.by_question.popitem(last=False)
            self._count -= 1
        else:
            self._let_go(scopes)

    def _let_go(self, scopes: tuple[Scope, ...]) -> None:
        outdated = self._answers.pop(scopes, None)
        self._count -= len(outdated.by_question) if outdated is not None else 0


def _ends(recalled: Recalled) -> list[datetime]:
    """When records of the answer expire."""
    records = (hit.record for hit in recalled)
    return [it.expires_at for it in records if it is not None and it.expires_at is not None]


def _size(recalled: Recalled) -> int:
    return sum(len(hit.content) for hit in recalled)
