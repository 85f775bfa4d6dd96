"""Dates with digits and days of the week, which Chinese counts, in English words."""

from __future__ import annotations

import re
from typing import Final

_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DATE: Final = re.compile(
    r"(?:(?P<year>\d{4})年)?(?<!\d)(?P<month>0?[1-9]|1[0-2])月份?(?:(?P<day>\d{1,2})[日号])?"
)
_YEAR: Final = re.compile(r"(\d{4})年")
# Not where weeks or times are counted: 一周一次 is once a week.
_WEEKDAY: Final = re.compile(
    r"(?<![\d一二三四五六七八九十两几])(?P<which>[上下这本]?)个?(?:周|星期|礼拜)"
    "(?P<day>[一二三四五六日天])(?![一二三四五六七八九十次个天回场])"
)
_WEEKDAYS: Final = {
    "一": "Monday",
    "二": "Tuesday",
    "三": "Wednesday",
    "四": "Thursday",
    "五": "Friday",
    "六": "Saturday",
    "日": "Sunday",
    "天": "Sunday",
}
_WHICH: Final = {"": "", "上": "last", "下": "next", "这": "this", "本": "this"}


def spell_dates(text: str) -> str:
    """2024年4月1日 becomes April 1 2024, 上周三 becomes last Wednesday."""
    return _WEEKDAY.sub(_named, _YEAR.sub(r" \1 ", _DATE.sub(_spelled, text)))


def _spelled(date: re.Match[str]) -> str:
    day = int(date["day"]) if date["day"] else ""
    return f" {_MONTHS[int(date['month']) - 1]} {day} {date['year'] or ''} "


def _named(weekday: re.Match[str]) -> str:
    return f" {_WHICH[weekday['which']]} {_WEEKDAYS[weekday['day']]} "
