"""What a row of the training files is, and which pairs are worth one."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

HAN = re.compile("[\u3400-\u9fff]")
_LETTERS = re.compile("[A-Za-z]")
_LONGEST = 1_200
_LONGEST_MEANING = 100


class Pair(NamedTuple):
    """Two texts that belong together: Chinese and its translation, or two Chinese ones."""

    first: str
    second: str


def squeezed(text: str) -> str:
    return " ".join(text.split())


def translations(pairs: Iterable[tuple[str, str]]) -> Iterator[Pair]:
    """Yield the pairs that can be a Chinese text and its English translation."""
    for chinese, english in pairs:
        pair = Pair(squeezed(chinese), squeezed(english))
        han, letters = len(HAN.findall(pair.first)), len(_LETTERS.findall(pair.second))
        if han < 2 or letters < 2 or HAN.search(pair.second) or len(pair.second) > _LONGEST:
            continue
        # Latin names inside the Chinese text count on both sides.
        latin = len(_LETTERS.findall(pair.first))
        if han > latin * 0.3 and 0.5 <= (letters - latin * 0.8) / han <= 8:
            yield pair


def short_translations(pairs: Iterable[tuple[str, str]]) -> Iterator[Pair]:
    """Yield words and names with their translation, which may be much longer or shorter."""
    for chinese, english in pairs:
        pair = Pair(squeezed(chinese), squeezed(english))
        is_translation = HAN.search(pair.first) and not HAN.search(pair.second)
        if is_translation and 2 <= len(_LETTERS.findall(pair.second)) <= _LONGEST_MEANING:
            yield pair


def companions(pairs: Iterable[tuple[str, str]], shortest: int = 4) -> Iterator[Pair]:
    """Yield the pairs of which both are Chinese and long enough to say something."""
    for first, second in pairs:
        pair = Pair(squeezed(first)[:_LONGEST], squeezed(second)[:_LONGEST])
        if pair.first != pair.second and all(
            len(HAN.findall(text)) >= max(shortest, 0.3 * len(text)) for text in pair
        ):
            yield pair


def sampled(pairs: Iterable[Pair], most: int) -> list[Pair]:
    """Return at most `most` different pairs in their order, chosen by their texts alone."""
    found = list(dict.fromkeys(pairs))
    chosen = set(sorted(found, key=_mark)[:most])
    return [pair for pair in found if pair in chosen]


def shuffled(pairs: Iterable[Pair]) -> list[Pair]:
    """Return the pairs in an order that their texts decide."""
    return sorted(pairs, key=_mark)


def _mark(pair: Pair) -> int:
    return zlib.crc32("\t".join(pair).encode())
