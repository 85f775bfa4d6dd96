"""How words that show something are written down: one way a line, compiled when first needed.

An English pattern begins at the beginning of a word, which lets most places in a text be passed by
at once. Every repetition is bounded, so the time stays linear in the text.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple


def one_of(words: str) -> str:
    """A group of the words, which are separated by spaces."""
    return f"(?:{'|'.join(words.split())})"


def word_set(words: str) -> frozenset[str]:
    """The words, which are separated by spaces."""
    return frozenset(words.split())


def lines(ways: str) -> str:
    """A group of the ways, each a line."""
    return f"(?:{'|'.join(line.strip() for line in ways.strip().splitlines())})"


def at_words(ways: str) -> str:
    """A group of English ways, each a line, that begin where a word begins."""
    return rf"\b{lines(ways)}"


class Signs(NamedTuple):
    """Ways to show something: at the beginning of a sentence, or wherever."""

    start: str = ""
    anywhere: str = ""

    def find(self, sentence: str) -> re.Match[str] | None:
        """The words that show it, if there are any."""
        found = compiled(self.start).match(sentence) if self.start else None
        if found is None and self.anywhere:
            found = compiled(self.anywhere).search(sentence)
        return found


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Made ready when a sentence first needs it: all together would slow down every import."""
    return re.compile(pattern)
