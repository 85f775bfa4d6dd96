"""The headings of a text: their positions, levels and titles."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final

from recollect.domain.document import MAX_HEADING

_FENCE: Final = re.compile(r" {0,3}(```+|~~~+)")
_ATX: Final = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*")
_UNDERLINE: Final = re.compile(r" {0,3}(=+|-{2,})[ \t]*")
_MAX_LINE_CHARS: Final = 100
_ENDS_LIKE_A_SENTENCE: Final = tuple("。；，,;.!！?？:：")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading: the start of its line, its level from 1, and its title."""

    start: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class _Rules:
    numbered: tuple[tuple[int, re.Pattern[str]], ...]
    framed: tuple[re.Pattern[str], ...]
    code: re.Pattern[str]


def markdown_headings(text: str) -> tuple[Heading, ...]:
    """Return the headings of Markdown, except those inside code."""
    return tuple(_markdown(text))


def text_headings(text: str) -> tuple[Heading, ...]:
    """Return the numbered (Chinese and English) and framed headings of plain text."""
    return tuple(_plain(text))


def code_headings(text: str) -> tuple[Heading, ...]:
    """Return the unindented definitions in source code as headings."""
    pattern = _rules().code
    return tuple(
        Heading(start=start, level=1, title=found[1][:MAX_HEADING])
        for start, line in _lines(text)
        if (found := pattern.match(line))
    )


def _markdown(text: str) -> Iterator[Heading]:
    fence = ""
    before: tuple[int, str] | None = None
    for start, line in _lines(text):
        marked = _FENCE.match(line)
        if marked and (not fence or marked[1].startswith(fence)):
            fence = "" if fence else marked[1][:3]
            before = None
            continue
        if fence:
            continue
        atx = _ATX.fullmatch(line)
        if atx and atx[2]:
            yield Heading(start=start, level=len(atx[1]), title=atx[2][:MAX_HEADING])
            before = None
            continue
        underline = _UNDERLINE.fullmatch(line)
        if underline and before is not None and len(before[1]) <= _MAX_LINE_CHARS:
            level = 1 if underline[1].startswith("=") else 2
            yield Heading(start=before[0], level=level, title=before[1][:MAX_HEADING])
        is_words = bool(line.strip()) and not line.startswith((" ", "\t", "-", "*", ">", "|", "+"))
        before = (start, line.strip()) if is_words and before is None else None


def _plain(text: str) -> Iterator[Heading]:
    rules = _rules()
    for start, line in _lines(text):
        words = line.strip()
        if not words or len(words) > _MAX_LINE_CHARS:
            continue
        if framed := next(
            (found for rule in rules.framed if (found := rule.fullmatch(words))), None
        ):
            yield Heading(
                start=start, level=framed[1].count("="), title=framed[2].strip()[:MAX_HEADING]
            )
        elif not words.endswith(_ENDS_LIKE_A_SENTENCE):
            # The deepest match is the most specific: 1.1.1 also matches 1.1.
            levels = [level for level, rule in rules.numbered if rule.match(words)]
            if levels:
                yield Heading(start=start, level=max(levels), title=words[:MAX_HEADING])


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with their start positions, without line endings."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, text[start:end].removesuffix("\r")
        start = end + 1


@lru_cache(maxsize=1)
def _rules() -> _Rules:
    data = tomllib.loads(
        files("recollect.knowledge").joinpath("headings.toml").read_text(encoding="utf-8")
    )
    return _Rules(
        numbered=tuple((rule["level"], re.compile(rule["pattern"])) for rule in data["numbered"]),
        framed=tuple(re.compile(rule["pattern"]) for rule in data["framed"]),
        code=re.compile(data["code"]["pattern"]),
    )
