"""Split long texts into passages at the ends of paragraphs, lines or sentences."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

# About what a small embedding model reads at once. A Chinese character says as much as a
# short English word, so it counts for several.
PASSAGE_SIZE: Final = 1_500
_WIDE: Final = 3
_WIDE_CHARACTERS: Final = re.compile(
    "[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
# From the best place to cut to the worst.
_BREAKS: Final = (
    re.compile(r"\n\s*\n+"),
    re.compile(r"\n+"),
    re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；…])"),
    re.compile(r"\s+|(?<=[，、,])"),
)


def passages(text: str, size: int = PASSAGE_SIZE) -> list[tuple[int, int]]:
    """Return start and end of each passage; together they are the whole text."""
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
    return spans or [(0, len(text))]


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
    return end - start + (_WIDE - 1) * len(_WIDE_CHARACTERS.findall(text, start, end))
