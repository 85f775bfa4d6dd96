"""Ways of working: numbered steps, "when I ask for X, do Y", "first … then …", 每次…都…."""

# ruff: noqa: E501 (one way a line)

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from recollect.domain.record import Procedure
from recollect.text.signals import asks

_LONGEST_NAME: Final = 80
_FEWEST_STEPS: Final = 2
_EDGE: Final = " \t\n,;:.!，。；：！、"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundProcedure:
    """A way of working and where it stands in the message."""

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
_NAMES_A_PROCEDURE: Final = re.compile(
    r"\b(?:how (?:we|i|to|you)|steps?|process|procedure|workflow|routine|checklist|recipe|runbook"
    r"|to [a-z]+|when|before|after|every|whenever)\b|流程|步骤|如何|做法|顺序|操作|方法|清单|时[：:]"
)
_INTRO_OPENING: Final = re.compile(
    r"(?:here(?:'s| is| are)|this is|these are|the following(?: is)?|以下是|下面是|这是)\s*",
    re.IGNORECASE,
)


# The same in one line: "To release: 1. bump the version 2. tag it".
_STEPS_IN_LINE: Final = re.compile(
    r"^(?P<intro>[^\n:：]{2,80})[:：][ \t]*(?P<steps>(?:1[.)、．）]|①)[^\n]+)$", re.MULTILINE
)
_STEP_NUMBER: Final = re.compile(r"(?<!\d)(?P<number>\d{1,2})[.)、．）](?!\d)|[①-⑨]")


def listed(text: str, plain: str) -> Iterator[FoundProcedure]:
    """Lists of numbered steps under, or behind, words that name what they do."""
    yield from _below_each_other(text, plain)
    yield from _in_one_line(text, plain)


def _in_one_line(text: str, plain: str) -> Iterator[FoundProcedure]:
    for line in _STEPS_IN_LINE.finditer(plain):
        numbers = list(_STEP_NUMBER.finditer(plain, *line.span("steps")))
        counted = [it["number"] or str(ord(it[0]) - ord("①") + 1) for it in numbers]
        if len(numbers) < _FEWEST_STEPS or counted != list(map(str, range(1, len(counted) + 1))):
            continue
        if asks(line[0]) or not _NAMES_A_PROCEDURE.search(f"{line['intro']}:"):
            continue
        ends = [*(it.start() for it in numbers[1:]), line.end()]
        title = _slice(text, line, "intro", 0)
        steps = (text[it.end() : end].strip(_EDGE) for it, end in zip(numbers, ends, strict=True))
        yield FoundProcedure(
            start=line.start(),
            end=line.end(),
            title=title[:_LONGEST_NAME],
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
    if len(steps) < _FEWEST_STEPS or any(asks(step["what"]) for step in steps):
        return
    before = plain[: steps[0].start()].rstrip()
    start = before.rfind("\n") + 1
    intro = plain[start : len(before)]
    if not _NAMES_A_PROCEDURE.search(intro) or asks(intro):
        return
    said = text[start : len(before)].strip(_EDGE)
    title = said[opening.end() :] if (opening := _INTRO_OPENING.match(said)) else said
    yield FoundProcedure(
        start=start,
        end=steps[-1].end(),
        title=title[:_LONGEST_NAME],
        details=Procedure(
            trigger=title, steps=tuple(text[slice(*it.span("what"))].strip(_EDGE) for it in steps)
        ),
    )


def _number(line: re.Match[str]) -> int:
    if line["han"]:
        return _HAN_NUMBERS.index(line["han"]) + 1
    return int(line["number"] or line["step"])


# --- Sentences -----------------------------------------------------------------------------------

_NO_ORDER: Final = (
    r"(?!(?:i|i'm|i've|i'd|i'll|we|we're|it|it's|they|he|she|the|there|that|this|these|those|my|our|his"
    r"|her|its|their|a|an|so|not|nothing|everything|everyone|people|what|why|how|who|don't know|sorry|let me know|just let me|feel free)\b"
    r"|you (?!should|must|need|have to|always)|\w+ed\b)"
)
_ENGLISH: Final = (
    re.compile(
        rf"^(?:please |also |and |ok,? |so |now |then )*(?:whenever|when|every time|each time|any ?time|if"
        rf"|(?:before|after|once)(?= (?:each|every|any|you|i|we|the|an?)\b))\b (?P<trigger>[^,]{{3,120}}), *(?:then |please |always |you should )*"
        rf"(?P<steps>{_NO_ORDER}[a-z][^?]{{3,}})"
    ),
    re.compile(
        rf"^(?:please )?(?P<steps>{_NO_ORDER}(?!when|if|before|after)[a-z][^,?]{{3,120}}?),? "
        r"(?P<trigger>(?:whenever|every time|each time|before each|before every|after each|after every)\b"
        r" [^?]{3,120})"
    ),
    re.compile(
        r"^(?:please )?(?P<trigger>(?:for (?:every|each|any)|on every|with every) [^,:]{3,60})[,:] *"
        rf"(?P<steps>{_NO_ORDER}[a-z][^?]{{8,}})"
    ),
    re.compile(
        r"^(?P<trigger>[^,:]{3,80}?)(?: like this| this way| as follows| in this order|routine|process|procedure|steps"
        r"|workflow): *(?P<steps>[^,?]{3,}, [^?]{3,})"
    ),
    re.compile(
        rf"^(?P<trigger>)(?P<steps>first,? {_NO_ORDER}[a-z][^?]{{3,120}}?,? (?:and )?then [^?]{{3,}})"
    ),
)
# Each with a character that it cannot do without: most sentences have none of them.
_CHINESE: Final = (
    (
        "每",
        re.compile(
            "(?:^|[，,：:。 我你请在])"
            "(?:每次|每当|每逢|每回|每(?=[个场份篇批单][^，,。]{1,16}(?:都要|都得|必须|结束|完成|之?前|之?后)))"
            "(?P<trigger>[^，,。]{1,24}?(?:的时候|时|之?前|之?后)?)[，,]?"
            "(?P<steps>你?(?:都|就|请|要|先|必须|务必|给我|得|把)[^？?]{2,})"
        ),
    ),
    (
        "你",
        re.compile(
            "(?P<trigger>我(?:让|叫|要|请|问)你[^，,。]{1,24}?(?:的时候|时|，就))[，,]?(?P<steps>(?!我)[^？?]{3,})"
        ),
    ),
    (
        "时",
        re.compile("当(?P<trigger>[^，,。]{2,24}?(?:的时候|时))[，,]?(?P<steps>(?!我)[^？?]{3,})"),
    ),
    (
        "就",
        re.compile(
            "(?P<trigger>我(?:给你|发|说|问|提|贴)[^，,。]{1,20})[，,](?P<steps>你?就[^？?]{3,})"
        ),
    ),
    (
        "果",
        re.compile(
            "如果(?P<trigger>[^，,。]{2,30})[，,]"
            "(?P<steps>(?:就|则|请|一律|要|先|直接|那就)(?!好)[^？?]{2,})"
        ),
    ),
    (
        "：",
        re.compile(
            "(?P<trigger>[^，,。：]{2,24}?)(?:这样做|如下|的?步骤|的?流程|的?顺序)："
            "(?P<steps>[^，,？?]{2,}[，,][^？?]{2,})"
        ),
    ),
    (
        "先",
        re.compile(
            "(?P<trigger>)(?P<steps>先[^，,。]{2,24}[，,](?:然后|接着|再)[^？?]{2,}?"
            "(?:最后|[，,](?:再|然后|接着))[^？?]{2,})"
        ),
    ),
)
_BETWEEN_STEPS: Final = re.compile(
    r",? (?:and )?then |,? and finally |,? finally |,? after that,? |; |, (?=\w+ )| and (?=post |send |open |run |add )"
    r"|[，,；;](?:然后|接着|随后|最后|再|并|之后)?|(?:然后|接着|最后)"
)
_STEP_OPENING: Final = re.compile(
    r"(?:(?:first|then|finally)\b[ ,]*|[都就要先再请]|最后|必须)+", re.IGNORECASE
)


def in_sentence(text: str, plain: str, offset: int) -> FoundProcedure | None:
    """The way of working that a sentence states, if it states one."""
    match = _stated(plain)
    if match is None or asks(plain):
        return None
    trigger = _slice(text, match, "trigger", offset)
    steps = _steps(_slice(text, match, "steps", offset))
    return FoundProcedure(
        start=offset,
        end=offset + len(plain),
        title=(trigger or steps[0])[:_LONGEST_NAME],
        details=Procedure(trigger=trigger, steps=steps),
    )


def _stated(plain: str) -> re.Match[str] | None:
    if plain.isascii():
        return next(filter(None, (pattern.match(plain) for pattern in _ENGLISH)), None)
    found = (pattern.search(plain) for clue, pattern in _CHINESE if clue in plain)
    return next(filter(None, found), None)


def _slice(text: str, match: re.Match[str], group: str, offset: int) -> str:
    start, end = match.span(group)
    return text[offset + start : offset + end].strip(_EDGE)


def _steps(words: str) -> tuple[str, ...]:
    pieces = (piece.strip(_EDGE) for piece in _BETWEEN_STEPS.split(words))
    steps = (piece[_opening(piece) :].strip(_EDGE) for piece in pieces)
    return tuple(step for step in steps if step) or (words,)


def _opening(step: str) -> int:
    match = _STEP_OPENING.match(step)
    return match.end() if match else 0
