"""How Chinese names times.

By itself: 4月2日, 去年春天, 上周三, 三个月前, 国庆. By the words behind a time or an event,
which narrow it or count from it: 三月底, 去年最后一周, 圣诞节后第二天, 旅行两天后, 婚礼之前.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import cache

from recollect.language.lexicon import Lexicon, lexicon
from recollect.language.times.calendar import (
    DAY,
    Interval,
    PartOfDay,
    Unit,
    days,
    days_of_month,
    edge_of,
    holiday,
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
    Side,
    from_event,
    from_time,
    pattern,
    read_rules,
    within_calendar,
)

_MAX_EVENT_CHARACTERS = 16
_MAX_YEARS_AGO = 200  # 2000年前 is before the year 2000
_DIGITS = "零〇一二三四五六七八九"
_DAYS_OF_WEEK = "一二三四五六日天"
_run_before = re.compile(r"(?<![^\W_])[^\W_]+$")


@cache
def rules() -> tuple[Rule, ...]:
    """Return the rules for times named by themselves."""
    return read_rules(
        "zh",
        {
            "day_of_month": _day_of_month,
            "day_of_near_month": _day_of_near_month,
            "day_alone": _day_alone,
            "month": _month,
            "near_unit": _near_unit,
            "year": _year,
            "quarter": _quarter,
            "half_year": _half_year,
            "season": _season,
            "day_word": _day_word,
            "week": _week,
            "ago": _ago,
            "rolling": _rolling,
            "some_days_back": _some_days_back,
            "edge_of_now": _edge_of_now,
            "holiday": _holiday,
        },
    )


def narrowed(text: str, mention: Mention) -> Mention | None:
    """Return the part of a time that the words after it select; None if they select none."""
    match = pattern("zh", "narrowing").match(text, mention.stop)
    length = mention.interval.end - mention.interval.start
    if not match or length < (300 if match["firsts"] else 28) * DAY:
        return None
    interval = within_calendar(lambda: _narrowed_part(match, mention.interval))
    return replace(mention, stop=match.end(), interval=interval) if interval else None


def related(text: str, mentions: Mapping[int, Mention], now: datetime) -> Iterator[Found]:
    """Yield the times given by their distance from a found time or from an event."""
    for match in pattern("zh", "side").finditer(text):
        counted = mentions.get(match.start())
        # In 2021年以来 and 2000年前 the number belongs to the year.
        mention = counted or mentions.get(match.end("unit"))
        if mention:
            relation = _relation(match, counted=counted is not None)
            if text[mention.stop - 1] in "底末" and relation == Relation(side="before"):
                relation = Relation(side="until")  # 月底前 ends with the month
            if interval := from_time(relation, mention.interval, now):
                yield replace(mention, stop=match.end(), interval=interval)
        elif event := _event_before(match, mentions):
            start, end = from_event(_relation(match))
            begin = match.start() - len(event)
            yield EventMention(begin=begin, stop=match.end(), event=event, start=start, end=end)


def _narrowed_part(match: re.Match[str], whole: Interval) -> Interval | None:
    if match["edge"]:
        return edge_of(whole, _words().table("edges")[match["edge"]])
    if match["firsts"]:
        count = int(_number_of(match["firsts"])) * (3 if match["unit"] == "季度" else 1)
        return Interval(whole.start, months(whole.start.year, 1, count).end)
    nth = -1 if match["last"] else int(_number_of(match["nth"]))
    if match["weekday"]:
        return nth_weekday_of(whole, nth, _weekday_number(match["weekday"]))
    if match["weekend"]:
        return nth_weekend_of(whole, nth)
    return nth_of(whole, nth, "day" if match[0].endswith("天") else "week")


def _relation(match: re.Match[str], *, counted: bool = True) -> Relation:
    if match["open"]:
        return Relation(side="since")
    side: Side = "before" if (match["side"] or match["short"]) == "前" else "after"
    if match["count"] and counted:
        return Relation(side=side, distance=(_number_of(match["count"]), _unit_of(match["unit"])))
    if not match["later"]:
        return Relation(side=side)
    count, unit = _number_of(match["later"]), _unit_of(match["unit_later"])
    if match["nth"]:
        count -= match["later"] in ("二", "2")  # 第二天 is the next day
        return Relation(side=side, distance=(count, unit))
    if count == 1:
        return Relation(side=side, beside=unit)
    return Relation(side=side, distance=(count, unit))


def _event_before(match: re.Match[str], mentions: Mapping[int, Mention]) -> str | None:
    """Return the words before it that name an event; None if there are none."""
    text, begin = match.string, match.start()
    counted = match["count"] or match["later"]
    if match["open"] or (match["count"] and (match["side"] or match["short"]) != "后"):
        return None  # 三天前 counts from now, whatever stands before it
    if (
        match["short"]
        and not counted
        and not pattern("zh", "clause_begins").match(text, match.end())
    ):
        return None
    # An event's words begin after the time before it, which speaks for itself.
    nearest = range(begin, max(0, begin - 2 * _MAX_EVENT_CHARACTERS), -1)
    start = next((place for place in nearest if place in mentions), nearest.stop)
    run = _run_before.search(text[start:begin])
    if not run:
        return None
    event = run[0]
    if opening := pattern("zh", "begins_clause").match(event):
        event = event[opening.end() :]
    if (
        match["short"]
        and not counted
        and event[-1:] in frozenset(_words().letters("makes_another_word"))
    ):
        return None
    return (
        event
        if 2 <= len(event) <= _MAX_EVENT_CHARACTERS and not pattern("zh", "asks").search(event)
        else None
    )


# --- Readers of rules ----------------------------------------------------------------------------


def _day_of_month(match: re.Match[str], now: datetime) -> Interval | None:
    month, first = int(_number_of(match["month"])), int(_number_of(match["day"]))
    last = int(_number_of(match["last"])) if match["last"] else first
    found = pick(_year_of(match, now), lambda year: days_of_month(year, month, first, last), now)
    return part_of_day(found, _part(match)) if found and found.start < found.end else None


def _day_of_near_month(match: re.Match[str], now: datetime) -> Interval:
    first = unit_around(now, "month", _weeks(match["which"])).start
    return part_of_day(days(first.replace(day=int(_number_of(match["day"])))), _part(match))


def _day_alone(match: re.Match[str], now: datetime) -> Interval:
    number = int(_number_of(match["day"]))
    month = unit_around(now, "month", 0 if number <= now.day else -1)
    return part_of_day(days(month.start.replace(day=number)), _part(match))


def _month(match: re.Match[str], now: datetime) -> Interval | None:
    number = int(_number_of(match["month"]))
    return pick(_year_of(match, now), lambda year: months(year, number), now)


def _near_unit(match: re.Match[str], now: datetime) -> Interval:
    return unit_around(now, _unit_of(match["unit"]), _weeks(match["which"]))


def _year(match: re.Match[str], now: datetime) -> Interval | None:
    year = _year_of(match, now)
    return months(year, 1, 12) if year else None


def _quarter(match: re.Match[str], now: datetime) -> Interval | None:
    number = int(_number_of(match["nth"]))
    return pick(_year_of(match, now), lambda year: months(year, 3 * number - 2, 3), now)


def _half_year(match: re.Match[str], now: datetime) -> Interval | None:
    first = 1 if match["half"] == "上" else 7
    return pick(_year_of(match, now), lambda year: months(year, first, 6), now)


def _season(match: re.Match[str], now: datetime) -> Interval | None:
    number = "春夏秋冬".index(match["season"])
    which = _words().table("which")[match["near"][0]] if match["near"] else _year_of(match, now)
    return pick(which, lambda year: season(year, number), now)


def _day_word(match: re.Match[str], now: datetime) -> Interval:
    word, offsets = match["day"], _words().table("days")
    offset = offsets[word if word in offsets else word[0]]
    return part_of_day(days(now + offset * DAY), _part(match))


def _week(match: re.Match[str], now: datetime) -> Interval | None:
    which, name = match["which"], match["weekday"]
    if which is None:
        if name is None:
            return None
        if name == "末":
            return weekend(None, now)
        return part_of_day(weekday(_weekday_number(name), None, now), _part(match))
    week = unit_around(now, "week", _weeks(which))
    if name == "末":
        return weekend_of(week.start)
    if name is None:
        return week
    return part_of_day(days(week.start + _weekday_number(name) * DAY), _part(match))


def _ago(match: re.Match[str], now: datetime) -> Interval | None:
    count, unit = _number_of(match["count"]), _unit_of(match["unit"])
    if unit == "year" and count > _MAX_YEARS_AGO:
        return None
    if match["side"].endswith("后"):
        return unit_around(now, unit, int(count))
    return some_ago(now, unit, count, few=match["count"] == "几")


def _rolling(match: re.Match[str], now: datetime) -> Interval | None:
    if match["near"] == "这" and match["count"] in ("一", "1"):
        return None  # 这一天 is a day told of
    return up_to_now(now, _unit_of(match["unit"]), _number_of(match["count"]))


def _some_days_back(match: re.Match[str], now: datetime) -> Interval:
    if match["count"] == "几":
        return some_ago(now, _unit_of(match["unit"]), 0, few=True)
    return Interval(days(now - 3 * DAY).start, days(now).start)


def _edge_of_now(match: re.Match[str], now: datetime) -> Interval:
    whole = unit_around(now, _unit_of(match["unit"]))
    return edge_of(whole, "early" if match["edge"] == "初" else "late")


def _holiday(match: re.Match[str], now: datetime) -> Interval | None:
    return pick(_year_of(match, now), holiday(match["name"]), now)


# --- Words ---------------------------------------------------------------------------------------


def _number_of(words: str) -> float:
    """Return the number in digits or characters: 12, 十二, 二〇二四, 半; 几 is at most five."""
    if words.isdecimal():
        return int(words)
    if words in ("半", "几"):
        return 0.5 if words == "半" else 5
    if not re.search("[十百廿]", words):
        return int("".join(str(_digit(character)) for character in words))
    total = digit = 0
    for character in words.replace("廿", "二十"):
        if character in "十百":
            total += (digit or 1) * (10 if character == "十" else 100)
            digit = 0
        else:
            digit = _digit(character)
    return total + digit


def _unit_of(words: str) -> Unit:
    return _words().table("units")[words.strip("个多半") if "月" not in words else "月"]


def _weekday_number(character: str) -> int:
    return min(_DAYS_OF_WEEK.index(character), 6)


def _digit(character: str) -> int:
    return 2 if character == "两" else max(0, _DIGITS.index(character) - 1)


def _part(match: re.Match[str]) -> PartOfDay | None:
    return _words().table("parts_of_day")[match["part"]] if match["part"] else None


def _year_of(match: re.Match[str], now: datetime) -> int | None:
    """Return the year; two digits mean the nearer century."""
    if match["which"]:
        return now.year + _words().table("years").get(match["which"], 0)
    if not match["year"]:
        return None
    year = int(_number_of(match["year"]))
    if year >= 100:
        return year
    century = now.year // 100 * 100
    return century + year if century + year <= now.year + 10 else century - 100 + year


def _weeks(which: str) -> int:
    """Return the offset in weeks, months … of 上, 上上, 这, 本 or 下."""
    return which.count("下") - which.count("上")


def _words() -> Lexicon:
    return lexicon("zh", "times")
