"""Elapsed time in words: 2天前, 2 days ago."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Final, Literal

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
