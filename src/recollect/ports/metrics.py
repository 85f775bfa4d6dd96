"""Where hourly totals are kept."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from recollect.domain.meter import CounterName


class MetricHours(Protocol):
    """What all processes on this database counted, hour by hour."""

    async def add(
        self, hour: datetime, counted: Mapping[CounterName, float], *, keep_since: datetime
    ) -> None:
        """Add to the totals of an hour; those before `keep_since` go."""
        ...

    async def read(
        self, since: datetime, until: datetime
    ) -> Mapping[datetime, Mapping[CounterName, float]]:
        """Return the totals of the hours that began in this time."""
        ...
