"""Chinese words around a time or an event that narrow it or count from it.

They follow what they belong to: 三月底, 去年最后一周, 圣诞节后第二天, 旅行两天后, 婚礼之前.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from recollect.text.dates import (
    DAY,
    Edge,
    Interval,
    edge_of,
    months,
    nth_of,
    nth_weekday_of,
    nth_weekend_of,
)
from recollect.text.mentions import EventMention, Found, Mention, compiled, within_calendar
from recollect.text.relations import Relation, Side, from_event, from_time
from recollect.text.when_chinese import (
    COUNT,
    DAY_OF_WEEK,
    UNIT,
    WEEK,
    number_of,
    unit_of,
    weekday_number,
)

PART_CLUES = frozenset("初旬底末中第最前")
CLUES = frozenset("前后来今")

_LONGEST_EVENT = 16
_edges: dict[str, Edge] = {
    "初": "early",
    "上旬": "early",
    "中": "middle",
    "中旬": "middle",
    "下旬": "late",
    "底": "late",
    "末": "late",
}
_NARROWING = (
    r"的?(?:年?(?P<edge>初|[上中下]旬|底|末|中(?![国文午秋间学]))"
    "|前(?P<firsts>[二两三四五六七八九十])个?(?P<unit>季度|月)"
    rf"|(?:第(?P<nth>[一二三四五1-5])|(?P<last>最后一))(?:天|个?(?P<weekend>周末)"
    rf"|个?(?:{WEEK})(?P<weekday>[{DAY_OF_WEEK}](?!天))?))"
)
_SIDE = (
    rf"(?:(?P<count>{COUNT})(?P<unit>{UNIT}))?"
    r"(?:(?P<long>[之以](?P<side>[前后]))|(?P<open>以来|至今)|(?P<short>[前后])(?![端台面来续]))"
    rf"(?:的?(?P<nth>第)?(?P<later>{COUNT})(?P<unit_later>{UNIT}))?"
)
# 前 and 后 alone are parts of many words; as words they stand before a pause or a new clause.
_CLAUSE_BEGINS = r"(?:$|[\s,。;?!、的我你他她咱做去有又还都是发住怎谁哪吃买说聊])"
_makes_another_word = frozenset("之以目当眼提先面从最然今背落身幕午售滞前后皇王太影")
_run_before = re.compile(r"[^\W_]+$")
_BEGINS_CLAUSE = (
    "(?:正?如|就?像|我们|咱们|你们|他们|她们|我|你|他|她|自从|从|在|是|于|请问|还?记得|那次|上次"
    "|[和跟])+"
)
_ASKS = "什么|哪|谁|怎|几|多少|吗|呢"


def narrowed(text: str, mention: Mention) -> Mention | None:
    """The part of a time that the words after it ask for; None when they ask for none."""
    match = compiled(_NARROWING).match(text, mention.stop)
    length = mention.interval.end - mention.interval.start
    if not match or length < (300 if match["firsts"] else 28) * DAY:
        return None
    interval = within_calendar(lambda: _part_of(match, mention.interval))
    return replace(mention, stop=match.end(), interval=interval) if interval else None


def related(text: str, mentions: Mapping[int, Mention], now: datetime) -> Iterator[Found]:
    """The times told by their distance from one of the times found, or from an event."""
    for match in compiled(_SIDE).finditer(text):
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


def _part_of(match: re.Match[str], whole: Interval) -> Interval | None:
    if match["edge"]:
        return edge_of(whole, _edges[match["edge"]])
    if match["firsts"]:
        count = int(number_of(match["firsts"])) * (3 if match["unit"] == "季度" else 1)
        return Interval(whole.start, months(whole.start.year, 1, count).end)
    nth = -1 if match["last"] else int(number_of(match["nth"]))
    if match["weekday"]:
        return nth_weekday_of(whole, nth, weekday_number(match["weekday"]))
    if match["weekend"]:
        return nth_weekend_of(whole, nth)
    return nth_of(whole, nth, "day" if match[0].endswith("天") else "week")


def _relation(match: re.Match[str], *, counted: bool = True) -> Relation:
    if match["open"]:
        return Relation(side="since")
    side: Side = "before" if (match["side"] or match["short"]) == "前" else "after"
    if match["count"] and counted:
        return Relation(side=side, distance=(number_of(match["count"]), unit_of(match["unit"])))
    if not match["later"]:
        return Relation(side=side)
    count, unit = number_of(match["later"]), unit_of(match["unit_later"])
    if match["nth"]:
        count -= match["later"] in ("二", "2")  # 第二天 is the next day
        return Relation(side=side, distance=(count, unit))
    if count == 1:
        return Relation(side=side, beside=unit)
    return Relation(side=side, distance=(count, unit))


def _event_before(match: re.Match[str], mentions: Mapping[int, Mention]) -> str | None:
    """The words before that name an event; None when there are none, or 前 is part of a word."""
    text, begin = match.string, match.start()
    counted = match["count"] or match["later"]
    if match["open"] or (match["count"] and (match["side"] or match["short"]) != "后"):
        return None  # 三天前 counts from now, whatever stands before it
    if match["short"] and not counted and not compiled(_CLAUSE_BEGINS).match(text, match.end()):
        return None
    # An event's words begin after the time before it, which speaks for itself.
    nearest = range(begin, max(0, begin - 2 * _LONGEST_EVENT), -1)
    start = next((place for place in nearest if place in mentions), nearest.stop)
    run = _run_before.search(text[start:begin])
    if not run:
        return None
    event = run[0]
    if opening := compiled(_BEGINS_CLAUSE).match(event):
        event = event[opening.end() :]
    if match["short"] and not counted and event[-1:] in _makes_another_word:
        return None
    return (
        event if 2 <= len(event) <= _LONGEST_EVENT and not compiled(_ASKS).search(event) else None
    )
