"""Procedures: numbered steps, "when I ask for X, do Y", 每次…都…."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from recollect.domain.record import Procedure
from recollect.language.claims.moods import asks
from recollect.language.lexicon import bilingual, lexicon

_MAX_TITLE_CHARACTERS: Final = 80
_MIN_STEPS: Final = 2
_EDGE: Final = " \t\n,;:.!，。；：！、"
_NUMBERS: Final = "一二三四五六七八九十"
# Below each other, or in one line: "To release: 1. bump the version 2. tag it".
_NUMBER: Final = re.compile(
    rf"(?:^[ \t]*|(?<=[\s:：;；,，。]))(?:step |第)?(?P<number>\d{{1,2}}|[{_NUMBERS}])"
    r"(?:[.)、．）:：]|步[:：]?)(?!\d)",
    re.MULTILINE,
)


class FoundProcedure(NamedTuple):
    """A procedure and its place in the message."""

    start: int
    end: int
    title: str
    details: Procedure


def listed(text: str, plain: str) -> Iterator[FoundProcedure]:
    """Yield the lists of numbered steps that follow words naming what they do."""
    run: list[re.Match[str]] = []
    for it in (*_NUMBER.finditer(plain), None):
        number = _number(it) if it else 0
        if number != len(run) + 1:
            found = _list_of(run, text, plain) if len(run) >= _MIN_STEPS else None
            if found is not None:
                yield found
            run = []
        if it and number == len(run) + 1:
            run.append(it)


def _number(found: re.Match[str]) -> int:
    number = found["number"]
    return int(number) if number.isdecimal() else _NUMBERS.index(number) + 1


def _list_of(run: Sequence[re.Match[str]], text: str, plain: str) -> FoundProcedure | None:
    """Return the procedure of numbers that follow each other; a step ends with its line."""
    before = plain[: run[0].start()].rstrip()
    start = before.rfind("\n") + 1
    borders = [it.start() for it in run[1:]]
    ends = [plain.find("\n", it.end()) for it in run]
    steps = [
        slice(it.end(), min(end for end in (line, border) if end >= 0))
        for it, line, border in zip(run, ends, [*borders, len(plain)], strict=True)
    ]
    is_asked = asks(before[start:]) or any(asks(plain[step]) for step in steps)
    if is_asked or not bilingual("procedures", "names_a_procedure").search(before[start:]):
        return None
    title = text[start : len(before)].strip(_EDGE)
    opening = bilingual("procedures", "intro_opening", re.IGNORECASE).match(title)
    title = title[opening.end() :].strip() if opening else title
    details = Procedure(trigger=title, steps=tuple(text[step].strip(_EDGE) for step in steps))
    return FoundProcedure(start, steps[-1].stop, title[:_MAX_TITLE_CHARACTERS], details)


def in_sentence(text: str, plain: str, offset: int) -> FoundProcedure | None:
    """Return the procedure that a sentence states, if it states one."""
    stated = _rule(plain.isascii()).search(plain)
    if stated is None or asks(plain):
        return None
    trigger, said = (
        text[offset + it[0] : offset + it[1]].strip(_EDGE) for it in map(stated.span, (1, 2))
    )
    opening = bilingual("procedures", "step_opening", re.IGNORECASE)
    pieces = bilingual("procedures", "between_steps").split(said)
    steps = (opening.sub("", piece.strip(_EDGE), count=1).strip(_EDGE) for piece in pieces)
    details = Procedure(trigger=trigger, steps=tuple(filter(None, steps)))
    return FoundProcedure(offset, offset + len(plain), trigger[:_MAX_TITLE_CHARACTERS], details)


def _rule(is_english: bool) -> re.Pattern[str]:
    return lexicon("en" if is_english else "zh", "procedures").regex("conditional")
