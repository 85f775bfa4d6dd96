"""Rules for finding times, and what they find."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeVar

from recollect.domain.context import Tongue
from recollect.language.lexicon import compiled, lexicon
from recollect.language.times.calendar import Interval

FLAGS: Final = re.ASCII | re.IGNORECASE

Reader = Callable[[re.Match[str], datetime], Interval | None]
"""What the words of a match mean for one who asks now; None when they name no time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A place in a text, and the time it names."""

    begin: int
    stop: int
    interval: Interval
    recurs: bool = False
    """Nothing says which of many is meant: "in March", "Friday", "国庆"."""
    may_be_habit: bool = False
    """It recurs and is no certain date, as in "what do I usually do on Friday"."""
    reread: Callable[[datetime], Interval | None]
    """What the same words mean for one who asks at another time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventMention:
    """A place in a text that gives a time by its distance from an event."""

    begin: int
    stop: int
    event: str
    start: timedelta
    end: timedelta


Found = Mention | EventMention
AnyFound = TypeVar("AnyFound", bound=Found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One way to name a time.

    The group `time` of the pattern holds the words that name it; its groups `which` and `year`,
    where it has them, tell which one of many is meant.
    """

    clues: frozenset[str]
    """A text without any of these words and characters is not searched."""
    pattern: str
    read: Reader
    recurring: bool = False

    def mentions(self, text: str, now: datetime) -> Iterator[Mention]:
        for match in compiled(self.pattern, FLAGS).finditer(text):
            interval = within_calendar(lambda match=match: self.read(match, now))
            if interval:
                begin, stop = match.span("time")
                groups = match.groupdict()
                recurs = self.recurring and not (groups.get("which") or groups.get("year"))
                yield Mention(
                    begin=begin,
                    stop=stop,
                    interval=interval,
                    recurs=recurs,
                    may_be_habit=recurs and not groups.get("day"),
                    reread=lambda other, match=match: self.read(match, other),
                )


def read_rules(language: Tongue, readers: Mapping[str, Reader]) -> tuple[Rule, ...]:
    """Return the rules of a language; each has the name of its reader."""
    words = lexicon(language, "times")
    return tuple(
        Rule(
            clues=frozenset(entry["clues"].split()),
            pattern=words.either(entry["pattern"]),
            read=readers[entry["name"]],
            recurring=entry.get("recurring", False),
        )
        for entry in words.rules()
    )


def pattern(language: Tongue, name: str) -> re.Pattern[str]:
    """Return a pattern from the times file of a language."""
    return lexicon(language, "times").regex(name, FLAGS)


def within_calendar(compute: Callable[[], Interval | None]) -> Interval | None:
    """Return the computed interval; None for the 30th of February or the year 10000."""
    try:
        return compute()
    except (ValueError, OverflowError):
        return None


def longest(found: Iterable[AnyFound]) -> list[AnyFound]:
    """Return the finds in order; of overlapping ones only the longest."""
    kept: list[AnyFound] = []
    for one in sorted(found, key=lambda one: (one.begin, -one.stop)):
        while kept and one.begin < kept[-1].stop:
            if one.stop - one.begin <= kept[-1].stop - kept[-1].begin:
                break
            kept.pop()
        else:
            kept.append(one)
    return kept
