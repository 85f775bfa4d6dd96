"""Procedures: numbered steps, "when I ask for X, do Y", "first … then …", 每次…都…."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from recollect.domain.context import Tongue
from recollect.domain.record import Procedure
from recollect.language.claims.moods import asks
from recollect.language.lexicon import bilingual, both, lexicon

_MAX_TITLE_CHARACTERS: Final = 80
_MIN_STEPS: Final = 2
_EDGE: Final = " \t\n,;:.!，。；：！、"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundProcedure:
    """A procedure and its place in the message."""

    start: int
    end: int
    title: str
    details: Procedure


# --- Lists ---------------------------------------------------------------------------------------

_HAN_NUMBERS: Final = "一二三四五六七八九十"
_CIRCLED: Final = "①②③④⑤⑥⑦⑧⑨"
_STEP_LINE: Final = re.compile(
    r"^[ \t]*(?:step |第)?(?P<number>(?:(?<=step )\d{1,2}(?=[:. ]))|\d{1,2}(?=[.)、．）])"
    r"|(?<=第)[一二三四五六七八九十](?=步))[.)、．）:：步]?[:：，,、 ]?[ \t]*(?P<what>[^\n]+)$",
    re.MULTILINE,
)
# The same in one line: "To release: 1. bump the version 2. tag it".
_STEPS_IN_LINE: Final = re.compile(
    r"^[^\n:：]{2,80}[:：][ \t]*(?P<steps>(?:1[.)、．）]|①)[^\n]+)$", re.MULTILINE
)
_STEP_NUMBER: Final = re.compile(r"(?<!\d)(?P<number>\d{1,2}(?=[.)、．）](?!\d))|[①-⑨])[.)、．）]?")
# Where the words before a list are, and its steps.
_List = tuple[tuple[int, int], list[tuple[int, int]]]


def listed(text: str, plain: str) -> Iterator[FoundProcedure]:
    """Yield the lists of numbered steps that follow words naming what they do."""
    for intro, steps in (*_below_each_other(plain), *_in_one_line(plain)):
        words = plain[slice(*intro)]
        is_asked = asks(words) or any(asks(plain[slice(*step)]) for step in steps)
        names = bilingual("procedures", "names_a_procedure").search(words)
        if len(steps) < _MIN_STEPS or is_asked or not names:
            continue
        said = text[slice(*intro)].strip(_EDGE)
        title = said[opening.end() :] if (opening := _intro_opening().match(said)) else said
        yield FoundProcedure(
            start=intro[0],
            end=steps[-1][1],
            title=title[:_MAX_TITLE_CHARACTERS],
            details=Procedure(
                trigger=title, steps=tuple(text[slice(*step)].strip(_EDGE) for step in steps)
            ),
        )


def _in_one_line(plain: str) -> Iterator[_List]:
    for line in _STEPS_IN_LINE.finditer(plain):
        numbers = list(_STEP_NUMBER.finditer(plain, *line.span("steps")))
        if [_number(it) for it in numbers] == list(range(1, len(numbers) + 1)):
            ends = (*(number.start() for number in numbers[1:]), line.end())
            steps = [(it.end(), end) for it, end in zip(numbers, ends, strict=True)]
            yield (line.start(), line.start("steps")), steps


def _below_each_other(plain: str) -> Iterator[_List]:
    steps: list[re.Match[str]] = []
    for line in (*_STEP_LINE.finditer(plain), None):
        number = _number(line) if line else 0
        follows = not steps or (line and not plain[steps[-1].end() : line.start()].strip())
        if line and follows and number == len(steps) + 1:
            steps.append(line)
            continue
        if steps:
            before = plain[: steps[0].start()].rstrip()
            yield (before.rfind("\n") + 1, len(before)), [step.span("what") for step in steps]
        steps = [line] if line and number == 1 else []


def _number(found: re.Match[str]) -> int:
    digits = found["number"]
    if digits.isdecimal():
        return int(digits)
    return (_HAN_NUMBERS if digits in _HAN_NUMBERS else _CIRCLED).index(digits) + 1


# --- Sentences -----------------------------------------------------------------------------------


def in_sentence(text: str, plain: str, offset: int) -> FoundProcedure | None:
    """Return the procedure that a sentence states, if it states one."""
    match = _stated(plain)
    if match is None or asks(plain):
        return None
    trigger = _slice(text, match, "trigger", offset)
    steps = _steps(_slice(text, match, "steps", offset))
    return FoundProcedure(
        start=offset,
        end=offset + len(plain),
        title=(trigger or steps[0])[:_MAX_TITLE_CHARACTERS],
        details=Procedure(trigger=trigger, steps=steps),
    )


def _stated(plain: str) -> re.Match[str] | None:
    if plain.isascii():
        return next(filter(None, (rule.match(plain) for _, rule in _rules("en"))), None)
    found = (rule.search(plain) for clue, rule in _rules("zh") if clue in plain)
    return next(filter(None, found), None)


@cache
def _rules(language: Tongue) -> Sequence[tuple[str, re.Pattern[str]]]:
    """Return the patterns of procedures, each with a character it cannot do without."""
    words = lexicon(language, "procedures")
    return [
        (rule.get("clue", ""), re.compile(words.either(rule["pattern"]))) for rule in words.rules()
    ]


@cache
def _intro_opening() -> re.Pattern[str]:
    return re.compile(rf"{both('procedures', 'intro_opening')}\s*", re.IGNORECASE)


@cache
def _step_opening() -> re.Pattern[str]:
    return re.compile(f"{both('procedures', 'step_opening')}+", re.IGNORECASE)


def _slice(text: str, match: re.Match[str], group: str, offset: int) -> str:
    start, end = match.span(group)
    return text[offset + start : offset + end].strip(_EDGE)


def _steps(words: str) -> tuple[str, ...]:
    pieces = (piece.strip(_EDGE) for piece in bilingual("procedures", "between_steps").split(words))
    steps = (piece[_opening(piece) :].strip(_EDGE) for piece in pieces)
    return tuple(step for step in steps if step) or (words,)


def _opening(step: str) -> int:
    match = _step_opening().match(step)
    return match.end() if match else 0
