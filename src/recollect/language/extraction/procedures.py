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

_STEP_LINE: Final = re.compile(
    r"^[ \t]*(?:(?P<number>\d{1,2})[.)、．）]|step (?P<step>\d{1,2})[:. ]"
    r"|第(?P<han>[一二三四五六七八九十])步[:：，,、 ]?)[ \t]*(?P<what>[^\n]+)$",
    re.MULTILINE,
)
_HAN_NUMBERS: Final = "一二三四五六七八九十"
# The same in one line: "To release: 1. bump the version 2. tag it".
_STEPS_IN_LINE: Final = re.compile(
    r"^(?P<intro>[^\n:：]{2,80})[:：][ \t]*(?P<steps>(?:1[.)、．）]|①)[^\n]+)$", re.MULTILINE
)
_STEP_NUMBER: Final = re.compile(r"(?<!\d)(?P<number>\d{1,2})[.)、．）](?!\d)|[①-⑨]")


def listed(text: str, plain: str) -> Iterator[FoundProcedure]:
    """Yield the lists of numbered steps that follow words naming what they do."""
    yield from _below_each_other(text, plain)
    yield from _in_one_line(text, plain)


def _in_one_line(text: str, plain: str) -> Iterator[FoundProcedure]:
    for line in _STEPS_IN_LINE.finditer(plain):
        numbers = list(_STEP_NUMBER.finditer(plain, *line.span("steps")))
        counted = [number["number"] or str(ord(number[0]) - ord("①") + 1) for number in numbers]
        if len(numbers) < _MIN_STEPS or counted != list(map(str, range(1, len(counted) + 1))):
            continue
        if asks(line[0]) or not bilingual("procedures", "names_a_procedure").search(
            f"{line['intro']}:"
        ):
            continue
        ends = [*(number.start() for number in numbers[1:]), line.end()]
        title = _slice(text, line, "intro", 0)
        steps = (
            text[number.end() : end].strip(_EDGE) for number, end in zip(numbers, ends, strict=True)
        )
        yield FoundProcedure(
            start=line.start(),
            end=line.end(),
            title=title[:_MAX_TITLE_CHARACTERS],
            details=Procedure(trigger=title, steps=tuple(steps)),
        )


def _below_each_other(text: str, plain: str) -> Iterator[FoundProcedure]:
    steps: list[re.Match[str]] = []
    for line in _STEP_LINE.finditer(plain):
        if _number(line) == len(steps) + 1 and (
            not steps or not plain[steps[-1].end() : line.start()].strip()
        ):
            steps.append(line)
            continue
        yield from _procedure_of(steps, text, plain)
        steps = [line] if _number(line) == 1 else []
    yield from _procedure_of(steps, text, plain)


def _procedure_of(steps: list[re.Match[str]], text: str, plain: str) -> Iterator[FoundProcedure]:
    if len(steps) < _MIN_STEPS or any(asks(step["what"]) for step in steps):
        return
    before = plain[: steps[0].start()].rstrip()
    start = before.rfind("\n") + 1
    intro = plain[start : len(before)]
    if not bilingual("procedures", "names_a_procedure").search(intro) or asks(intro):
        return
    said = text[start : len(before)].strip(_EDGE)
    title = said[opening.end() :] if (opening := _intro_opening().match(said)) else said
    yield FoundProcedure(
        start=start,
        end=steps[-1].end(),
        title=title[:_MAX_TITLE_CHARACTERS],
        details=Procedure(
            trigger=title,
            steps=tuple(text[slice(*step.span("what"))].strip(_EDGE) for step in steps),
        ),
    )


def _number(line: re.Match[str]) -> int:
    if line["han"]:
        return _HAN_NUMBERS.index(line["han"]) + 1
    return int(line["number"] or line["step"])


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
