"""Mentions of times: rules that find them, their relations, and elapsed time in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, Literal, TypeVar

from recollect.domain.context import Tongue
from recollect.language.lexicon import compiled, lexicon
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

FLAGS: Final = re.ASCII | re.IGNORECASE

Reader = Callable[[re.Match[str], datetime], Interval | None]
"""What the words of a match mean for one who asks now; None when they name no time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A place in a text, and the time it names."""

    begin: int
    stop: int
    interval: Interval
    recurs: bool = False
    """Nothing says which of many is meant: "in March", "Friday", "国庆"."""
    may_be_habit: bool = False
    """It recurs and is no certain date, as in "what do I usually do on Friday"."""
    reread: Callable[[datetime], Interval | None]
    """What the same words mean for one who asks at another time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventMention:
    """A place in a text that gives a time by its distance from an event."""

    begin: int
    stop: int
    event: str
    start: timedelta
    end: timedelta


Found = Mention | EventMention
AnyFound = TypeVar("AnyFound", bound=Found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One way to name a time.

    The group `time` of the pattern holds the words that name it; its groups `which` and `year`,
    where it has them, tell which one of many is meant.
    """

    clues: frozenset[str]
    """A text without any of these words and characters is not searched."""
    pattern: str
    read: Reader
    recurring: bool = False

    def mentions(self, text: str, now: datetime) -> Iterator[Mention]:
        for match in compiled(self.pattern, FLAGS).finditer(text):
            interval = within_calendar(lambda match=match: self.read(match, now))
            if interval:
                begin, stop = match.span("time")
                groups = match.groupdict()
                recurs = self.recurring and not (groups.get("which") or groups.get("year"))
                yield Mention(
                    begin=begin,
                    stop=stop,
                    interval=interval,
                    recurs=recurs,
                    may_be_habit=recurs and not groups.get("day"),
                    reread=lambda other, match=match: self.read(match, other),
                )


def read_rules(language: Tongue, readers: Mapping[str, Reader]) -> tuple[Rule, ...]:
    """Return the rules of a language; each has the name of its reader."""
    words = lexicon(language, "times")
    return tuple(
        Rule(
            clues=frozenset(entry["clues"].split()),
            pattern=words.either(entry["pattern"]),
            read=readers[entry["name"]],
            recurring=entry.get("recurring", False),
        )
        for entry in words.rules()
    )


def pattern(language: Tongue, name: str) -> re.Pattern[str]:
    """Return a pattern from the times file of a language."""
    return lexicon(language, "times").regex(name, FLAGS)


def within_calendar(compute: Callable[[], Interval | None]) -> Interval | None:
    """Return the computed interval; None for the 30th of February or the year 10000."""
    try:
        return compute()
    except (ValueError, OverflowError):
        return None


def longest(found: Iterable[AnyFound]) -> list[AnyFound]:
    """Return the finds in order; of overlapping ones only the longest."""
    kept: list[AnyFound] = []
    for one in sorted(found, key=lambda one: (one.begin, -one.stop)):
        while kept and one.begin < kept[-1].stop:
            if one.stop - one.begin <= kept[-1].stop - kept[-1].begin:
                break
            kept.pop()
        else:
            kept.append(one)
    return kept


# --------------------------------------------------------------------------------------------------
# Times given by their distance from another time or from an event: two days after the trip.

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


# --- Elapsed time in words: 2天前, 2 days ago -----------------------------------------------------

_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR
# Up to these, the smaller unit says it better: 10 days ago, 5 weeks ago, 18 months ago.
_DAYS_BEFORE_WEEKS: Final = 14
_MONTHS_BEFORE_MONTHS: Final = 2
_MONTHS_BEFORE_YEARS: Final = 24

_Unit = Literal["minute", "hour", "day", "week", "month", "year"]
_CHINESE_UNITS: Final[Mapping[_Unit, str]] = {
    "minute": "分钟",
    "hour": "小时",
    "day": "天",
    "week": "周",
    "month": "个月",
    "year": "年",
}
_NEAR_DAYS: Final[Mapping[int, tuple[str, str]]] = {
    -1: ("昨天", "yesterday"),
    0: ("今天", "today"),
    1: ("明天", "tomorrow"),
}


def ago(then: datetime, now: datetime, language: Literal["zh", "en"]) -> str:
    """Return how long ago, to the minute within a day; the future is told the same way."""
    seconds = int((then - now).total_seconds())
    distance = abs(seconds)
    if distance < _MINUTE:
        return "刚刚" if language == "zh" else "just now"
    if distance < _HOUR:
        return _told(distance // _MINUTE, "minute", seconds < 0, language)
    if distance < _DAY:
        return _told(distance // _HOUR, "hour", seconds < 0, language)
    return days_ago(then, now, language)


def days_ago(then: datetime, now: datetime, language: Literal["zh", "en"]) -> str:
    """Return how many calendar days, weeks, months or years ago.

    The words hold from midnight to midnight, in the time zone of `now`.
    """
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    days = (then - midnight) // timedelta(days=1)
    if days in _NEAR_DAYS:
        return _NEAR_DAYS[days][0 if language == "zh" else 1]
    count, unit = _largest_unit(now.date(), days)
    return _told(count, unit, days < 0, language)


def _largest_unit(today: date, days: int) -> tuple[int, _Unit]:
    if abs(days) < _DAYS_BEFORE_WEEKS:
        return abs(days), "day"
    # At the ends of the calendar the zone of `now` can lie one day beyond it.
    that_day = date.fromordinal(min(max(1, today.toordinal() + days), date.max.toordinal()))
    months = _whole_months(min(today, that_day), max(today, that_day))
    if months < _MONTHS_BEFORE_MONTHS:
        return abs(days) // 7, "week"
    if months < _MONTHS_BEFORE_YEARS:
        return months, "month"
    return months // 12, "year"


def _whole_months(earlier: date, later: date) -> int:
    months = (later.year - earlier.year) * 12 + later.month - earlier.month
    return months - (later.day < earlier.day)


def _told(count: int, unit: _Unit, is_past: bool, language: Literal["zh", "en"]) -> str:
    if language == "zh":
        return f"{count}{_CHINESE_UNITS[unit]}{'前' if is_past else '后'}"
    units = f"{count} {unit}{'' if count == 1 else 's'}"
    return f"{units} ago" if is_past else f"in {units}"
