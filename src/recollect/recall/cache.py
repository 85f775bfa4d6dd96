"""The recall service, with a cache of answers that are valid until their scopes change."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from time import perf_counter
from typing import TYPE_CHECKING, Final, NamedTuple

from recollect.backends.sql.outage import LOST
from recollect.domain.caches import CacheStats
from recollect.domain.fields import checked_share, checked_text
from recollect.domain.filters import Filter
from recollect.domain.hit import Hit, Recalled
from recollect.domain.page import checked_limit
from recollect.domain.record import Record
from recollect.domain.scope import Scope
from recollect.domain.times import aware, in_zone, on_own_clocks
from recollect.domain.turn import Turn
from recollect.embedding.service import EmbeddingService
from recollect.errors import InvalidInput, StorageError
from recollect.ports.runtime import Clock, caller_waits
from recollect.ports.store import one_snapshot
from recollect.recall.intent import Judged
from recollect.recall.intent_model import IntentModel
from recollect.recall.local import AWAY, WAITING, local_hits
from recollect.recall.pipeline import Recall, RecallServices
from recollect.recall.question import Question
from recollect.recall.scan import scan
from recollect.recall.user_names import UserNames
from recollect.spool.service import Spool

if TYPE_CHECKING:
    # Reading JSON is only needed where answers are shared.
    from recollect.recall.shared_answers import SharedAnswers

MAX_QUERY: Final = 20_000
MAX_LIMIT: Final = 1_000
# A longer question is analysed in a thread: it takes more than a few milliseconds.
_MAX_INLINE_CHARS: Final = 2_000
_MAX_ANALYSIS_SECONDS: Final = 10.0
# It has everything that is read in a question, in both languages.
_ANY_QUESTION: Final = "Where did I say yesterday that I live? 我昨天说我住在哪里？"
# Longer answers are not cached.
_MAX_CACHED_CHARS: Final = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    recalled: Recalled
    until: datetime


class _Asked(NamedTuple):
    text: str
    scopes: tuple[Scope, ...]
    where: Filter
    limit: int
    min_score: float
    asked_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answers:
    """The cached answers for some scopes, valid at these versions of the scopes."""

    versions: tuple[int, ...]
    by_question: OrderedDict[Hashable, _Kept] = field(
        default_factory=OrderedDict[Hashable, _Kept], hash=False
    )


class CachedRecaller:
    """The recall of records and turns in some scopes, and of archives if asked.

    A write to a scope by any process invalidates its cached answers. The records in a cached answer
    may show an `access_count` that is a few minutes old: counting an access changes no answer.
    """

    def __init__(
        self,
        services: RecallServices,
        embedding: EmbeddingService,
        clock: Clock,
        intents: IntentModel | None = None,
        shared: SharedAnswers | None = None,
        spool: Spool | None = None,
        zone: tzinfo | None = None,
    ) -> None:
        self._spool = spool
        self._zone = zone
        self._services = services
        self._embedding = embedding
        self._clock = clock
        self._intents = intents
        # What other servers have answered, behind the answers of this one.
        self._shared = shared
        settings = services.settings
        self._lifetime = timedelta(seconds=settings.cache_seconds)
        self._size = settings.cache_size if settings.cache_seconds else 0
        # Grouped by scopes, so that a write drops every answer it made stale, not only those that
        # are asked for again.
        self._names = UserNames(services.store, clock)
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
        """Return the best hits that score at least `min_score`; there may be none."""
        began = perf_counter()
        services, settings = self._services, self._services.settings
        text = checked_text(text, "query", MAX_QUERY)
        limit = settings.limit if limit is None else checked_limit(limit, MAX_LIMIT)
        min_score = settings.min_score if min_score is None else checked_share(min_score)
        if asked_at is not None:
            aware(asked_at, "asked_at")
            asked_at = on_own_clocks(asked_at, self._zone)
        asked = _Asked(text, scopes, where, limit, min_score, asked_at)
        try:
            recalled = await self._recalled(asked)
        except StorageError as problem:
            if self._spool is None or problem.code not in LOST:
                raise
            recalled = self._with_waiting(asked, self._from_memory(asked))
        else:
            recalled = self._with_waiting(asked, recalled)
        services.meter.time("recall_seconds", perf_counter() - began)
        services.meter.add("recalls", label="hit" if recalled.hits else "empty")
        if recalled.degraded:
            services.meter.add("degraded_recalls")
        return recalled

    async def _recalled(self, asked: _Asked) -> Recalled:
        """Return the cached answer, or find one."""
        services, scopes, key = self._services, asked.scopes, self._key(asked)
        text, absence = asked.text, self._embedding.absence
        fresh: _Kept | None = None
        with caller_waits(), one_snapshot():
            # Read the versions first: a write during the search must make the answer stale.
            versions = await services.store.versions(scopes)
            recalled = self._cached(key, scopes, versions)
            if recalled is None and self._shared is not None and self._size:
                recalled = await self._take_shared(self._shared, text, key, scopes, versions)
            if recalled is None:
                question = Question(
                    text=asked.text,
                    scopes=scopes,
                    where=asked.where,
                    limit=asked.limit,
                    min_score=asked.min_score,
                    now=self._here(),
                    asked_at=asked.asked_at,
                    names=await self._names.told_in(scopes, versions),
                    forced=await self._intent(text),
                )
                if len(asked.text) > _MAX_INLINE_CHARS:
                    await _analyse(question)
                if asked.where.is_indexed:
                    recalled = await Recall(services, question).run()
                else:
                    recalled = await scan(question, services.store, services.units)
                # Any other failure may be gone the next time, so that answer is not cached.
                if all(note == absence for note in recalled.degraded):
                    fresh = self._keep(key, recalled, scopes, versions)
        if fresh is not None and self._shared is not None:
            self._shared.keep(text, key, scopes, versions, fresh.recalled, fresh.until)
        return recalled

    def _key(self, asked: _Asked) -> Hashable:
        # A question without a time is asked today, which decides what "yesterday" means, as the
        # offset does. An answer found without a model is valid only while there is none.
        day = asked.asked_at or self._here().replace(hour=0, minute=0, second=0, microsecond=0)
        return asked.text, *asked[2:5], day.isoformat(), self._embedding.absence

    def _here(self) -> datetime:
        """Return the time on the clocks of who asks."""
        return in_zone(self._clock.now(), self._zone)

    def _from_memory(self, asked: _Asked) -> Recalled:
        """Answer from what was recalled in this process before: the server is away."""
        answers = self._answers.get(asked.scopes)
        kept = None if answers is None else answers.by_question.get(self._key(asked))
        if kept is not None and self._clock.now() < kept.until:
            return replace(kept.recalled, degraded=(*kept.recalled.degraded, AWAY))
        known = [
            hit.item
            for answers in self._answers.values()
            for kept in answers.by_question.values()
            for hit in kept.recalled
            if isinstance(hit.item, Record | Turn)
        ]
        return Recalled(hits=tuple(self._among(asked, known)[: asked.limit]), degraded=(AWAY,))

    def _with_waiting(self, asked: _Asked, recalled: Recalled) -> Recalled:
        """Return the answer with what waits for the server."""
        waiting = [] if self._spool is None else self._spool.items(asked.scopes)
        found = self._among(asked, waiting)
        known = {hit.id for hit in recalled}
        new = [hit for hit in found if hit.id not in known]
        if not new:
            return recalled
        hits = sorted((*recalled.hits, *new), key=lambda hit: -hit.score)[: asked.limit]
        return replace(recalled, hits=tuple(hits), degraded=(*recalled.degraded, WAITING))

    def _among(self, asked: _Asked, items: Sequence[Record | Turn]) -> list[Hit]:
        return local_hits(
            asked.text,
            asked.scopes,
            asked.where,
            items,
            now=self._clock.now(),
            min_score=asked.min_score,
        )

    async def load(self, scopes: tuple[Scope, ...]) -> None:
        """Load the models and the index of some scopes, so that the first question finds them."""
        min_score = self._services.settings.min_score
        asked = Question(
            text=_ANY_QUESTION, scopes=scopes, limit=1, min_score=min_score, now=self._clock.now()
        )
        # In a thread, because callers would wait for the patterns that are compiled.
        await asyncio.to_thread(asked.analyse)
        if self._services.answering is not None:
            await self._services.answering.load()
        with one_snapshot():
            await Recall(self._services, asked).run()

    async def close(self) -> None:
        if self._intents is not None:
            await self._intents.close()
        if self._shared is not None:
            await self._shared.close()

    def drop(self, scopes: Iterable[Scope]) -> None:
        """Drop the answers for scopes that were written to, before anybody asks again."""
        changed = set(scopes)
        for known in [known for known in self._answers if not changed.isdisjoint(known)]:
            self._drop(known)

    def clear(self) -> None:
        """Drop every answer, because something they may contain was forgotten."""
        self._answers.clear()
        self._count = 0
        if self._services.answering is not None:
            self._services.answering.forget()

    def stats(self) -> CacheStats:
        return CacheStats(hits=self._hits, misses=self._misses, entries=self._count)

    async def _intent(self, text: str) -> Judged | None:
        """Return the intent that is set or that a model tells; None = as rules judge."""
        intent = self._services.settings.intent
        if intent != "auto":
            return Judged(intent=intent, reason="set")
        return None if self._intents is None else await self._intents.judge(text)

    def _cached(
        self, key: Hashable, scopes: tuple[Scope, ...], versions: tuple[int, ...]
    ) -> Recalled | None:
        """Return the cached answer if it is still valid."""
        if self._size:
            answers = self._valid_answers(scopes, versions)
            kept = answers.get(key)
            if kept is not None and self._clock.now() < kept.until:
                self._hits += 1
                answers.move_to_end(key)
                return kept.recalled
        self._misses += 1
        return None

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
        until: datetime | None = None,
    ) -> _Kept | None:
        """Cache an answer until then, by default as long as answers are cached."""
        if not self._size or sum(len(hit.content) for hit in recalled) > _MAX_CACHED_CHARS:
            return None
        answers = self._valid_answers(scopes, versions)
        if until is None:
            until = min([self._clock.now() + self._lifetime, *_expiry_times(recalled)])
        self._count += key not in answers
        kept = answers[key] = _Kept(recalled=recalled, until=until)
        answers.move_to_end(key)
        while self._count > self._size:
            self._drop_oldest()
        return kept

    async def _take_shared(
        self,
        shared: SharedAnswers,
        text: str,
        key: Hashable,
        scopes: tuple[Scope, ...],
        versions: tuple[int, ...],
    ) -> Recalled | None:
        """Return the answer of another server if it is still valid, and keep it here too."""
        found = await shared.find(text, key, scopes, versions)
        if found is None:
            return None
        self._keep(key, found.recalled, scopes, versions, found.until)
        return found.recalled

    def _drop_oldest(self) -> None:
        """Drop the oldest answer of the least recently used scopes."""
        scopes, answers = next(iter(self._answers.items()))
        if answers.by_question:
            answers.by_question.popitem(last=False)
            self._count -= 1
        else:
            self._drop(scopes)

    def _drop(self, scopes: tuple[Scope, ...]) -> None:
        dropped = self._answers.pop(scopes, None)
        self._count -= len(dropped.by_question) if dropped is not None else 0


def _expiry_times(recalled: Recalled) -> list[datetime]:
    """Return the times at which records of the answer expire."""
    records = (hit.record for hit in recalled)
    return [
        record.expires_at
        for record in records
        if record is not None and record.expires_at is not None
    ]


async def _analyse(question: Question) -> None:
    """Read a long question in another thread, so that others are answered in between."""
    try:
        async with asyncio.timeout(_MAX_ANALYSIS_SECONDS):
            await asyncio.to_thread(question.analyse)
    except TimeoutError:
        raise InvalidInput(
            f"The query takes more than {_MAX_ANALYSIS_SECONDS:g} seconds to be read",
            code="query_too_slow",
            hint="Ask in fewer words.",
        ) from None
