"""The form of a part of a message, as numbers that a reader weighs beside its meaning.

Whether something is asked, ordered or supposed shows in its form, which a vector of its meaning
hardly holds. `training/extract` learns from the same numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final
from zlib import crc32

from recollect.language.characters import HAN
from recollect.language.claims import moods
from recollect.language.extraction.utterances import readable

GRAMS: Final = 1536
"""The places that words and pairs of neighbouring words are spread over."""

_HAN: Final = re.compile(f"[{HAN}]")
_DIGIT: Final = re.compile(r"\d")
_NAME: Final = re.compile(r"(?<!^)\b[A-Z][a-z]")
_FIRST_PERSON: Final = re.compile(r"\b(?:i|i'm|i've|my|we|our|me|us)\b|[我咱]")
_WORD: Final = re.compile(rf"[a-z']+|\d+|[{HAN}]|[?？!！]")
_QUESTION_MARKS: Final = ("?", "？")
_QUOTED: Final = "\x00"
_MOODS: Final = ("interrogative", "imperative", "hypothetical")
_STANCES: Final = ("asked", "supposed", "reported", "joked", "ordered")
# A Chinese character says about as much as so many Latin ones.
_LATIN_PER_HAN: Final = 3.5
_LENGTHS: Final = (0, 5, 12, 25)


def form(before: str, text: str) -> list[float]:
    """Return mood and stance of a part, its length, and what kinds of words it has."""
    plain, plain_before = readable(text), readable(before)
    mood, stance = moods.mood(plain), moods.stance(plain)
    is_chinese = _HAN.search(text) is not None
    length = len(text) if is_chinese else len(text) / _LATIN_PER_HAN
    bucket = sum(length >= least for least in _LENGTHS) - 1
    found = [
        *(mood == name for name in _MOODS),
        text.rstrip().endswith(_QUESTION_MARKS),
        before.rstrip().endswith(_QUESTION_MARKS),
        not before,
        _DIGIT.search(text) is not None,
        _FIRST_PERSON.search(plain) is not None,
        _QUOTED in plain,
        _QUOTED in plain_before,
        *(bucket == place for place in range(len(_LENGTHS))),
        is_chinese,
        _NAME.search(text) is not None,
        *(stance == name for name in _STANCES),
        moods.is_wish(plain),
    ]
    return [float(it) for it in found]


def grams(text: str) -> frozenset[int]:
    """Return the places of the words of a part and of its pairs of neighbouring words."""
    return frozenset(crc32(gram.encode()) % GRAMS for gram in _grams(readable(text)))


def _grams(plain: str) -> Iterator[str]:
    words = ["^", *("#" if it.isdigit() else it for it in _WORD.findall(plain)), "$"]
    yield from words
    yield from (f"{one} {other}" for one, other in pairwise(words))
