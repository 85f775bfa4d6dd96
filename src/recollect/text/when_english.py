"""The ways English names a time by itself: dates, months, weekdays, "last week", "two days ago".

A word that is also something else (may, march, fall, sat) names a time only beside another word
that makes it one.
"""

import re
from datetime import datetime

from recollect.text.dates import (
    DAY,
    Interval,
    days,
    days_of_month,
    months,
    part_of_day,
    pick,
    season,
    some_ago,
    unit_around,
    up_to_now,
    weekday,
    weekend,
    weekend_of,
)
from recollect.text.english_times import (
    COUNT,
    MONTH,
    ORDINAL,
    PART_OF_DAY,
    WEEKDAY,
    WHICH,
    count_of,
    day_number,
    is_few,
    month_number,
    part_of,
    unit_of,
    weekday_number,
    which_of,
)
from recollect.text.holidays import ENGLISH_NAMES, holiday
from recollect.text.mentions import Reader, Rule

_YEAR = r"(?:19|20)\d\d"
_NTH = r"\d{1,2}(?:st|nd|rd|th)?"
_AS_ONE_NAME = rf"(?:(?:{WEEKDAY})\b\.?,? (?:the )?)?"
_ENDS = r"(?![\w%$]|[:.,]\d|-\d)"

_season_numbers = {"spring": 0, "summer": 1, "autumn": 2, "fall": 2, "winter": 3}
_day_offsets = {
    "day before yesterday": -2,
    "yesterday": -1,
    "today": 0,
    "tomorrow": 1,
    "day after tomorrow": 2,
}

# Names of people or everyday words, when nothing beside them speaks of time.
_EQUIVOCAL_MONTHS = frozenset(
    ["jan", "mar", "march", "apr", "april", "may", "jun", "june", "aug", "august", "dec"]
)
_VERBS = frozenset(["may", "march", "mar"])
_LEADS = (
    "in|during|since|until|till|before|after|from|early|late|mid|around|throughout|through|between"
    r"|(?:beginning|start|middle|end|half|quarter|month|weekend|week|\w{0,6}day) of"
)
_goes_on_from_month = re.compile(
    rf"\b(?:{MONTH})(?: \d{{4}})?(?: to | and | or | until | through | ?- ?)$", re.I | re.A
)
_goes_on_from_year = re.compile(r"\b\d{4}(?: to | and | or | until | through | ?- ?)$", re.A)
_PLURAL_NOUN = r"(?! (?!(?:was|is|has|does|this|his|as|us|vs)\b)[a-z]+s\b)"


def _day_of_month(match: re.Match[str], now: datetime) -> Interval | None:
    groups = match.groupdict()
    name, day = match["month"], match["day"].lower()
    certain = match["year"] or groups.get("of") or not day.isdecimal()
    if name in _VERBS and not certain:
        return None  # "option 2 may be better"
    month, first = month_number(name), day_number(day)
    last = day_number(match["last"]) if match["last"] else first
    found = pick(which_of(match["year"]), lambda year: days_of_month(year, month, first, last), now)
    return found if found and found.start < found.end else None


def _day_alone(match: re.Match[str], now: datetime) -> Interval:
    """ "On the 14th": of this month, or of the one before while that day is still to come."""
    number = int(match["day"])
    month = unit_around(now, "month", 0 if number <= now.day else -1)
    return days(month.start.replace(day=number))


def _month_slash_day(match: re.Match[str], now: datetime) -> Interval | None:
    month, day = int(match["month"]), int(match["day"])
    return pick(None, lambda year: days_of_month(year, month, day), now)


def _month(match: re.Match[str], now: datetime) -> Interval | None:
    name, which = match["month"], match["which"]
    beside = match["lead"] or match["year"] or which
    if name.lower() in _EQUIVOCAL_MONTHS and not beside:
        before = match.string[max(0, match.start("time") - 24) : match.start("time")]
        if not _goes_on_from_month.search(before):
            return None
    if name in _VERBS and (which or "").lower() == "this":
        return None  # "this may be"
    number = month_number(name)
    return pick(which_of(match["year"] or which), lambda year: months(year, number), now)


def _year(match: re.Match[str], now: datetime) -> Interval | None:
    if not match["lead"]:
        before = match.string[max(0, match.start("time") - 16) : match.start("time")]
        if not _goes_on_from_year.search(before):
            return None
    return months(int(match["year"]), 1, 12)


def _calendar_unit(match: re.Match[str], now: datetime) -> Interval | None:
    which = match["which"].lower()
    if match["rolling"] or which == "past":
        return up_to_now(now, unit_of(match["unit"]), 1)
    offset = {"last": -1, "previous": -1, "next": 1, "coming": 1}.get(which, 0)
    return unit_around(now, unit_of(match["unit"]), offset)


def _unit_beyond(match: re.Match[str], now: datetime) -> Interval:
    offset, unit = -2 if match["side"].lower() == "last" else 2, match["unit"].lower()
    if unit == "weekend":
        return weekend_of(now + 7 * offset * DAY)
    return unit_around(now, unit_of(unit), offset)


def _the_current(match: re.Match[str], now: datetime) -> Interval:
    return unit_around(now, unit_of(match["unit"]))


def _ago(match: re.Match[str], now: datetime) -> Interval:
    count, unit = count_of(match["count"]), match["unit"].lower()
    if unit == "decade":
        count, unit = 10 * count, "year"
    if unit == "night":
        unit = "day"
    if match["side"].lower() == "from now":
        return unit_around(now, unit_of(unit), int(count))
    return some_ago(now, unit_of(unit), count, few=is_few(match["count"]))


def _rolling(match: re.Match[str], now: datetime) -> Interval:
    return up_to_now(now, unit_of(match["unit"]), count_of(match["count"]))


def _day_word(match: re.Match[str], now: datetime) -> Interval:
    whole = days(now + _day_offsets[match["day"].lower()] * DAY)
    return part_of_day(whole, part_of(match["part"]))


def _part_of_today(match: re.Match[str], now: datetime) -> Interval:
    words = match["time"].lower()
    if words == "tonight":
        return part_of_day(days(now), "night")
    which, hours = words.split()
    return part_of_day(days(now - DAY if which == "last" else now), part_of(hours))


def _weekday(match: re.Match[str], now: datetime) -> Interval | None:
    name, which, lead = match["weekday"], match["which"], match["lead"]
    if (lead or "").lower() in ("any", "most", "some", "good"):
        return None
    if not name.lower().endswith("day") and not (name[0].isupper() and (which or lead)):
        return None  # "sat down", "the sun"
    number = weekday_number(name)
    if match["week"]:
        week = unit_around(now, "week", {"last": -1, "next": 1}.get(match["week"].lower(), 0))
        return part_of_day(days(week.start + number * DAY), part_of(match["part"]))
    return part_of_day(weekday(number, which_of(which), now), part_of(match["part"]))


def _weekdays_ago(match: re.Match[str], now: datetime) -> Interval:
    latest = weekday(weekday_number(match["weekday"]), "last", now)
    return days(latest.start - 7 * (int(count_of(match["count"])) - 1) * DAY)


def _weekend(match: re.Match[str], now: datetime) -> Interval:
    return weekend(which_of(match["which"]), now)


def _season(match: re.Match[str], now: datetime) -> Interval | None:
    name = match["season"].lower()
    if not (match["which"] or match["year"] or match["the"]) and (
        name in ("spring", "fall") or not match["lead"]
    ):
        return None  # "in spring boot", "fall over", "summer dress"
    if match["the"] and not (match["lead"] or match["year"]):
        return None  # "the fall of Rome"
    number = _season_numbers[name]
    which = which_of(match["year"] or match["which"])
    return pick(which, lambda year: season(year, number), now)


def _quarter(match: re.Match[str], now: datetime) -> Interval | None:
    number = ["first", "second", "third", "fourth"].index(match["nth"].lower())
    return pick(which_of(match["year"]), lambda year: months(year, 3 * number + 1, 3), now)


def _holiday(match: re.Match[str], now: datetime) -> Interval | None:
    return pick(which_of(match["year"] or match["which"]), holiday(match["name"]), now)


def _rule(clues: str, pattern: str, read: Reader, *, recurring: bool = False) -> Rule:
    return Rule(
        clues=frozenset(clues.split()),
        pattern=pattern,
        read=read,
        recurring=recurring,
    )


_MONTH_CLUES = (
    "jan january feb february mar march apr april may jun june jul july aug august sep sept"
    " september oct october nov november dec december"
)
_WEEKDAY_CLUES = (
    "mon monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday sat saturday"
    " sun sunday"
)
_UNIT = "minute|hour|day|week|month|quarter|year"

RULES = (
    _rule(
        _MONTH_CLUES,
        rf"(?<![\w.,/$-])(?P<time>{_AS_ONE_NAME}(?P<day>{_NTH}|(?:{ORDINAL})(?= of))"
        rf"(?: ?(?:-|to|and) ?(?P<last>{_NTH}))?(?P<of> of)?[ -](?P<month>{MONTH})\b\.?"
        rf"(?:(?:,? |-)(?P<year>{_YEAR})\b)?){_ENDS}",
        _day_of_month,
        recurring=True,
    ),
    _rule(
        _MONTH_CLUES,
        rf"\b(?P<time>{_AS_ONE_NAME}(?P<month>{MONTH})\b\.? (?:the )?"
        rf"(?P<day>{_NTH}|(?:{ORDINAL})\b)(?:(?: ?- ?| to )(?P<last>{_NTH}))?"
        rf"(?:,? (?P<year>{_YEAR})\b)?){_ENDS}",
        _day_of_month,
        recurring=True,
    ),
    _rule(
        _MONTH_CLUES,
        rf"\b(?:(?P<lead>{_LEADS})[ -])?(?P<time>(?:(?P<which>{WHICH}) )?(?P<month>{MONTH})\b"
        rf"(?:\.?,? (?:of )?(?P<year>{_YEAR})\b)?){_ENDS}",
        _month,
        recurring=True,
    ),
    _rule(
        "on",
        r"\bon (?P<time>the (?P<day>\d{1,2})(?:st|nd|rd|th))(?=\s*(?:$|[?.!,;]))",
        _day_alone,
    ),
    _rule(
        "on",
        r"\bon (?P<time>(?P<month>\d{1,2})/(?P<day>\d{1,2}))(?![\w/%]|\.\d)",
        _month_slash_day,
        recurring=True,
    ),
    _rule(
        " ".join("0123456789"),
        rf"(?:\b(?P<lead>{_LEADS}|year|the|by|to)[ -])?\b(?P<time>(?P<year>{_YEAR}))"
        rf"(?![\w%$]|[:.,/]\d|-\d)(?-i:{_PLURAL_NOUN})",
        _year,
    ),
    _rule(
        "week month year quarter",
        rf"\b(?P<rolling>(?:in|over|during|within|for|throughout) the )?"
        rf"(?P<time>(?P<which>{WHICH}|current) (?P<unit>week|month|quarter|year))\b",
        _calendar_unit,
    ),
    _rule(
        "week weekend month year",
        r"\b(?P<time>(?:the )?(?P<unit>week|weekend|month|year) (?:before|after)"
        r" (?P<side>last|next))\b",
        _unit_beyond,
    ),
    _rule(
        "week month year quarter",
        r"\b(?:beginning|start|middle|end|rest|half) of"
        r" (?P<time>the (?P<unit>week|month|quarter|year))\b(?! of| before| after)",
        _the_current,
    ),
    _rule(
        "ago back now earlier",
        rf"\b(?P<time>(?P<count>{COUNT}) (?P<unit>{_UNIT}|night|decade)s?"
        r" (?P<side>ago|back|from now))\b",
        _ago,
    ),
    _rule(
        "past last previous",
        rf"\b(?P<time>(?:past|last|previous) (?P<count>{COUNT}) (?P<unit>{_UNIT})s?)\b",
        _rolling,
    ),
    _rule(
        "today yesterday tomorrow",
        r"\b(?P<time>(?:the )?(?P<day>day before yesterday|day after tomorrow|yesterday|today"
        rf"|tomorrow)(?: (?P<part>{PART_OF_DAY}))?)\b",
        _day_word,
    ),
    _rule(
        "tonight morning afternoon evening night",
        r"\b(?P<time>tonight|this (?:morning|afternoon|evening)|last (?:night|evening))\b",
        _part_of_today,
    ),
    _rule(
        _WEEKDAY_CLUES,
        rf"\b(?:(?P<lead>on|since|until|till|before|after|from|by|any|most|some|good) )?"
        rf"(?P<time>(?:(?P<which>{WHICH}) )?(?P<weekday>{WEEKDAY})\b"
        rf"(?: (?P<part>{PART_OF_DAY})\b)?(?:,? (?:of )?(?P<week>last|this|next) week\b)?)"
        r"(?![\w-]|\.\w)",
        _weekday,
        recurring=True,
    ),
    _rule(
        "ago",
        rf"\b(?P<time>(?P<count>{COUNT}) (?P<weekday>{WEEKDAY})s? ago)\b",
        _weekdays_ago,
    ),
    _rule(
        "weekend",
        rf"\b(?:(?:over|on|during|at) )?(?P<time>(?:(?P<which>{WHICH})|the) weekend)\b"
        r"(?! before| after| of)",
        _weekend,
        recurring=True,
    ),
    _rule(
        "spring summer autumn fall winter",
        rf"\b(?:(?P<lead>in|over|during|since|until|before|after) )?"
        rf"(?P<time>(?:(?P<which>{WHICH}) |(?P<the>the ))?"
        rf"(?P<season>spring|summer|autumn|fall|winter)\b(?:,?(?: of)? (?P<year>{_YEAR})\b)?)",
        _season,
        recurring=True,
    ),
    _rule(
        "quarter",
        rf"\b(?P<time>(?P<nth>first|second|third|fourth) quarter\b(?: of (?P<year>{_YEAR})\b)?)",
        _quarter,
        recurring=True,
    ),
    _rule(
        "easter christmas xmas boxing year years halloween valentine valentines patrick patricks"
        " fool fools independence july thanksgiving black mother mothers father fathers memorial"
        " labor",
        rf"\b(?P<time>(?:(?P<which>{WHICH}) )?(?P<name>{ENGLISH_NAMES})\b"
        rf"(?:,? (?P<year>{_YEAR})\b)?)",
        _holiday,
        recurring=True,
    ),
)
