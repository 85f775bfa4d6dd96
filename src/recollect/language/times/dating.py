"""Dates behind the words that count from the day on which they were said: "tomorrow (2026-11-20)".

A record is read weeks after it was made; only then does "next week" need a date. Words that may
mean several days ("Friday", "in March", "next Friday" on a Monday) are left as they are, and so are
those in names and quotations.
"""

import re
from datetime import UTC, datetime
from functools import cache

from recollect.domain.context import Tongue
from recollect.language.characters import fold
from recollect.language.lexicon import lexicon
from recollect.language.times.calendar import DAY, Interval, days, midnight, months
from recollect.language.times.expressions import find_mentions
from recollect.language.times.mentions import Mention, within_calendar

_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC).replace(tzinfo=None)
_ANOTHER_DAY = 400 * DAY
_LONGEST = 7 * DAY
_MONTH = 31 * DAY
# "Today's youth" means no day, and "后天（周六）" tells which.
_UNDATED = ("(", "（", "'", "’")
_QUOTATIONS = ("“”", "「」", "『』", "《》")
_DAY = r"\d{4}(?:-\d\d){0,2}"
_BESIDE = re.compile(rf" \({_DAY}(?: to {_DAY})?\)|（{_DAY}(?:至{_DAY})?）")
_AFTER_A_WORD = re.compile(r"[A-Za-z0-9]\s+$")


def with_dates(text: str, said_at: datetime, language: Tongue) -> str:
    """Return the text with the date behind each time that is told by its distance from that day."""
    plain = fold(text)
    if len(plain) != len(text):
        return text
    now = said_at.replace(tzinfo=None)
    told: list[str] = []
    end = 0
    for mention in find_mentions(plain, now):
        if date := _date_beside(mention, plain, now, language):
            told += [text[end : mention.stop], f"（{date}）" if language == "zh" else f" ({date})"]
            end = mention.stop
    return "".join([*told, text[end:]])


def without_dates(text: str) -> str:
    """Return the text as it was said, without the dates that `with_dates` puts behind times.

    Those behind anything else were said: "the lease runs out (2026-05-01)".
    """
    said = _BESIDE.sub("", text)
    plain = fold(said)
    if said == text or len(plain) != len(said):
        return text
    times = {it.stop for it in find_mentions(plain, _ANY_TIME) if _counts_from(_ANY_TIME, it)}
    left_out = 0

    def unless_said(date: re.Match[str]) -> str:
        nonlocal left_out
        is_put = date.start() - left_out in times
        left_out += len(date[0])
        return "" if is_put else date[0]

    return _BESIDE.sub(unless_said, text)


def last_day(text: str, said_at: datetime) -> datetime | None:
    """Return when the last day, week or month to come is over that a text names for certain."""
    plain, now = fold(text), said_at.replace(tzinfo=None)
    ends = [
        mention.interval.end
        for mention in find_mentions(plain, now)
        if not mention.recurs
        and mention.interval.start > now
        and mention.interval.end - mention.interval.start <= _MONTH
        and _is_certain(mention, plain, now)
    ]
    return max(ends).replace(tzinfo=said_at.tzinfo) if ends else None


def begins(text: str, said_at: datetime) -> datetime | None:
    """Return when that begins which a text tells of times to come alone; None if it tells of now.

    "Next month I'm in Taipei": where one lives until then is another matter.
    """
    plain, now = fold(text), said_at.replace(tzinfo=None)
    intervals = [it.interval for it in find_mentions(plain, now) if not it.recurs]
    if not intervals or any(it.start <= now or it.end - it.start > _MONTH for it in intervals):
        return None
    return min(it.start for it in intervals).replace(tzinfo=said_at.tzinfo)


def _date_beside(mention: Mention, text: str, now: datetime, language: Tongue) -> str:
    """Return the date that belongs behind a time; empty if none does, or none is certain."""
    if text[mention.stop :].lstrip().startswith(_UNDATED) or _is_quoted(mention, text):
        return ""
    if not _counts_from(now, mention) or not _is_certain(mention, text, now):
        return ""
    return _date(mention.interval, language)


def _is_quoted(mention: Mention, text: str) -> bool:
    """Return whether a time is part of a name or quotation: "Tomorrow Ltd", 《后天》."""
    before, words = text[: mention.begin], text[mention.begin : mention.stop]
    if before.count('"') % 2 or any(before.count(a) > before.count(z) for a, z in _QUOTATIONS):
        return True
    is_day = words.split()[0].lower() in lexicon("en", "times").words("day_names")
    return words[0].isupper() and not is_day and _AFTER_A_WORD.search(before) is not None


def _counts_from(now: datetime, mention: Mention) -> bool:
    """Return whether the same words would mean another time on another day."""
    if mention.recurs:
        return False
    other = within_calendar(lambda: mention.reread(now + _ANOTHER_DAY))
    return other != within_calendar(lambda: mention.reread(now))


def _is_certain(mention: Mention, text: str, now: datetime) -> bool:
    """Return whether people agree on the day: "next Friday" may be this week's or next week's.

    这几天 and 那两天 may be days that were spoken of: 下周出差，这几天评审推迟.
    """
    if _spoken_of().search(text, max(0, mention.begin - 1), mention.stop):
        return False
    words = text[mention.begin : mention.stop].lower().split()
    names_a_weekday = words[1:2] and words[1] in lexicon("en", "times").words("day_names")
    if not names_a_weekday or "week" in words:
        return True
    return abs(midnight(mention.interval.start) - midnight(now)) <= _LONGEST


@cache
def _spoken_of() -> re.Pattern[str]:
    return lexicon("zh", "times").regex("spoken_of")


def _date(interval: Interval, language: Tongue) -> str:
    """Return a day, a month, a year or up to a week of days; empty for longer and vague times."""
    start, end = interval.start, interval.end
    if interval == months(start.year, 1, 12):
        return f"{start:%Y}"
    if interval == months(start.year, start.month):
        return f"{start:%Y-%m}"
    # A night ends in the morning of the next day.
    if end - start <= DAY:
        return f"{start:%Y-%m-%d}"
    if interval != days(start, (end - start).days) or end - start > _LONGEST:
        return ""
    return f"{start:%Y-%m-%d}{'至' if language == 'zh' else ' to '}{end - DAY:%Y-%m-%d}"
