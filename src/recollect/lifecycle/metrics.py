"""Hourly metrics of all processes, kept for 30 days."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, Protocol

from recollect.domain.meter import (
    CounterName,
    Meter,
    MetricFigures,
    MetricPoint,
    Metrics,
    figures_of,
    summed,
)
from recollect.domain.times import aware
from recollect.errors import InvalidInput, RecollectError
from recollect.ports.clock import Clock

KEPT: Final = timedelta(days=30)
_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
_INTERVAL_SECONDS: Final = 60.0
_MAX_POINTS: Final = 1_000

_log = logging.getLogger(__name__)


class MetricsKeeper:
    """Stores the counters of this process once a minute, and adds up those of all processes."""

    def __init__(
        self,
        meter: Meter,
        hours: MetricHours,
        clock: Clock,
        take_over: Callable[[Meter], None],
        every: Callable[[], Sequence[MetricsKeeper]],
    ) -> None:
        self._meter = meter
        self._hours = hours
        self._clock = clock
        # Collects counters that other parts keep themselves.
        self._take_over = take_over
        # The keepers of all open stores, this one among them.
        self._every = every
        self._written: dict[CounterName, float] = {}
        self._writing: asyncio.Task[None] | None = None
        self._one_by_one = asyncio.Lock()

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


# --- Storage of hourly totals ---------------------------------------------------------------------


class MetricHours(Protocol):
    """The counters of all processes on this database, by hour."""

    async def add(
        self, hour: datetime, counted: Mapping[CounterName, float], *, keep_since: datetime
    ) -> None:
        """Add to the totals of an hour, and remove those before `keep_since`."""
        ...

    async def read(
        self, since: datetime, until: datetime
    ) -> Mapping[datetime, Mapping[CounterName, float]]:
        """Return the totals of the hours that began in this period."""
        ...
