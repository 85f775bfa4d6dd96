"""The calendar: intervals of days, weeks, months, seasons and years, and the terms of a date.

Everything here is local and without a time zone: what a day is, the one who asks decides.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cache
from typing import Any, Literal

from recollect.language.lexicon import LANGUAGES, lexicon
from recollect.language.words import stem

Unit = Literal["minute", "hour", "day", "week", "month", "quarter", "year"]
Edge = Literal["early", "middle", "late"]
PartOfDay = Literal["dawn", "morning", "noon", "afternoon", "evening", "night"]
Which = int | Literal["last", "this", "next"] | None
"""Which one of the things that come every year: that of a year, or one seen from now."""

DAY = timedelta(days=1)
EARLIEST, LATEST = datetime.fromisoformat("0002-01-01"), datetime.fromisoformat("9999-01-01")
"""Ever before and ever after: within these, every time zone can express a time."""
LENGTHS: dict[Unit, timedelta] = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": DAY,
    "week": 7 * DAY,
    "month": 30 * DAY,
    "quarter": 91 * DAY,
    "year": 365 * DAY,
}
FEW = (2, 5)
"""What "a few" and 几 mean: from two to five."""

_HALVES: dict[Unit, tuple[Unit, int]] = {
    "year": ("month", 6),
    "month": ("day", 15),
    "week": ("day", 3),
    "day": ("hour", 12),
}
_MONTHS_IN: dict[Unit, int] = {"month": 1, "quarter": 3, "year": 12}
_HOURS: dict[PartOfDay, tuple[int, int]] = {
    "dawn": (0, 6),
    "morning": (6, 12),
    "noon": (11, 14),
    "afternoon": (12, 18),
    "evening": (18, 24),
    "night": (18, 30),
}
_LEAP_CYCLE = 9  # the most years that pass between two 29ths of February
_ENGLISH_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Interval:
    """The time from start up to, but not including, end."""

    start: datetime
    end: datetime


def date_terms(day: date) -> tuple[str, ...]:
    """Return the terms under which the keyword index finds a day, in both languages.

    As few as do the work: each makes every text longer, and a text's own words count for less.
    The day alone is no term, or "room 15" would be found in whatever was said on a 15th.
    """
    month = stem(_ENGLISH_MONTHS[day.month - 1].lower())
    return (month, str(day.year), f"{day.month}月", f"{day.day}日")


def midnight(day: date) -> datetime:
    return datetime.combine(day, time.min)


def days(first: date, count: int = 1) -> Interval:
    """Return an interval of days from the first one."""
    start = midnight(first)
    return Interval(start, start + count * DAY)


def part_of_day(day: Interval, part: PartOfDay | None) -> Interval:
    """Return the hours that a word names; a night includes the early hours of the next day."""
    if part is None:
        return day
    first, last = _HOURS[part]
    return Interval(day.start + timedelta(hours=first), day.start + timedelta(hours=last))


def days_of_month(year: int, month: int, first: int, last: int | None = None) -> Interval:
    """Return a day of a month, or the days from the first to the last."""
    start = date(year, month, first)
    return days(start, (date(year, month, last or first) - start).days + 1)


def months(year: int, first: int, count: int = 1) -> Interval:
    """Return whole months; `first` may exceed twelve."""
    return Interval(_first_of_month(year, first), _first_of_month(year, first + count))


def season(year: int, number: int) -> Interval:
    """Return the months of a season; the winter of a year begins in December."""
    return months(year, 3 * number + 3, 3)


def week_of(day: date) -> Interval:
    return days(day - timedelta(days=day.weekday()), 7)


def weekend_of(day: date) -> Interval:
    return days(week_of(day).start + 5 * DAY, 2)


def unit_around(now: datetime, unit: Unit, offset: int = 0) -> Interval:
    """Return the day, week, month … around now, or the one that many before or after it."""
    match unit:
        case "minute" | "hour":
            middle = now + offset * LENGTHS[unit]
            return Interval(middle - LENGTHS[unit] / 2, middle + LENGTHS[unit] / 2)
        case "day":
            return days(now + offset * DAY)
        case "week":
            return week_of(now + 7 * offset * DAY)
        case _:
            count = _MONTHS_IN[unit]
            current = (now.month - 1) // count * count + 1
            return months(now.year, current + offset * count, count)


def some_ago(now: datetime, unit: Unit, count: float, *, few: bool = False) -> Interval:
    """Return the unit that many ago; "half a year ago" is the month six months ago."""
    if few:
        nearest, farthest = FEW
        first, last = unit_around(now, unit, -farthest), unit_around(now, unit, -nearest)
        return Interval(first.start, last.end)
    if count < 1:
        unit, count = _HALVES.get(unit, ("minute", 30))
    return unit_around(now, unit, -int(count))


def up_to_now(now: datetime, unit: Unit, count: float) -> Interval:
    """Return the last so many days, weeks … including today; hours and minutes end now."""
    if unit in ("minute", "hour"):
        return Interval(now - count * LENGTHS[unit], now)
    return Interval(_midnight_before(now, unit, count), midnight(now + DAY))


def _midnight_before(now: datetime, unit: Unit, count: float) -> datetime:
    if unit in ("day", "week"):
        return midnight(now - count * LENGTHS[unit])
    first = _first_of_month(now.year, now.month - round(count * _MONTHS_IN[unit]))
    last_day = (_first_of_month(first.year, first.month + 1) - DAY).day
    return first.replace(day=min(now.day, last_day))


def pick(which: Which, of_year: Callable[[int], Interval], now: datetime) -> Interval | None:
    """Return one occurrence of a yearly event; by default the latest that has begun."""
    if isinstance(which, int):
        return of_year(which)
    forward = range(now.year, now.year + _LEAP_CYCLE)
    back = range(now.year, now.year - _LEAP_CYCLE, -1)
    if which == "this":
        current = _first(back[1:2], of_year, lambda interval: interval.start <= now < interval.end)
        return current or of_year(now.year)
    if which == "next":
        return _first(forward, of_year, lambda interval: interval.start > now)
    if which == "last":
        return _first(back, of_year, lambda interval: interval.end <= now)
    return _first(back, of_year, lambda interval: interval.start <= now)


def weekday(number: int, which: Which, now: datetime) -> Interval:
    """Return a weekday: the latest, the last before today, or that of this or the next week."""
    monday = week_of(now).start
    if which == "this":
        return days(monday + number * DAY)
    if which == "next":
        return days(monday + (7 + number) * DAY)
    latest = 1 if which == "last" else 0
    back = (now.weekday() - number - latest) % 7 + latest
    return days(now - back * DAY)


def weekend(which: Which, now: datetime) -> Interval:
    """Return a weekend: the latest begun, the last one over, or that of this or the next week."""
    weeks = {"this": 0, "next": 1, "last": -1}
    if which in weeks:
        return weekend_of(now + 7 * weeks[which] * DAY)
    return weekend_of(now - (0 if now.weekday() >= 5 else 7) * DAY)


def edge_of(whole: Interval, edge: Edge) -> Interval:
    """Return the beginning, middle or end of an interval, as people mean it.

    A month has three times ten days, a year begins and ends with three months; the rest in thirds.
    """
    length = whole.end - whole.start
    if length > 300 * DAY:
        first, count = {"early": (1, 3), "middle": (5, 4), "late": (10, 3)}[edge]
        return months(whole.start.year, first, count)
    step = 10 * DAY if 28 * DAY <= length <= 31 * DAY else length / 3
    begins = {"early": 0, "middle": 1, "late": 2}[edge]
    return Interval(
        whole.start + begins * step,
        whole.end if edge == "late" else whole.start + (begins + 1) * step,
    )


def half_of(whole: Interval, *, first: bool) -> Interval:
    if whole.end - whole.start > 300 * DAY:
        return months(whole.start.year, 1 if first else 7, 6)
    middle = midnight(whole.start + (whole.end - whole.start) / 2)
    return Interval(whole.start, middle) if first else Interval(middle, whole.end)


def nth_of(whole: Interval, nth: int, unit: Unit) -> Interval | None:
    """Return the nth day, week, month or quarter of an interval; -1 is the last."""
    if unit in _MONTHS_IN:
        first = whole.end - DAY if nth < 0 else whole.start
        found = unit_around(first, unit, max(0, nth - 1))
    else:
        start = whole.end - LENGTHS[unit] if nth < 0 else whole.start + (nth - 1) * LENGTHS[unit]
        found = Interval(start, start + LENGTHS[unit])
    return found if whole.start <= found.start < whole.end else None


def nth_weekday_of(whole: Interval, nth: int, number: int) -> Interval | None:
    """Return the nth such weekday of an interval; -1 is the last."""
    if nth < 0:
        eve = whole.end - DAY
        day = eve - (eve.weekday() - number) % 7 * DAY
    else:
        day = whole.start + ((number - whole.start.weekday()) % 7 + 7 * (nth - 1)) * DAY
    return days(day) if whole.start <= day < whole.end else None


def nth_weekend_of(whole: Interval, nth: int) -> Interval | None:
    saturday = nth_weekday_of(whole, nth, 5)
    return days(saturday.start, 2) if saturday else None


def _first_of_month(year: int, month: int) -> datetime:
    years, index = divmod(month - 1, 12)
    return midnight(date(year + years, index + 1, 1))


def _first(
    years: range, of_year: Callable[[int], Interval], holds: Callable[[Interval], bool]
) -> Interval | None:
    for year in years:
        try:
            interval = of_year(year)
        except (ValueError, OverflowError):
            continue  # no such day in that year, or no such year
        if holds(interval):
            return interval
    return None


# --- Named days of the Western and the Chinese calendar -------------------------------------------


def holiday(name: str) -> Callable[[int], Interval]:
    """Return a function from a year to the holiday; lunar ones are known for two decades only."""
    plain = name.lower().replace("'", "").replace(".", "")
    entry = next(entry for start, entry in _holidays().items() if plain.startswith(start))
    return lambda year: days(_first_day(entry, year) + entry.get("later", 0) * DAY, entry["days"])


def _first_day(entry: Mapping[str, Any], year: int) -> date:
    if "date" in entry:
        return datetime.fromisoformat(f"{year:04}-{entry['date']}")
    if "easter" in entry:
        return _easter(year)
    if "lunar" in entry:
        return _lunar_day(entry["lunar"], year)
    month = months(year, entry["month"])
    return (nth_weekday_of(month, entry["nth"], entry["weekday"]) or month).start


def _easter(year: int) -> date:
    """Return the first Sunday after the first full moon of spring, by Gauss and Meeus."""
    century, golden = year // 100, year % 19
    moon = (19 * golden + century - century // 4 - (8 * century + 13) // 25 + 15) % 30
    moon -= moon // 28 * (1 - 29 // (moon + 1) * ((21 - golden) // 11))
    sunday = (year + year // 4 + moon + 2 - century + century // 4) % 7
    return date(year, 3, 1) + (moon - sunday + 27) * DAY


def _lunar_day(which: int, year: int) -> date:
    years = lexicon("zh", "holidays").table("lunar_years")
    if str(year) not in years:
        raise ValueError(year)
    return datetime.fromisoformat(f"{year:04}-{years[str(year)][which]}")


@cache
def _holidays() -> Mapping[str, Mapping[str, Any]]:
    return {
        name: {"days": 1, **entry}
        for language in LANGUAGES
        for name, entry in lexicon(language, "holidays").table("holidays").items()
    }
