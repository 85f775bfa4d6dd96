"""Times given by their distance from another time or from an event: two days after the trip."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from recollect.language.times.calendar import (
    DAY,
    EARLIEST,
    LATEST,
    LENGTHS,
    Interval,
    Unit,
    days,
    midnight,
)
from recollect.language.times.mentions import within_calendar

Side = Literal["before", "after", "since", "until"]
Distance = tuple[float, Unit]

# How long before or after an event things count as belonging to it, when nothing says how long.
_AROUND_EVENT = 30 * DAY
_SHORTLY = 7 * DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """The side on which a time lies, and how far away."""

    side: Side
    distance: Distance | None = None
    """So many units away: "two weeks after"."""
    beside: Unit | Literal["weekend"] | None = None
    """The whole unit next to it: "the week after"."""
    weekday: int | None = None
    """The nearest such day: "the Friday before"."""
    shortly: bool = False

    @property
    def is_earlier(self) -> bool:
        return self.side in ("before", "until")


def from_time(relation: Relation, time: Interval, now: datetime) -> Interval | None:
    """Return the interval in this relation to a time; None if it leaves the calendar."""
    return within_calendar(lambda: _from_time(relation, time, now))


def from_event(relation: Relation) -> tuple[timedelta, timedelta]:
    """Return start and end of the interval, relative to the moment of the event.

    The moment says little about the hour, so a distance is met within half a unit either way.
    """
    if relation.distance or relation.beside == "day":
        count, unit = relation.distance or (1, "day")
        middle = count * LENGTHS[unit] * (-1 if relation.is_earlier else 1)
        return middle - LENGTHS[unit] / 2, middle + LENGTHS[unit] / 2
    length = _AROUND_EVENT
    if relation.beside == "weekend" or relation.weekday is not None or relation.shortly:
        length = _SHORTLY
    elif relation.beside:
        length = LENGTHS[relation.beside]
    return (-length, timedelta()) if relation.is_earlier else (timedelta(), length)


def _from_time(relation: Relation, time: Interval, now: datetime) -> Interval:
    if relation.distance:
        return _away(relation, relation.distance, time)
    if relation.weekday is not None:
        return _nearest_weekday(relation.weekday, relation.is_earlier, time)
    if relation.beside == "weekend":
        return _nearest_weekend(relation.is_earlier, time)
    if relation.beside:
        return _beside(relation.is_earlier, LENGTHS[relation.beside], time)
    if relation.shortly:
        return _beside(relation.is_earlier, _SHORTLY, time)
    if relation.is_earlier:
        return Interval(EARLIEST, time.start if relation.side == "before" else time.end)
    start = time.start if relation.side == "since" else time.end
    return Interval(start, midnight(now + DAY) if start <= now else LATEST)


def _away(relation: Relation, distance: Distance, time: Interval) -> Interval:
    count, unit = distance
    length = LENGTHS[unit]
    day = time.start - count * length if relation.is_earlier else time.end - DAY + count * length
    if length < DAY:
        return Interval(day - length / 2, day + length / 2)
    return days(day - length / 2 + DAY / 2, length.days)


def _beside(earlier: bool, length: timedelta, time: Interval) -> Interval:
    if earlier:
        return Interval(time.start - length, time.start)
    return Interval(time.end, time.end + length)


def _nearest_weekday(number: int, earlier: bool, time: Interval) -> Interval:
    if earlier:
        eve = time.start - DAY
        return days(eve - (eve.weekday() - number) % 7 * DAY)
    return days(time.end + (number - time.end.weekday()) % 7 * DAY)


def _nearest_weekend(earlier: bool, time: Interval) -> Interval:
    saturday = _nearest_weekday(5, earlier, time).start
    if earlier and saturday + 2 * DAY > time.start:
        saturday -= 7 * DAY
    return days(saturday, 2)
