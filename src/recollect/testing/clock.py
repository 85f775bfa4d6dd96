"""A clock for tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class ManualClock:
    """A clock that stands still until it is turned."""

    def __init__(self) -> None:
        self.time = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time

    def turn(self, **by: float) -> datetime:
        """Add to the time; the arguments are those of `timedelta`."""
        self.time += timedelta(**by)
        return self.time
