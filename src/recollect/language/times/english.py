"""How English names times.

By itself: dates, months, weekdays, "last week", "two days ago". A word that is also something else
(may, march, fall, sat) names a time only beside another word that makes it one.

By the words around a time or an event: "the end of March" and "the first week of 2023" are parts of
a time, "two days before May 5" counts from one, and "after the wedding" counts from an event that
only memory knows.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import cast

from recollect.language.lexicon import Lexicon, lexicon
from recollect.language.times.calendar import (
    DAY,
    FEW,
    Interval,
    PartOfDay,
    Unit,
    Which,
    days,
    days_of_month,
    edge_of,
    half_of,
    holiday,
    midnight,
    months,
    nth_of,
    nth_weekday_of,
    nth_weekend_of,
    part_of_day,
    pick,
    season,
    some_ago,
    unit_around,
    up_to_now,
    week_of,
    weekday,
    weekend,
    weekend_of,
)
from recollect.language.times.mentions import (
    EventMention,
    Found,
    Mention,
    Relation,
    Rule,
    from_event,
    from_time,
    pattern,
    read_rules,
    within_calendar,
)

_MAX_EVENT_CHARACTERS = 80
_LOOK_BACK_CHARACTERS = 40  # how many characters before a time its "the beginning of" may begin


@cache
def rules() -> tuple[Rule, ...]:
    """Return the rules for times named by themselves."""
    return read_rules(
        "en",
        {
            "day_of_month": _day_of_month,
            "day_alone": _day_alone,
            "month_slash_day": _month_slash_day,
            "month": _month,
            "year": _year,
            "calendar_unit": _calendar_unit,
            "unit_beyond": _unit_beyond,
            "the_current": _the_current,
            "ago": _ago,
            "rolling": _rolling,
            "day_word": _day_word,
            "part_of_today": _part_of_today,
            "weekday": _weekday,
            "weekdays_ago": _weekdays_ago,
            "weekend": _weekend,
            "season": _season,
            "quarter": _quarter,
            "holiday": _holiday,
        },
    )


def narrowed(text: str, mention: Mention, now: datetime) -> Mention | None:
    """Return the part of a time that the words before it select; None if they select none."""
    begin = max(0, mention.begin - _LOOK_BACK_CHARACTERS)
    match = pattern("en", "narrowing").search(text[begin : mention.begin])
    if not match:
        return None
    interval = within_calendar(lambda: _narrowed_part(match, mention.interval, now))
    if not interval:
        return None
    return replace(mention, begin=begin + match.start(), interval=interval)


def related(text: str, mentions: Mapping[int, Mention], now: datetime) -> Iterator[Found]:
    """Yield the times given by their distance from a found time or from an event."""
    for match in pattern("en", "side").finditer(text):
        if match["verb"]:
            continue
        relation = _relation(match)
        article = 4 if text.startswith("the ", match.end()) else 0
        mention = mentions.get(match.end()) or mentions.get(match.end() + article)
        if mention:
            if interval := from_time(relation, mention.interval, now):
                yield replace(mention, begin=match.start(), interval=interval)
        elif event := pattern("en", "event").match(
            text, match.end(), _end_of_event(match.end(), mentions)
        ):
            start, end = from_event(relation)
            yield EventMention(
                begin=match.start(), stop=event.end(), event=event[0], start=start, end=end
            )


def _end_of_event(begin: int, mentions: Mapping[int, Mention]) -> int:
    """Return how far the words of an event may reach: up to the next time."""
    farthest = begin + _MAX_EVENT_CHARACTERS
    return next((place for place in range(begin, farthest) if place in mentions), farthest)


def _narrowed_part(match: re.Match[str], whole: Interval, now: datetime) -> Interval | None:
    adverb = (match["adverb"] or "").lower()
    if adverb == "earlier":
        return Interval(whole.start, min(whole.end, midnight(now + DAY)))
    if adverb == "later":
        return Interval(max(whole.start, midnight(now + DAY)), whole.end)
    if edge := match["edge"] or adverb:
        return edge_of(whole, _words().table("edges")[edge.lower()])
    if match["half"]:
        return half_of(whole, first=match["half"].lower() == "first")
    if match["week"]:
        return week_of(whole.start)
    if match["part"]:
        is_day = whole.end - whole.start == DAY
        return part_of_day(whole, _part_of(match["part"])) if is_day else None
    return _nth_of(match, whole)


def _nth_of(match: re.Match[str], whole: Interval) -> Interval | None:
    word, unit = match["nth"].lower(), match["unit"].lower()
    nth = -1 if word == "last" else _words().table("ordinals")[word]
    if unit == "weekend":
        return nth_weekend_of(whole, nth)
    if unit in _words().words("day_names"):
        return nth_weekday_of(whole, nth, _weekday_number(unit))
    return nth_of(whole, nth, _unit_of(unit))


def _relation(match: re.Match[str]) -> Relation:
    side = _words().table("sides")[match["side"].lower()]
    if match["count"]:
        return Relation(side=side, distance=(_count_of(match["count"]), _unit_of(match["unit"])))
    beside = (match["beside"] or "").lower()
    if beside in _words().words("day_names"):
        return Relation(side=side, weekday=_weekday_number(beside))
    if beside == "weekend":
        return Relation(side=side, beside="weekend")
    if beside:
        day = beside in ("night", "morning")
        return Relation(side=side, beside="day" if day else _unit_of(beside))
    return Relation(side=side, shortly=bool(match["shortly"]))


# --- Readers of rules ----------------------------------------------------------------------------


def _day_of_month(match: re.Match[str], now: datetime) -> Interval | None:
    groups = match.groupdict()
    name, day = match["month"], match["day"].lower()
    certain = match["year"] or groups.get("of") or not day.isdecimal()
    if name in _words().words("verbs") and not certain:
        return None  # "option 2 may be better"
    month, first = _month_number(name), _day_number(day)
    last = _day_number(match["last"]) if match["last"] else first
    found = pick(
        _which_of(match["year"]), lambda year: days_of_month(year, month, first, last), now
    )
    return found if found and found.start < found.end else None


def _day_alone(match: re.Match[str], now: datetime) -> Interval:
    """Read "on the 14th": of this month, or of the previous one if that day is still to come."""
    number = int(match["day"])
    month = unit_around(now, "month", 0 if number <= now.day else -1)
    return days(month.start.replace(day=number))


def _month_slash_day(match: re.Match[str], now: datetime) -> Interval | None:
    month, day = int(match["month"]), int(match["day"])
    return pick(None, lambda year: days_of_month(year, month, day), now)


def _month(match: re.Match[str], now: datetime) -> Interval | None:
    name, which = match["month"], match["which"]
    beside = match["lead"] or match["year"] or which
    if name.lower() in _words().words("equivocal_months") and not beside:
        before = match.string[max(0, match.start("time") - 24) : match.start("time")]
        if not pattern("en", "after_month").search(before):
            return None
    if name in _words().words("verbs") and (which or "").lower() == "this":
        return None  # "this may be"
    number = _month_number(name)
    return pick(_which_of(match["year"] or which), lambda year: months(year, number), now)


def _year(match: re.Match[str], now: datetime) -> Interval | None:
    if not match["lead"]:
        before = match.string[max(0, match.start("time") - 16) : match.start("time")]
        if not pattern("en", "after_year").search(before):
            return None
    return months(int(match["year"]), 1, 12)


def _calendar_unit(match: re.Match[str], now: datetime) -> Interval | None:
    which = match["which"].lower()
    if match["rolling"] or which == "past":
        return up_to_now(now, _unit_of(match["unit"]), 1)
    offset = {"last": -1, "previous": -1, "next": 1, "coming": 1}.get(which, 0)
    return unit_around(now, _unit_of(match["unit"]), offset)


def _unit_beyond(match: re.Match[str], now: datetime) -> Interval:
    offset, unit = -2 if match["side"].lower() == "last" else 2, match["unit"].lower()
    if unit == "weekend":
        return weekend_of(now + 7 * offset * DAY)
    return unit_around(now, _unit_of(unit), offset)


def _the_current(match: re.Match[str], now: datetime) -> Interval:
    return unit_around(now, _unit_of(match["unit"]))


def _ago(match: re.Match[str], now: datetime) -> Interval:
    count, unit = _count_of(match["count"]), match["unit"].lower()
    if unit == "decade":
        count, unit = 10 * count, "year"
    if unit == "night":
        unit = "day"
    if match["side"].lower() == "from now":
        return unit_around(now, _unit_of(unit), int(count))
    return some_ago(now, _unit_of(unit), count, few=_is_few(match["count"]))


def _rolling(match: re.Match[str], now: datetime) -> Interval:
    return up_to_now(now, _unit_of(match["unit"]), _count_of(match["count"]))


def _day_word(match: re.Match[str], now: datetime) -> Interval:
    whole = days(now + _words().table("days")[match["day"].lower()] * DAY)
    return part_of_day(whole, _part_of(match["part"]))


def _part_of_today(match: re.Match[str], now: datetime) -> Interval:
    words = match["time"].lower()
    if words == "tonight":
        return part_of_day(days(now), "night")
    which, hours = words.split()
    return part_of_day(days(now - DAY if which == "last" else now), _part_of(hours))


def _weekday(match: re.Match[str], now: datetime) -> Interval | None:
    name, which, lead = match["weekday"], match["which"], match["lead"]
    if (lead or "").lower() in ("any", "most", "some", "good"):
        return None
    if not name.lower().endswith("day") and not (name[0].isupper() and (which or lead)):
        return None  # "sat down", "the sun"
    number = _weekday_number(name)
    if match["week"]:
        week = unit_around(now, "week", {"last": -1, "next": 1}.get(match["week"].lower(), 0))
        return part_of_day(days(week.start + number * DAY), _part_of(match["part"]))
    return part_of_day(weekday(number, _which_of(which), now), _part_of(match["part"]))


def _weekdays_ago(match: re.Match[str], now: datetime) -> Interval:
    latest = weekday(_weekday_number(match["weekday"]), "last", now)
    return days(latest.start - 7 * (int(_count_of(match["count"])) - 1) * DAY)


def _weekend(match: re.Match[str], now: datetime) -> Interval:
    return weekend(_which_of(match["which"]), now)


def _season(match: re.Match[str], now: datetime) -> Interval | None:
    name = match["season"].lower()
    if not (match["which"] or match["year"] or match["the"]) and (
        name in ("spring", "fall") or not match["lead"]
    ):
        return None  # "in spring boot", "fall over", "summer dress"
    if match["the"] and not (match["lead"] or match["year"]):
        return None  # "the fall of Rome"
    number = _words().table("seasons")[name]
    which = _which_of(match["year"] or match["which"])
    return pick(which, lambda year: season(year, number), now)


def _quarter(match: re.Match[str], now: datetime) -> Interval | None:
    number = _words().table("ordinals")[match["nth"].lower()]
    return pick(_which_of(match["year"]), lambda year: months(year, 3 * number - 2, 3), now)


def _holiday(match: re.Match[str], now: datetime) -> Interval | None:
    return pick(_which_of(match["year"] or match["which"]), holiday(match["name"]), now)


# --- Words ---------------------------------------------------------------------------------------


def _month_number(name: str) -> int:
    return _words().table("months")[name[:3].lower()]


def _weekday_number(name: str) -> int:
    return _words().table("weekdays")[name[:3].lower()]


def _day_number(words: str) -> int:
    """Return the day in 2, 2nd or second."""
    plain = words.lower()
    if plain[0].isdecimal():
        return int(plain.rstrip("stndrh"))
    return _words().table("ordinals")[plain]


def _count_of(words: str) -> float:
    """Return the number in words; for "a few" the most it means."""
    plain = words.lower()
    if plain.isdecimal():
        return int(plain)
    if plain.startswith("half"):
        return 0.5
    if "couple" in plain:
        return 2
    if _is_few(plain):
        return FEW[1]
    return _words().table("numbers").get(plain, 1)


def _is_few(words: str) -> bool:
    return words.lower().endswith(("few", "several"))


def _unit_of(word: str) -> Unit:
    return cast("Unit", word.lower())


def _part_of(word: str | None) -> PartOfDay | None:
    return cast("PartOfDay", word.lower()) if word else None


def _which_of(word: str | None) -> Which:
    """Return which occurrence a year or a word like "last" selects."""
    if word and word.isdecimal():
        return int(word)
    return _words().table("which").get(word.lower()) if word else None


def _words() -> Lexicon:
    return lexicon("en", "times")
