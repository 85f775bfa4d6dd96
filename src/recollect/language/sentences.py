"""Split what somebody said into sentences, in Chinese and English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

# Nobody says more in one breath; what is longer was pasted.
_MAX_SENTENCE_CHARACTERS: Final = 1_000
_FENCED: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
# Rows of a table, rules and headings.
_LAYOUT: Final = re.compile(r"\s*(?:\|.*\||[-=*_|:\s]{3,}|#{1,6} .*|\*\*[^*]+\*\*)\s*$")
_LIST_MARK: Final = re.compile(r"^\s*(?:[-*•+>]|#{1,6}|\d{1,3}[.)、]|\[[ xX]\])\s+")
_EMPHASIS: Final = re.compile(r"\*\*|__|`")
# A full stop ends a sentence when a space and something that may begin one follow.
_SENTENCE_END: Final = re.compile(r"(?<=[。！？；…])|(?<=[.!?;])[\"')\]]*\s+(?=\S)")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|Dr|Mr|Mrs|Ms|St|No|Inc|Ltd|approx)|\b[A-Z])\.$"
)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text without code, tables and layout marks."""
    lines = _FENCED.sub("\n", text).splitlines()
    plain = (
        _EMPHASIS.sub("", _LIST_MARK.sub("", line)) for line in lines if not _LAYOUT.match(line)
    )
    found = (sentence.strip() for line in plain for sentence in _sentences_of_line(line))
    # What ends with a colon only announces what follows.
    return [
        sentence[:_MAX_SENTENCE_CHARACTERS]
        for sentence in found
        if sentence and sentence[-1] not in ":："
    ]


def _sentences_of_line(line: str) -> Iterator[str]:
    pending = ""
    for piece in _SENTENCE_END.split(line):
        pending = f"{pending} {piece}" if pending else piece
        if not _ABBREVIATION.search(pending):
            yield pending
            pending = ""
    yield pending
