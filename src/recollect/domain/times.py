"""Times: aware datetimes in the API, UTC microseconds in storage."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, cast
from zoneinfo import ZoneInfo

from recollect.errors import InvalidInput

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
_LATEST: Final = datetime.max.replace(tzinfo=UTC)


def to_micros(moment: datetime) -> int:
    """Return the exact microseconds since 1970."""
    return (moment - EPOCH) // _MICROSECOND


def in_zone(moment: datetime, zone: tzinfo | None) -> datetime:
    """Return the moment in a time zone, which tells what day it was; None is this machine's."""
    try:
        return moment.astimezone(zone)
    except (OverflowError, OSError, ValueError):
        return moment


def on_own_clocks(moment: datetime, zone: tzinfo | None) -> datetime:
    """Return the moment on the clocks of who gives it, else on those of a time zone.

    Programs give their times in UTC wherever they run, so that says nothing.
    """
    return moment if minutes_from_utc(moment) else in_zone(moment, zone)


def zone_of(name: str) -> tzinfo | None:
    """Return the time zone of a name ("Asia/Shanghai") or an offset ("+08:00"); None if empty."""
    try:
        if name[:1] in ("+", "-"):
            return datetime.strptime(name, "%z").tzinfo
        return ZoneInfo(name) if name else None
    except (ValueError, OSError, LookupError):
        raise InvalidInput(
            f"{name!r} is no time zone",
            code="unknown_value",
            hint="Write it as Asia/Shanghai or +08:00.",
        ) from None


def minutes_from_utc(moment: datetime) -> int:
    """Return how many minutes the clocks are ahead of UTC in the moment's own time zone."""
    return (moment.utcoffset() or timedelta()) // timedelta(minutes=1)


def from_micros(micros: int) -> datetime:
    return EPOCH + timedelta(microseconds=micros)


def shifted(moment: datetime, by: timedelta) -> datetime:
    """Return the moment shifted by a duration, limited to the first and last possible one."""
    try:
        return moment + by
    except OverflowError:
        return _EARLIEST if by < timedelta() else _LATEST


def moment_of(value: object, name: str = "time") -> datetime:
    """Return the UTC moment of a datetime, an ISO text with a time zone, or epoch seconds."""
    try:
        if isinstance(value, str):
            return aware(datetime.fromisoformat(value), name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return EPOCH + timedelta(seconds=value)
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"{name} {value!r} is not a time",
            code="bad_time",
            hint="Write it as 2026-05-31T18:30:00+08:00, or give an aware datetime.",
        ) from None
    return aware(cast("datetime", value), name)


def aware(moment: datetime, name: str = "time") -> datetime:
    """Return the moment in UTC; refuse one without a time zone, since guessing would be wrong."""
    if not isinstance(moment, datetime):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(
            f"{name} must be a datetime, not {type(moment).__name__}", code="wrong_type"
        )
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise InvalidInput(
            f"{name} has no time zone: {moment.isoformat()}",
            code="naive_datetime",
            hint="Give an aware datetime, for example datetime.now(UTC).",
        )
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(
            f"{name} lies before the year 1 or after 9999 in UTC: {moment.isoformat()}",
            code="bad_time",
        ) from None
