"""The lists of phrases that a claim is read by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from recollect.text.claim_parts import SIGNS, Piece

Phrases = Mapping[tuple[str, ...], tuple[Piece, ...]]


class Lexicon(NamedTuple):
    """Phrases by their units (words in English, characters in Chinese), longest first."""

    phrases: Phrases
    exact: Mapping[str, tuple[Piece, ...]]
    """Phrases as they are written."""
    longest: Mapping[str, int]
    """How many units the longest phrase has that begins with this one."""

    def match(self, units: list[str], at: int) -> tuple[int, tuple[Piece, ...]]:
        """How many units from here on make the longest listed phrase, and its pieces."""
        for length in range(min(self.longest.get(units[at], 0), len(units) - at), 0, -1):
            pieces = self.phrases.get(tuple(units[at : at + length]))
            if pieces is not None:
                return length, pieces
        return 0, ()


def build_lexicon(
    entries: Iterable[tuple[str, Iterable[str]]], units: Callable[[str], list[str]]
) -> Lexicon:
    """The lexicon of entries: a key that names pieces, and the phrases that stand for them.

    A phrase that is listed twice keeps its first meaning.
    """
    phrases: dict[tuple[str, ...], tuple[Piece, ...]] = {}
    exact: dict[str, tuple[Piece, ...]] = {}
    longest: dict[str, int] = {}
    listed = [(phrase, tuple(units(phrase)), key) for key, listed in entries for phrase in listed]
    # Other words may share the stem of a word ("quite" that of "quit"): they do not stand for it,
    # and an adverb is listed for itself alone.
    for phrase, parts, key in sorted(listed, key=lambda it: it[0] != " ".join(it[1])):
        pieces = tuple(_piece(one, parts) for one in key.split(" + ") if one != "light")
        exact.setdefault(phrase, pieces)
        is_adverb = phrase.endswith("ly") and phrase[:-2].startswith(parts[0])
        if not is_adverb and phrases.setdefault(parts, pieces) is pieces:
            longest[parts[0]] = max(longest.get(parts[0], 0), len(parts))
    return Lexicon(phrases, exact, longest)


def _piece(key: str, phrase: tuple[str, ...]) -> Piece:
    kind, _, concept = key.partition(" ")
    return Piece(kind, "" if kind in SIGNS else concept or "".join(phrase))
