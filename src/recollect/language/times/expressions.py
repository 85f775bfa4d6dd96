"""Find the times that a text names, in Chinese and English, seen from a given moment.

Languages are read side by side, for people mix them. A rule is tried only on a text that has one of
its words, and every pattern is bounded: time grows with the length of the text, no faster.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cache

from recollect.language.characters import fold
from recollect.language.lexicon import lexicon
from recollect.language.times import chinese, english
from recollect.language.times.calendar import (
    DAY,
    EARLIEST,
    LATEST,
    Interval,
    days,
    months,
    pick,
    unit_around,
)
from recollect.language.times.mentions import (
    EventMention,
    Found,
    Mention,
    Rule,
    longest,
    within_calendar,
)

# --- Dates written in digits, the same in every language: 2024-04-02, 4/2/2024, 2024Q3 ------------

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


# --- Find the times that a text names, in Chinese and English, seen from a given moment -----------

Join = Callable[[str, Mention, Mention], Mention | None]

_MAX_JOINT_CHARACTERS = 12

_word = re.compile("[a-z]+")
_usual = re.compile(
    r"\b(?:usually|normally|typically|generally|always|(?:every|each) (?:day|week|month|year))\b"
    "|一般|通常|经常|平时|总是|往往|习惯|每[天周月年]",
    re.IGNORECASE,
)
_each = re.compile(r"(?:\b(?:every|each) |每个?)$", re.IGNORECASE)
_joint = re.compile(
    r"\s*(?:to|until|till|through|thru|up to|-|~|—+|一?直?到|至)\s*(?:the )?", re.IGNORECASE
)
_beside_year = re.compile(r",? (?:(?:of|in|on|at|over|during) )?(?:the )?", re.IGNORECASE)
_pair = re.compile(r"\s*(?:and|和|与)\s*(?:the )?", re.IGNORECASE)
_between = re.compile(r"\bbetween (?:the )?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """A time named by a text: from start up to, but not including, end."""

    start: datetime
    end: datetime
    text: str
    """The words that name it, in plain spelling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterEvent:
    """A time given by an event that memory may know: "two days after the trip"."""

    event: str
    """The words that name the event, in plain spelling."""
    start: timedelta
    end: timedelta
    text: str


def find_times(text: str, asked_at: datetime) -> tuple[When | AfterEvent, ...]:
    """Return the times a text names, in order.

    The time zone of asked_at decides what a day is. A date without a year is the latest one that
    is not after asked_at.
    """
    plain = fold(text)
    clues = _clues_of(plain)
    now = asked_at.replace(tzinfo=None)
    mentions = _mentions(plain, clues, now)
    found = longest([*mentions, *_related(plain, clues, mentions, now)])
    return tuple(_answers(plain, found, asked_at))


def find_mentions(plain: str, now: datetime) -> list[Mention]:
    """Return the places in a text in plain spelling that name times by themselves, in order."""
    return _mentions(plain, _clues_of(plain), now)


def _clues_of(plain: str) -> set[str]:
    return {*plain, *_word.findall(plain.lower())}


def _mentions(text: str, clues: set[str], now: datetime) -> list[Mention]:
    """Return the times named by themselves, narrowed to parts and joined to ranges."""
    if _clues().isdisjoint(clues):
        return []
    found = longest(
        mention
        for rule in _rules()
        if not rule.clues.isdisjoint(clues)
        for mention in rule.mentions(text, now)
    )
    if any(mention.may_be_habit for mention in found):
        usual = _usual.search(text) is not None
        found = [
            mention
            for mention in found
            if not (mention.may_be_habit and (usual or _is_each(text, mention)))
        ]
    found = list(_joined(text, found, _in_year))
    if not lexicon("en", "times").words("part_clues").isdisjoint(clues):
        found = longest(english.narrowed(text, mention, now) or mention for mention in found)
    if not clues.isdisjoint(lexicon("zh", "times").letters("part_clues")):
        found = longest(chinese.narrowed(text, mention) or mention for mention in found)
    return list(_joined(text, found, _range))


@cache
def _rules() -> tuple[Rule, ...]:
    return (*RULES, *english.rules(), *chinese.rules())


@cache
def _clues() -> frozenset[str]:
    return frozenset[str]().union(*(rule.clues for rule in _rules()))


def _is_each(text: str, mention: Mention) -> bool:
    return _each.search(text[max(0, mention.begin - 6) : mention.begin]) is not None


def _joined(text: str, mentions: list[Mention], join: Join) -> Iterator[Mention]:
    """Yield the times, with neighbours joined where possible."""
    waiting: Mention | None = None
    for mention in mentions:
        both = join(text, waiting, mention) if waiting else None
        if waiting and not both:
            yield waiting
        waiting = both or mention
    if waiting:
        yield waiting


def _in_year(text: str, first: Mention, second: Mention) -> Mention | None:
    """Return a yearly event in the year named beside it: "Christmas last year"."""
    if first.recurs == second.recurs or second.begin - first.stop > _MAX_JOINT_CHARACTERS:
        return None
    if not _beside_year.fullmatch(text[first.stop : second.begin]):
        return None
    thing, year = (first, second) if first.recurs else (second, first)
    interval = within_calendar(lambda: _reread_in(year.interval, thing))
    if not interval:
        return None
    return replace(thing, begin=first.begin, stop=second.stop, interval=interval, recurs=False)


def _reread_in(year: Interval, thing: Mention) -> Interval | None:
    if year != unit_around(year.start, "year"):
        return None
    interval = thing.reread(year.end - timedelta.resolution)
    return interval if interval and interval.start >= year.start else None


def _range(text: str, first: Mention, second: Mention) -> Mention | None:
    """Return the range from one time to the other, if the words around them say so."""
    if second.begin - first.stop > _MAX_JOINT_CHARACTERS:
        return None
    words = text[first.stop : second.begin]
    if not _joint.fullmatch(words) and not (
        _pair.fullmatch(words)
        and (
            _between.search(text[max(0, first.begin - _MAX_JOINT_CHARACTERS) : first.begin])
            or text.startswith("之间", second.stop)
        )
    ):
        return None
    interval = within_calendar(lambda: _span(first, second))
    return replace(second, begin=first.begin, interval=interval) if interval else None


def _span(first: Mention, second: Mention) -> Interval | None:
    """Return the interval from the first to the second; a year that one has applies to both."""
    start, end = first.interval, second.interval
    if first.recurs and start.start >= end.start:
        start = first.reread(end.start) or start
    elif second.recurs:
        # The next Friday after a Monday lies within a week, the next May after a March in a year.
        later = (second.reread(start.start + days * DAY) for days in (6, 364))
        end = next(
            (interval for interval in later if interval and interval.start >= start.start), end
        )
    return Interval(start.start, end.end) if start.start < end.end else None


def _related(text: str, clues: set[str], mentions: list[Mention], now: datetime) -> Iterator[Found]:
    if not lexicon("en", "times").words("clues").isdisjoint(clues):
        yield from english.related(text, {mention.begin: mention for mention in mentions}, now)
    if not clues.isdisjoint(lexicon("zh", "times").letters("clues")):
        yield from chinese.related(text, {mention.stop: mention for mention in mentions}, now)


def _answers(text: str, found: list[Found], asked_at: datetime) -> Iterator[When | AfterEvent]:
    zone = asked_at.tzinfo or UTC
    for one in found:
        words = text[one.begin : one.stop]
        if isinstance(one, EventMention):
            yield AfterEvent(event=one.event, start=one.start, end=one.end, text=words)
        elif EARLIEST <= one.interval.start < one.interval.end <= LATEST:
            yield When(
                start=one.interval.start.replace(tzinfo=zone),
                end=one.interval.end.replace(tzinfo=zone),
                text=words,
            )
