"""Statistics of a memory: what is stored, its health, and hourly metrics."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from recollect.domain.caches import CacheStats
from recollect.domain.filters import Filter
from recollect.domain.meter import (
    CounterName,
    Meter,
    MetricFigures,
    MetricPoint,
    Metrics,
    figures_of,
    summed,
)
from recollect.domain.model_tier import ModelUsage
from recollect.domain.record import Record
from recollect.domain.scope import Holding, Scope, split
from recollect.domain.stats import (
    DuplicatePair,
    Health,
    HealthFigures,
    RedisStats,
    SpoolStats,
    Stats,
)
from recollect.domain.times import aware
from recollect.domain.unit import RECORD, UNIT_OWNERS
from recollect.embedding.service import EmbeddingService
from recollect.errors import InvalidInput, RecollectError
from recollect.language.analysis import term_keys, terms
from recollect.ports.jobs import Jobs
from recollect.ports.judge import Statement
from recollect.ports.runtime import Clock
from recollect.ports.store import Store
from recollect.ports.units import UnitIndex, VectorIndex
from recollect.recall.cache import CachedRecaller
from recollect.spool.service import Spool
from recollect.writing.judges import JudgeChain, certainly_same

if TYPE_CHECKING:
    from recollect.backends.sql.maintenance import SqlMaintenance
    from recollect.followers.following import Following
    from recollect.health.figures import SqlHealth
    from recollect.health.metric_hours import SqlMetricHours

# --- The health of a memory: figures from the database, and suspected duplicates ------------------
# Only the latest records are compared, each with the few that share most words with it: comparing
# every pair would take too long.

_MAX_COMPARED: Final = 200
_MANY_RECORDS: Final = 50
_MAX_NEIGHBOURS: Final = 3
# Turns are also found beside the records that were extracted from them, and are skipped.
_MAX_UNITS: Final = 50
_RECORD: Final = UNIT_OWNERS.index(RECORD)
# A claim shows in its beginning what it is about.
_READ_CHARS: Final = 300
_ONLY_RECORDS: Final = Filter(owners=frozenset({"record"}))


@dataclass(eq=False)
class HealthCheck:
    """Examines what a caller may read."""

    _store: Store
    _rows: SqlHealth
    _units: Holding[UnitIndex]
    _clock: Clock
    _capacity: int | None

    async def health(self, scopes: Sequence[Scope], *, compare: bool = True) -> Health:
        """Return the health of these scopes; with `compare`, look for duplicates too."""
        now = self._clock.now()
        figures = await self._rows.figures(scopes, now=now)
        latest: Sequence[Record] = ()
        if compare:
            latest = await self._store.records(scopes, _ONLY_RECORDS, now=now, limit=_MAX_COMPARED)
        pairs = await self._alike(latest, now) if latest else []
        return Health(
            **{field.name: getattr(figures, field.name) for field in fields(HealthFigures)},
            suspected_duplicates=len(pairs),
            duplicates=tuple(pairs),
            compared=len(latest),
            capacity=self._capacity,
        )

    async def _alike(self, latest: Sequence[Record], now: datetime) -> list[DuplicatePair]:
        """Return pairs with the same words and pairs judged to say the same."""
        pairs: dict[tuple[str, str], None] = {}
        if len(latest) >= _MANY_RECORDS:
            for units, some in split({record.scope for record in latest}, self._units):
                await units.expect_many(some)
        for record in latest:
            for other in await self._neighbours(record, now):
                pairs[min(record.id, other), max(record.id, other)] = None
        linked = await self._linked(latest)
        records = await self._with_others(latest, [*pairs, *linked], now)
        alike = {
            pair: 1.0
            for pair in pairs
            if all(record_id in records for record_id in pair)
            and certainly_same(*(_comparable_text(records[record_id]) for record_id in pair))
        }
        alike |= {
            pair: probability
            for pair, probability in linked.items()
            if all(one in records for one in pair)
        }
        return [
            DuplicatePair(first=one, second=other, probability=likely)
            for (one, other), likely in alike.items()
        ]

    async def _linked(self, latest: Sequence[Record]) -> dict[tuple[str, str], float]:
        """Return the pairs that a judge linked as the same, with their probability."""
        scopes = list({record.scope for record in latest})
        links = await self._store.links(scopes, [record.id for record in latest])
        return {
            (min(link.ends), max(link.ends)): link.probability
            for link in links
            if link.relation == "same"
        }

    async def _neighbours(self, record: Record, now: datetime) -> list[str]:
        """Return the records of the same scope that share most words with it."""
        keys = list(term_keys(terms(record.content[:_READ_CHARS])))
        found = await self._units(record.scope).search([record.scope], keys, _MAX_UNITS, now=now)
        owners = found.column("owner")[found.column("kind") == _RECORD].tolist()
        return [owner for owner in dict.fromkeys(owners) if owner != record.id][:_MAX_NEIGHBOURS]

    async def _with_others(
        self, latest: Sequence[Record], pairs: Iterable[tuple[str, str]], now: datetime
    ) -> dict[str, Record]:
        records = {record.id: record for record in latest}
        missing = {one for pair in pairs for one in pair if one not in records}
        scopes = list({record.scope for record in latest})
        more = await self._store.records(scopes, _ONLY_RECORDS, now=now, ids=sorted(missing))
        return records | {record.id: record for record in more}


def _comparable_text(record: Record) -> Statement:
    return Statement(text=record.content, said_at=record.last_confirmed)


# --- Hourly metrics of all processes, kept for 30 days --------------------------------------------

KEPT: Final = timedelta(days=30)
_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
_INTERVAL_SECONDS: Final = 60.0
_MAX_POINTS: Final = 1_000

_log = logging.getLogger(__name__)


@dataclass(eq=False)
class MetricsKeeper:
    """Stores the counters of this process once a minute, and adds up those of all processes."""

    _meter: Meter
    _hours: SqlMetricHours
    _clock: Clock
    # Collects counters that other parts keep themselves.
    _take_over: Callable[[Meter], None]
    # The keepers of all open stores, this one among them.
    _every: Callable[[], Sequence[MetricsKeeper]]
    _written: dict[CounterName, float] = field(default_factory=dict[CounterName, float], init=False)
    _writing: asyncio.Task[None] | None = field(default=None, init=False)
    _one_by_one: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    def start(self) -> None:
        """Start to store counters periodically."""
        self._writing = asyncio.create_task(self._write_for_ever(), name="recollect-metrics")

    async def close(self) -> None:
        """Store the rest and stop; a process that ran only for a moment stores nothing."""
        if self._writing is None:
            return
        self._writing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._writing
        self._writing = None
        await self._flush_or_tell()

    async def flush(self) -> None:
        """Store what was counted since the last time."""
        async with self._one_by_one:
            self._take_over(self._meter)
            now, totals = self._clock.now(), self._meter.totals()
            news = {
                name: value - self._written.get(name, 0.0)
                for name, value in totals.items()
                if value != self._written.get(name, 0.0)
            }
            if not news:
                return
            await self._hours.add(_hour_of(now), news, keep_since=now - KEPT)
            self._written = totals

    async def read(
        self, since: datetime | None, until: datetime | None, step_hours: int
    ) -> Metrics:
        """Return the metrics of a period, by default the last day."""
        now = self._clock.now()
        end = now if until is None else aware(until, "until")
        begin = end - _DAY if since is None else aware(since, "since")
        if begin >= end:
            raise InvalidInput("since is not before until", code="bad_time")
        begin, step = _hour_of(begin), _HOUR * step_hours
        if not 1 <= step_hours <= KEPT // _HOUR:
            raise InvalidInput("step is 1 to 720 hours", code="out_of_range")
        if (end - begin) / step > _MAX_POINTS:
            raise InvalidInput(
                f"That is more than {_MAX_POINTS:,} steps",
                code="out_of_range",
                hint="Use a longer step or a shorter time.",
            )
        found = await self._counted(begin, end)
        points: list[MetricPoint] = []
        at = begin
        while at < end:
            counted = summed(it for hour, it in found.items() if at <= hour < at + step)
            points.append(MetricPoint(at=at, figures=figures_of(counted), counters=_named(counted)))
            at += step
        return Metrics(
            since=begin,
            until=end,
            step_hours=step_hours,
            total=figures_of(summed(found.values())),
            points=tuple(points),
        )

    async def last_day(self) -> MetricFigures:
        """Return the figures of the last 24 hours."""
        now = self._clock.now()
        return figures_of(summed((await self._counted(now - _DAY, now)).values()))

    async def _counted(
        self, since: datetime, until: datetime
    ) -> Mapping[datetime, Mapping[CounterName, float]]:
        """Return the counters of all open stores, by hour."""
        found: dict[datetime, list[Mapping[CounterName, float]]] = {}
        for keeper in self._every():
            await keeper.flush()
            for hour, counted in (await keeper._hours.read(since, until)).items():
                found.setdefault(hour, []).append(counted)
        return {hour: summed(counted) for hour, counted in found.items()}

    async def _write_for_ever(self) -> None:
        while True:
            await asyncio.sleep(_INTERVAL_SECONDS)
            await self._flush_or_tell()

    async def _flush_or_tell(self) -> None:
        try:
            await self.flush()
        except RecollectError as problem:
            _log.warning("what was counted is not written down yet: %s", problem)


def _hour_of(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)


def _named(counted: dict[CounterName, float]) -> dict[str, float]:
    return {
        f"{name}:{label}" if label else name: round(value, 6)
        for (name, label), value in sorted(counted.items())
    }


# --- Statistics about what is stored and the state of the services --------------------------------


@dataclass(eq=False)
class StatisticsCollector:
    """Collects the statistics of every service."""

    _store: Store
    _jobs: Jobs
    _maintenance: SqlMaintenance
    _units: UnitIndex
    _vectors: VectorIndex
    _recaller: CachedRecaller
    _embedding: EmbeddingService
    _embedding_cache: Callable[[], CacheStats]
    _summary_cache: Callable[[], CacheStats]
    _models: Callable[[], tuple[ModelUsage, ...]]
    _judge: Callable[[], JudgeChain]
    _metrics: MetricsKeeper
    _redis: Callable[[], RedisStats | None]
    _followings: Callable[[], Iterable[Following]]
    _spool: Spool | None = None

    async def stats(self, scopes: Sequence[Scope]) -> Stats:
        """Return what these scopes hold and the state of the services."""
        model = self._embedding.model
        return Stats(
            store=await self._store.counts(scopes),
            jobs=await self._jobs.counts(),
            keyword_index=self._units.stats(),
            vector_index=self._vectors.stats(),
            recall_cache=self._recaller.stats(),
            embedding_cache=self._embedding_cache(),
            summary_cache=self._summary_cache(),
            embedder="none" if model is None else model.name,
            database_bytes=await self._maintenance.size(),
            models=self._models(),
            judge=self._judge().name,
            judged=self._judge().counts,
            last_day=await self._metrics.last_day(),
            followers=tuple([await following.state() for following in self._followings()]),
            spool=SpoolStats() if self._spool is None else self._spool.stats(),
            redis=self._redis(),
        )
