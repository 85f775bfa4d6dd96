"""Times: aware datetimes in the API, UTC microseconds in storage."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final, cast

from recollect.errors import InvalidInput

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_FIRST: Final = datetime.min.replace(tzinfo=UTC)
_LAST: Final = datetime.max.replace(tzinfo=UTC)


def to_micros(moment: datetime) -> int:
    """Microseconds since 1970, exact."""
    return (moment - EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    return EPOCH + timedelta(microseconds=micros)


def shifted(moment: datetime, by: timedelta) -> datetime:
    """The moment so much later, or the first or last one that there is."""
    try:
        return moment + by
    except OverflowError:
        return _FIRST if by < timedelta() else _LAST


def moment_of(value: object, name: str = "time") -> datetime:
    """A moment in UTC from a datetime, from ISO text with a time zone, or from epoch seconds."""
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
    """The moment in UTC; one without a zone is refused: guessing it would corrupt history."""
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
