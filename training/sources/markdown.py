"""Pairs from Markdown: the same page in two languages, both languages in one page, one page alone.

A page is a list of blocks. Two pages are aligned block by block as a whole: what is the same in
both languages (names, numbers, code) and how long the blocks are decide, so a paragraph that only
one of them has shifts nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from training.sources.markup import plain_markdown
from training.sources.rows import HAN

_FRONT = re.compile(r"\A---\s*\n(.*?)\n---\s*\n", re.DOTALL)
_TITLE = re.compile(r"^title:\s*[\"']?(.+?)[\"']?\s*$", re.MULTILINE)
_FENCE = re.compile(r"^\s*(```|~~~)")
_HEADING = re.compile(r"^(#{1,6})\s+(.*)$")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(.*)$")
_MARKED = re.compile(r"^\s*(?:[|>]|:::|import |export |\{%|\[[^\]]+\]:)")
_LATIN = re.compile(r"[A-Za-z][\w.-]+|\d+")
# A Chinese character stands for about so many letters.
_LETTERS_A_CHARACTER = 2.8
_WORTH_PAIRING = 0.55


@dataclass(frozen=True)
class Block:
    """A heading, paragraph, list item or piece of code."""

    kind: str
    text: str
    level: int = 0
    latin: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "latin", frozenset(_LATIN.findall(self.text)))

    @cached_property
    def han(self) -> int:
        return len(HAN.findall(self.text))

    @cached_property
    def letters(self) -> int:
        """About how long the text would be in English."""
        return round(len(self.text) + (_LETTERS_A_CHARACTER - 1) * self.han)


def blocks(page: str) -> list[Block]:
    """Return the blocks of a page, its title first."""
    found: list[Block] = []
    if front := _FRONT.match(page):
        page = page[front.end() :]
        if title := _TITLE.search(front[1]):
            found.append(Block("heading", plain_markdown(title[1]), 1))
    kind, lines = "paragraph", list[str]()

    def close() -> None:
        nonlocal kind
        text = plain_markdown("\n".join(lines))
        if text:
            found.append(Block(kind, text))
        lines.clear()
        kind = "paragraph"

    code: list[str] | None = None
    for line in page.splitlines():
        if _FENCE.match(line):
            if code is None:
                close()
                code = []
            else:
                found.append(Block("code", "\n".join(code)))
                code = None
        elif code is not None:
            code.append(line)
        elif heading := _HEADING.match(line):
            close()
            found.append(Block("heading", plain_markdown(heading[2]), len(heading[1])))
        elif item := _ITEM.match(line):
            close()
            kind = "item"
            lines.append(item[1])
        elif not line.strip() or _MARKED.match(line):
            close()
        else:
            lines.append(line)
    close()
    return found


def aligned(chinese: list[Block], english: list[Block]) -> Iterator[tuple[str, str]]:
    """Yield the blocks of two pages that translate each other."""
    height, width = len(chinese), len(english)
    best = [[0.0] * (width + 1) for _ in range(height + 1)]
    for row in range(height - 1, -1, -1):
        mine, here, below = chinese[row], best[row], best[row + 1]
        for column in range(width - 1, -1, -1):
            skipped = max(below[column], here[column + 1])
            here[column] = max(skipped, below[column + 1] + _likeness(mine, english[column]))
    row = column = 0
    while row < height and column < width:
        score = _likeness(chinese[row], english[column])
        if score > 0 and best[row][column] == best[row + 1][column + 1] + score:
            if chinese[row].kind != "code" and score >= _WORTH_PAIRING:
                yield chinese[row].text, english[column].text
            row, column = row + 1, column + 1
        elif best[row][column] == best[row + 1][column]:
            row += 1
        else:
            column += 1


def _likeness(chinese: Block, english: Block) -> float:
    if chinese.kind != english.kind or chinese.level != english.level:
        return -1.0
    if chinese.kind == "code":
        return 1.0 if chinese.text == english.text else 0.3
    length = math.exp(-abs(math.log(max(chinese.letters, 1) / max(len(english.text), 1))))
    if not chinese.latin and not english.latin:
        return 0.8 * length
    shared = len(chinese.latin & english.latin) / max(len(chinese.latin), 1)
    return (length + shared) / 2 if chinese.latin else 0.8 * length


def commented(page: str) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a page that has each English passage as a comment before the Chinese."""
    parts = re.split(r"<!--(.*?)-->", _FRONT.sub("", page), flags=re.DOTALL)
    for english, chinese in zip(parts[1::2], parts[2::2], strict=True):
        yield from aligned(blocks(chinese), blocks(english))


def in_turn(page: str) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a page in which a Chinese block follows each English one."""
    found = blocks(page)
    for english, chinese in pairwise(found):
        if not english.han and chinese.han and _likeness(chinese, english) >= _WORTH_PAIRING:
            yield chinese.text, english.text


def companions_of(page: str) -> Iterator[tuple[str, str]]:
    """Yield headings with what follows them, and paragraphs with the next one."""
    titles: dict[int, str] = {}
    last: Block | None = None
    for block in blocks(page):
        if block.kind == "heading":
            titles = {level: it for level, it in titles.items() if level < block.level}
            titles[block.level] = block.text
            last = block
        elif block.kind == "paragraph" and block.han >= 20:
            if last is not None and last.kind == "heading":
                yield " ".join(titles[level] for level in sorted(titles)[-2:]), block.text
            elif last is not None:
                yield last.text, block.text
            last = block
        elif block.kind == "code":
            last = None
