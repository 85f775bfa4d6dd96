"""Split texts into sentences and into passages, in Chinese and English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

# Nobody says more in one breath; what is longer was pasted.
_MAX_SENTENCE_CHARACTERS: Final = 1_000
_FENCED: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
# Rules of a page; rows of a table, and headings.
_RULE: Final = re.compile(r"[-=*_|:\s]{3,}")
_LAYOUT: Final = re.compile(r"\|.*\|\s*|#{1,6} .*|\*\*[^*]+\*\*\s*")
_LIST_MARK: Final = re.compile(r"^\s*(?:[-*•+>]|#{1,6}|\d{1,3}[.)、]|\[[ xX]\])\s+")
_LAYOUT_BEGINS: Final = frozenset("-=*_|:#")
_EMPHASISED: Final = frozenset("*_`")
_EMPHASIS: Final = re.compile(r"\*\*|__|`")
# A full stop ends a sentence when a space and something that may begin one follow.
_SENTENCE_END: Final = re.compile(r"(?<=[。！？；…])|(?<=[.!?;])[\"')\]]*\s+(?=\S)")
_ASCII_END: Final = re.compile(r"[.!?;][\"')\]]*\s+(?=\S)")
_LONGEST_ABBREVIATION: Final = 8
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|Dr|Mr|Mrs|Ms|St|No|Inc|Ltd|approx)|\b[A-Z])\.$"
)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text without code, tables and layout marks."""
    # Most texts have no marks, and need not be searched for them several times.
    lines = (_FENCED.sub("\n", text) if "```" in text else text).splitlines()
    plain = (_without_mark(line) for line in lines if not _is_layout(line))
    if not _EMPHASISED.isdisjoint(text):
        plain = (_EMPHASIS.sub("", line) for line in plain)
    found = (sentence.strip() for line in plain for sentence in _sentences_of_line(line))
    # What ends with a colon only announces what follows.
    return [
        sentence[:_MAX_SENTENCE_CHARACTERS]
        for sentence in found
        if sentence and sentence[-1] not in ":："
    ]


def _ascii_pieces(line: str) -> Iterator[str]:
    """Yield what the general pattern yields, several times faster."""
    begin = 0
    for end in _ASCII_END.finditer(line):
        yield line[begin : end.start() + 1]
        begin = end.end()
    yield line[begin:]


def _without_mark(line: str) -> str:
    mark = _LIST_MARK.match(line)
    return line if mark is None else line[mark.end() :]


def _is_layout(line: str) -> bool:
    begin = line.lstrip()[:1]
    if begin and begin not in _LAYOUT_BEGINS:
        return False
    is_layout = _RULE.fullmatch(line) or _LAYOUT.fullmatch(line.lstrip())
    return is_layout is not None


def _sentences_of_line(line: str) -> Iterator[str]:
    pending = ""
    for piece in _ascii_pieces(line) if line.isascii() else _SENTENCE_END.split(line):
        pending = f"{pending} {piece}" if pending else piece
        if not _ABBREVIATION.search(pending, max(0, len(pending) - _LONGEST_ABBREVIATION)):
            yield pending
            pending = ""
    yield pending


# --- Split long texts into passages at the ends of paragraphs, lines or sentences -----------------

# About what a small embedding model reads at once. A Chinese character says as much as a
# short English word, so it counts for several.
PASSAGE_SIZE: Final = 1_500
_WIDE: Final = 3
_WIDE_CHARACTERS: Final = re.compile(
    "[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
# From the best place to cut to the worst.
_BREAKS: Final = (
    re.compile(r"\n\s*\n"),
    re.compile(r"\n+"),
    re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；…])"),
    re.compile(r"\s+|(?<=[，、,])"),
)


def passages(text: str, size: int = PASSAGE_SIZE) -> list[tuple[int, int]]:
    """Return start and end of each passage; together they are the whole text."""
    if reading_size(text, 0, len(text)) <= size:
        return [(0, len(text))]
    spans: list[tuple[int, int]] = []
    filled = 0
    for start, end in _pieces(text, 0, len(text), size, 0):
        more = reading_size(text, start, end)
        if spans and filled + more <= size:
            spans[-1] = (spans[-1][0], end)
            filled += more
        else:
            spans.append((start, end))
            filled = more
    return spans


def _pieces(text: str, start: int, end: int, size: int, level: int) -> list[tuple[int, int]]:
    """Yield pieces that fit, cut at the best places."""
    if reading_size(text, start, end) <= size:
        return [(start, end)]
    if level == len(_BREAKS):
        # One endless word: cut anywhere.
        step = max(1, size // _WIDE)
        return [(at, min(at + step, end)) for at in range(start, end, step)]
    cuts = [match.end() for match in _BREAKS[level].finditer(text, start, end)]
    edges = [start, *(cut for cut in cuts if start < cut < end), end]
    return [
        piece
        for before, after in pairwise(edges)
        for piece in _pieces(text, before, after, size, level + 1)
    ]


def reading_size(text: str, start: int, end: int) -> int:
    """Return how much there is to read; far beyond a passage the count is approximate."""
    if end - start > PASSAGE_SIZE * _WIDE:
        return end - start
    return end - start + (_WIDE - 1) * sum(map(len, _WIDE_CHARACTERS.findall(text, start, end)))
