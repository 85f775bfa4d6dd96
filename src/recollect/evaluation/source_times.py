"""Parsing of the time notations of recall sets, as UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

# A weekday adds nothing to the date, and is written in many ways.
_WEEKDAY: Final = re.compile(r"\s*(?:\([A-Za-z]+\)|周[一二三四五六日天]|星期[一二三四五六日天])")

_MONTH: Final = re.compile(r"\d{4}-\d{2}")
_NOTATIONS: Final = (
    "%I:%M %p on %d %B, %Y",
    "%B-%d-%Y",
    "%Y年%m月%d日 %H:%M",
    "%Y年%m月%d日",
    "%Y/%m/%d %H:%M",
    "%Y-%m",
)


def parse_time(text: str | None, *, at_end: bool = False) -> datetime | None:
    """Return the moment of a set's own notation, or None if there is none.

    A month means its beginning or, optionally, its end.
    """
    if text is None:
        return None
    plain = _WEEKDAY.sub("", text).strip()
    if at_end and _MONTH.fullmatch(plain):
        first = datetime.strptime(plain, "%Y-%m").replace(tzinfo=UTC)
        return (first + timedelta(days=31)).replace(day=1) - timedelta(seconds=1)
    try:
        moment = datetime.fromisoformat(plain)
    except ValueError:
        return _by_notation(plain)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _by_notation(plain: str) -> datetime | None:
    for notation in _NOTATIONS:
        try:
            return datetime.strptime(plain, notation).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None
