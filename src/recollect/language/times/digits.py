"""Dates written in digits, the same in every language: 2024-04-02, 4/2/2024, 2024Q3."""

import re
from datetime import date, datetime

from recollect.language.times.calendar import Interval, days, months, pick
from recollect.language.times.mentions import Rule

_ALONE_BEFORE = r"(?<![0-9A-Za-z_./:@=$€£¥-])"
_ALONE_AFTER = r"(?![0-9A-Za-z_%]|[./:-][0-9A-Za-z])"
_CLOCK = r"(?:[Tt ]?\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
_VERSION = re.compile(r"(?:version|release|build|edition|版本?|v)[ :：号是为]{0,3}$", re.IGNORECASE)
_DIGITS = frozenset("0123456789")


def _day(match: re.Match[str], now: datetime) -> Interval | None:
    if match["joint"] == "." and _VERSION.search(
        match.string[max(0, match.start() - 12) : match.start()]
    ):
        return None
    first = days(date(int(match["year"]), int(match["month"]), int(match["day"])))
    if not match["last"]:
        return first
    last = days(date(*map(int, match["last"].split(match["joint"]))))
    return Interval(first.start, last.end) if first.start < last.end else None


def _day_before_year(match: re.Match[str], now: datetime) -> Interval:
    """Read the American order with a slash, unless that is impossible; else the European."""
    first, second, year = int(match["first"]), int(match["second"]), int(match["year"])
    if match["joint"] == "/" and first <= 12:
        return days(date(year, first, second))
    return days(date(year, second, first))


def _month(match: re.Match[str], now: datetime) -> Interval | None:
    number = int(match["month"])
    return months(int(match["year"]), number) if 1 <= number <= 12 else None


def _quarter(match: re.Match[str], now: datetime) -> Interval | None:
    year, number = match["year"] or match["which"], int(match["number"])
    if match["letter"] in "Qq":
        return pick(int(year) if year else None, lambda year: months(year, 3 * number - 2, 3), now)
    return months(int(year), 6 * number - 5, 6) if year and number <= 2 else None


RULES = (
    Rule(
        clues=_DIGITS,
        pattern=(
            rf"{_ALONE_BEFORE}(?P<time>(?P<year>\d{{4}})(?P<joint>[-/.])(?P<month>\d{{1,2}})"
            rf"(?P=joint)(?P<day>\d{{1,2}})(?: ?[-~] ?(?P<last>\d{{4}}(?P=joint)\d{{1,2}}"
            rf"(?P=joint)\d{{1,2}})|{_CLOCK})){_ALONE_AFTER}"
        ),
        read=_day,
    ),
    Rule(
        clues=_DIGITS,
        pattern=(
            rf"{_ALONE_BEFORE}(?P<time>(?P<first>\d{{1,2}})(?P<joint>[-/.])(?P<second>\d{{1,2}})"
            rf"(?P=joint)(?P<year>(?:19|20)\d\d)){_ALONE_AFTER}"
        ),
        read=_day_before_year,
    ),
    Rule(
        clues=_DIGITS,
        pattern=(
            rf"{_ALONE_BEFORE}(?P<time>(?P<year>(?:19|20)\d\d)[-/](?P<month>\d{{1,2}})){_ALONE_AFTER}"
        ),
        read=_month,
    ),
    Rule(
        clues=frozenset("1234"),
        pattern=(
            rf"{_ALONE_BEFORE}(?P<time>(?:(?P<which>(?:19|20)\d\d)[ 年-]?)?"
            rf"(?P<letter>[QqHh])(?P<number>[1-4])"
            rf"(?:(?:,? of |,? |[-/'])(?P<year>(?:19|20)\d\d))?){_ALONE_AFTER}"
        ),
        read=_quarter,
        recurring=True,
    ),
)
