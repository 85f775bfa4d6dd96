"""Wishes to forget something that is remembered: "forget my phone number", 别再记我的电话.

A wish names a thing and whose it is, or that its owner told it. "Don't forget …" is the opposite,
"I forgot …" tells something, and "forget it" takes back what was just said; none of them is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from recollect.domain.context import Tongue
from recollect.language.claims import moods
from recollect.language.entities import entities
from recollect.language.extraction.utterances import Sentence, readable, sentences
from recollect.language.lexicon import lexicon

_HAN: Final = re.compile("[\u4e00-\u9fff]")
_MAX_THING_CHARACTERS: Final = 60


class ForgetWish(NamedTuple):
    """A thing that is not to be remembered any more, as a question, and where that was said."""

    question: str
    said: Sentence


def forget_wishes(text: str) -> Iterator[ForgetWish]:
    """Yield what a user's words ask to forget."""
    for it in sentences(readable(text)):
        if found := _thing(it.plain):
            start, end = found.span("thing")
            questions = lexicon(_language(it.plain), "forgetting").table("questions")
            asked = questions["told" if "told" in found.groupdict() else "what"]
            yield ForgetWish(asked.format(text[it.start + start : it.start + end]), it)


def asks_to_forget(sentence: str) -> bool:
    """Return whether a plain sentence asks to forget something that it names."""
    return _thing(sentence) is not None


def told_parts(text: str) -> list[str]:
    """Return the parts of a text that each tell a value of their own."""
    words = lexicon(_language(text), "forgetting")
    return [
        part for part in map(str.strip, words.regex("between").split(text)) if tells_value(part)
    ]


def tells_value(text: str) -> bool:
    """Return whether a text gives a number or a name."""
    return bool(re.search(r"\d", text) or entities(text))


def _language(text: str) -> Tongue:
    return "zh" if _HAN.search(text) else "en"


def _thing(sentence: str) -> re.Match[str] | None:
    """Return how a sentence names the thing to forget, if it asks for that."""
    language = _language(sentence)
    matches = () if moods.asks(sentence) else (it.match(sentence) for it in _patterns(language))
    return next(filter(None, matches), None)


@cache
def _patterns(language: Tongue) -> tuple[re.Pattern[str], ...]:
    words = lexicon(language, "forgetting")
    asking, owner, told, ending = map(words.pattern, ("asking", "owner", "told", "ending"))
    gap = r"\s+" if language == "en" else ""
    what = rf"[^,，.。;；!！?？]{{1,{_MAX_THING_CHARACTERS}}}?"
    end = rf"(?:{ending})?\s*(?=[,，.。;；!！?？]|$)"
    things = rf"(?P<thing>{owner}{gap}{what})", rf"(?P<told>{told}){gap}(?P<thing>{what})"
    found = [rf"{asking}{gap}{thing}{end}" for thing in things]
    if language == "zh":
        before, behind = map(words.pattern, ("asking_before", "ways_behind"))
        found += [f"{before}{thing}{behind}{end}" for thing in things]
    return tuple(map(re.compile, found))
