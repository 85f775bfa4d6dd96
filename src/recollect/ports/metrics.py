"""Storage of hourly totals."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from recollect.domain.meter import CounterName


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
