"""Wishes to forget something that is remembered: "forget my phone number", 别再记我的电话.

A wish names a thing and whose it is, or that its owner told it. "Don't forget …" is the opposite,
"I forgot …" tells something, and "forget it" takes back what was just said; none of them is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from recollect.domain.context import Tongue
from recollect.domain.record import Evidence
from recollect.language.claims import moods
from recollect.language.entities import entities
from recollect.language.extraction.utterances import Sentence, readable, sentences
from recollect.language.lexicon import lexicon

_HAN: Final = re.compile("[\u4e00-\u9fff]")
_MAX_THING_CHARACTERS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetWish:
    """A thing that is not to be remembered any more, as a question, and where that was said."""

    thing: str
    question: str
    language: Tongue
    evidence: Evidence


def forget_wishes(turn: str, text: str) -> list[ForgetWish]:
    """Return what the words of a user's turn ask to forget."""
    return [*_wishes(turn, text)]


def asks_to_forget(sentence: str) -> bool:
    """Return whether a plain sentence asks to forget something that it names."""
    return _thing(sentence) is not None


def told_parts(text: str) -> list[str]:
    """Return the parts of a text that each tell a value of their own: a number or a name."""
    words = lexicon("zh" if _HAN.search(text) else "en", "forgetting")
    parts = (part.strip() for part in words.regex("between").split(text))
    return [part for part in parts if re.search(r"\d", part) or entities(part)]


def _wishes(turn: str, text: str) -> Iterator[ForgetWish]:
    for sentence in sentences(readable(text)):
        if (found := _thing(sentence.plain)) is not None:
            language = _language(sentence)
            start, end = found.span("thing")
            thing = text[sentence.start + start : sentence.start + end]
            questions = lexicon(language, "forgetting").table("questions")
            is_told = found.groupdict().get("told") is not None
            yield ForgetWish(
                thing=thing,
                question=questions["told" if is_told else "what"].format(thing),
                language=language,
                evidence=Evidence(turn=turn, start=sentence.start, end=sentence.end),
            )


def _language(sentence: Sentence) -> Tongue:
    return "zh" if _HAN.search(sentence.plain) else "en"


def _thing(sentence: str) -> re.Match[str] | None:
    """Return how a sentence names the thing to forget, if it asks for that."""
    language: Tongue = "zh" if _HAN.search(sentence) else "en"
    if moods.mood(sentence) == "interrogative" and not _courtesy(language).match(sentence):
        return None
    matches = (pattern.match(sentence) for pattern in _patterns(language))
    return next(filter(None, matches), None)


@cache
def _courtesy(language: Tongue) -> re.Pattern[str]:
    """Return how a request begins that has the form of a question: "can you …", 你能不能…."""
    words = lexicon(language, "signals")
    if language == "zh":
        return re.compile(f"你?{words.pattern('courteous')}")
    return re.compile(f"{words.pattern('opening')}{words.pattern('politeness')}")


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
