"""Estimate the number of tokens of a text without a tokenizer.

A text is turned into the classes of its characters (letters a and A, digits 0, spaces, line ends,
marks), and neighbours of certain classes are counted; each count has a weight. Chinese is too
uneven for that: there, characters and pairs that are tokens of their own are looked up. Weights
and tables are fitted to OpenAI's o200k by tools/calibrate_tokens.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Final, TypedDict, cast

from recollect.language.characters import HAN
from recollect.language.lexicon import read_data

# Of a character beyond ASCII only the first byte is read: it tells the script.
_CONTINUATION: Final = bytes(range(0x80, 0xC0))
_SCRIPTS: Final = (
    (0xC4, "L"),  # accented Latin
    (0xD0, "M"),  # more Latin, Greek
    (0xE0, "R"),  # Cyrillic, Hebrew, Arabic
    (0xE2, "I"),  # Indian scripts, Thai, Georgian, Vietnamese
    (0xE3, "P"),  # dashes, quotes, symbols
    (0xE4, "J"),  # kana and Chinese punctuation
    (0xEA, "H"),  # Chinese characters
    (0xEF, "K"),  # Korean
    (0xF0, "F"),  # full-width forms
    (0x100, "E"),  # emoji
)
_OUTSIDE_CHINESE: Final = re.compile(f"[^{HAN}]+")

# What is counted: neighbours of classes. A long run of one class is cut into pieces of that length.
ASCII_PATTERNS: Final = (
    *("\n", "\n\n", "  ", "    ", "_a", ".a", "aA", "Aa", "aaaa", "AAAA"),
    *(".", " .", ".\n", ".." * 8, "0", "00", "000", " 0", "0A"),
)
OTHER_PATTERNS: Final = ("L", "M", "R", "I", "II", "P", "J", "K", "F", "E")
LOOKED_UP: Final = ("words", "characters", "rare characters", "pairs")


def _class_of(byte: int) -> str:
    if byte >= 0x80:
        return next(name for end, name in _SCRIPTS if byte < end)
    character = chr(byte)
    if character.isalpha():
        return "a" if character.islower() else "A"
    if character.isdigit():
        return "0"
    return character if character in "\n _" else {"\t": " ", "\r": "\n"}.get(character, ".")


_CLASSES: Final = "".join(map(_class_of, range(256))).encode()
_ONLY_LETTERS: Final = bytes(c if c in b"aA" else ord(" ") for c in _CLASSES)


class _Tables(TypedDict):
    weights: dict[str, float]
    characters: str
    pairs: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChineseTokens:
    """Chinese pairs that are one token, and a search for characters that are several."""

    pairs: frozenset[int]
    rare: re.Pattern[str]

    @classmethod
    def of(cls, *, characters: str, pairs: str) -> ChineseTokens:
        """Build from the characters that are one token each, and all pairs in a row."""
        return cls(pairs=frozenset(_pairs(pairs)), rare=re.compile(f"[^ {characters}]+"))


class EstimatedTokens:
    """Counts tokens within a few per cent on texts of some hundred tokens and more."""

    def __init__(self) -> None:
        self._weights, self._chinese = _tables()

    def count(self, text: str) -> int:
        if not text:
            return 0
        estimate = sum(
            self._weights[name] * number for name, number in features(text, self._chinese).items()
        )
        return max(1, round(estimate))


def features(text: str, chinese: ChineseTokens) -> dict[str, int]:
    """Count the weighted features of a text."""
    data = text.encode("utf-8", "surrogatepass")
    classes = data.translate(_CLASSES, _CONTINUATION)
    found = {pattern: classes.count(pattern.encode()) for pattern in ASCII_PATTERNS}
    found["words"] = len(data.translate(_ONLY_LETTERS).split())
    if text.isascii():
        return found
    found |= {pattern: classes.count(pattern.encode()) for pattern in OTHER_PATTERNS}
    if b"H" in classes:
        found |= _chinese_features(_OUTSIDE_CHINESE.sub(" ", text), chinese)
    return found


def _chinese_features(text: str, chinese: ChineseTokens) -> dict[str, int]:
    rare = sum(map(len, chinese.rare.findall(text)))
    overlapping = chain(_pairs(text), _pairs(text[1:]))
    return {
        "characters": len(text) - text.count(" ") - rare,
        "rare characters": rare,
        "pairs": sum(map(chinese.pairs.__contains__, overlapping)),
    }


def _pairs(text: str) -> Iterable[int]:
    """Return every two characters as one number, which is twice as fast to look up as a string."""
    data = text.encode("utf-16-le", "surrogatepass")
    return memoryview(data[: len(data) // 4 * 4]).cast("I")


@cache
def _tables() -> tuple[dict[str, float], ChineseTokens]:
    tables = cast("_Tables", json.loads(read_data("token_tables.json")))
    chinese = ChineseTokens.of(characters=tables["characters"], pairs=tables["pairs"])
    return tables["weights"], chinese
