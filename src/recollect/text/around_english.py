"""English words around a time or an event that narrow it or count from it.

"The end of March" and "the first week of 2023" are parts of a time, "two days before May 5" counts
from one, and "after the wedding" counts from an event that only memory knows.
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
    half_of,
    midnight,
    nth_of,
    nth_weekday_of,
    nth_weekend_of,
    part_of_day,
    week_of,
)
from recollect.text.english_times import (
    COUNT,
    DAY_NAME,
    PART_OF_DAY,
    count_of,
    part_of,
    unit_of,
    weekday_number,
)
from recollect.text.mentions import EventMention, Found, Mention, compiled, within_calendar
from recollect.text.relations import Relation, Side, from_event, from_time

PART_CLUES = frozenset(["of", "in", "early", "mid", "late", "earlier", "later"])
CLUES = frozenset(["before", "after", "prior", "following", "since", "until", "till"])

_LONGEST_EVENT = 80
_FARTHEST = 40  # how many characters before a time its "the beginning of" may begin
_UNIT = "minute|hour|day|week|month|year"
_NTH = ("first", "second", "third", "fourth", "1st", "2nd", "3rd", "4th")
_day_names = frozenset(DAY_NAME.split("|"))
_sides: dict[str, Side] = {
    "before": "before",
    "prior to": "before",
    "after": "after",
    "following": "after",
    "since": "since",
    "until": "until",
    "till": "until",
}
_edges: dict[str, Edge] = {
    "beginning": "early",
    "start": "early",
    "early": "early",
    "middle": "middle",
    "mid": "middle",
    "end": "late",
    "late": "late",
}
_NARROWING = (
    r"\b(?:(?:the )?(?:very )?(?:(?P<edge>beginning|start|middle|end) of"
    rf"|(?P<half>first|second) half of|(?P<week>week) of|(?P<part>{PART_OF_DAY}) of"
    rf"|(?P<nth>{'|'.join(_NTH)}|last) (?P<unit>day|week|weekend|month|quarter|{DAY_NAME})"
    r" (?:of|in))(?: the)? |(?P<adverb>early|mid|late|earlier|later)(?: in)?[ -](?:the )?)$"
)
_SIDE = (
    rf"\b(?:(?P<verb>look\w{{0,3}}|named|takes?|took) )?(?:(?P<count>{COUNT}) (?P<unit>{_UNIT})s? "
    rf"|(?:the )?(?P<beside>day|night|morning|week|weekend|month|year|{DAY_NAME}) )?"
    r"(?:(?P<shortly>right|just|shortly|soon|immediately) )?"
    r"(?P<side>before|after|prior to|following|since|until|till) "
)
_QUESTION_WORDS = (
    "did|do|does|what|who|whom|where|when|which|how|why|is|are|will|would|can|could|should|and|but"
    "|or|so|because|before|after|then"
)
_ABOUT_SOMEONE = "i|we|he|she|they|you|was|were|has|have|had"
_COMPLETE = "(?<! in)(?<! on)(?<! of)(?<! at)"
_EVENT = (
    # A thing ends where a sentence about it begins …
    r"(?:(?:the|my|our|his|her|their|your|an?) |(?-i:[A-Z])[\w-]{0,30}'s )"
    rf"(?!(?:{_QUESTION_WORDS})\b)[\w'-]{{1,40}}+"
    rf"(?: (?!(?:{_QUESTION_WORDS}|{_ABOUT_SOMEONE})\b)[\w'-]{{1,40}}+){{0,6}}{_COMPLETE}"
    # … and something done goes on to the end of the clause.
    r"|(?:(?:i|we|he|she|they|you) |(?-i:[A-Z])[\w-]{1,30} (?=\w{2,20}ed\b)|(?=\w{2,20}ing\b))"
    rf"(?!(?:{_QUESTION_WORDS})\b)[\w'-]{{1,40}}+"
    rf"(?: (?!(?:{_QUESTION_WORDS})\b)[\w'-]{{1,40}}+){{0,6}}{_COMPLETE}"
)


def narrowed(text: str, mention: Mention, now: datetime) -> Mention | None:
    """The part of a time that the words before it ask for; None when they ask for none."""
    begin = max(0, mention.begin - _FARTHEST)
    match = compiled(_NARROWING).search(text[begin : mention.begin])
    if not match:
        return None
    interval = within_calendar(lambda: _part_of(match, mention.interval, now))
    if not interval:
        return None
    return replace(mention, begin=begin + match.start(), interval=interval)


def related(text: str, mentions: Mapping[int, Mention], now: datetime) -> Iterator[Found]:
    """The times told by their distance from one of the times found, or from an event."""
    for match in compiled(_SIDE).finditer(text):
        if match["verb"]:
            continue
        relation = _relation(match)
        article = 4 if text.startswith("the ", match.end()) else 0
        mention = mentions.get(match.end()) or mentions.get(match.end() + article)
        if mention:
            if interval := from_time(relation, mention.interval, now):
                yield replace(mention, begin=match.start(), interval=interval)
        elif event := compiled(_EVENT).match(
            text, match.end(), _end_of_event(match.end(), mentions)
        ):
            start, end = from_event(relation)
            yield EventMention(
                begin=match.start(), stop=event.end(), event=event[0], start=start, end=end
            )


def _end_of_event(begin: int, mentions: Mapping[int, Mention]) -> int:
    """How far the words of an event may go: up to the next time, which speaks for itself."""
    farthest = begin + _LONGEST_EVENT
    return next((place for place in range(begin, farthest) if place in mentions), farthest)


def _part_of(match: re.Match[str], whole: Interval, now: datetime) -> Interval | None:
    adverb = (match["adverb"] or "").lower()
    if adverb == "earlier":
        return Interval(whole.start, min(whole.end, midnight(now + DAY)))
    if adverb == "later":
        return Interval(max(whole.start, midnight(now + DAY)), whole.end)
    if edge := match["edge"] or adverb:
        return edge_of(whole, _edges[edge.lower()])
    if match["half"]:
        return half_of(whole, first=match["half"].lower() == "first")
    if match["week"]:
        return week_of(whole.start)
    if match["part"]:
        is_day = whole.end - whole.start == DAY
        return part_of_day(whole, part_of(match["part"])) if is_day else None
    return _nth_of(match, whole)


def _nth_of(match: re.Match[str], whole: Interval) -> Interval | None:
    word, unit = match["nth"].lower(), match["unit"].lower()
    nth = -1 if word == "last" else _NTH.index(word) % 4 + 1
    if unit == "weekend":
        return nth_weekend_of(whole, nth)
    if unit in _day_names:
        return nth_weekday_of(whole, nth, weekday_number(unit))
    return nth_of(whole, nth, unit_of(unit))


def _relation(match: re.Match[str]) -> Relation:
    side = _sides[match["side"].lower()]
    if match["count"]:
        return Relation(side=side, distance=(count_of(match["count"]), unit_of(match["unit"])))
    beside = (match["beside"] or "").lower()
    if beside in _day_names:
        return Relation(side=side, weekday=weekday_number(beside))
    if beside == "weekend":
        return Relation(side=side, beside="weekend")
    if beside:
        day = beside in ("night", "morning")
        return Relation(side=side, beside="day" if day else unit_of(beside))
    return Relation(side=side, shortly=bool(match["shortly"]))
