"""What a claim is read into, whatever its language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

LONGEST_CLAIM: Final = 600
"""A claim is a sentence or two; of anything longer the beginning is compared."""

SIGNS: Final = frozenset({
    "not", "end", "over", "ongoing", "now", "formerly", "done", "correct", "change", "request",
    "order", "from", "taken", "instead", "for", "joint", "and", "break", "by", "passive", "than",
    "owner", "is", "be",
})  # fmt: skip
"""Pieces that say how the words around them are meant, and stand for nothing themselves."""


_WEIGHTS: Final = {
    "self": 0.0,
    "weak": 0.1,
    "direction": 0.25,
    "char": 0.5,
    "when": 0.5,
    "half": 0.5,
    "period": 0.5,
    "word": 1.0,
    "verb": 2.0,
    "kin": 3.0,
    "pronoun": 3.0,
    "name": 3.0,
    "number": 3.0,
    "clock": 3.0,
    "day": 3.0,
    "year": 3.0,
}
_SECOND_VERB: Final = 0.5
_MEMBER_OF_A_CLASS: Final = 2.0

AMOUNTS: Final = frozenset({"number", "clock", "day", "year"})
DATES: Final = frozenset({"clock", "half", "day", "year", "when"})
TIMES: Final = DATES | {"daypart", "period", "often"}


class Piece(NamedTuple):
    """A sign, or a word with the concept it stands for."""

    kind: str
    concept: str = ""


class Word(NamedTuple):
    """One thing a claim speaks of."""

    concept: str
    kind: str
    """What sort of word it is; a class such as `colour` where its members exclude each other."""
    denied: bool = False
    is_topic: bool = False
    """It says what the claim is about, rather than what is said of it."""
    is_main: bool = False
    """It is the verb of the claim."""
    is_apart: bool = False
    """It begins a phrase of its own, rather than going on with the word before it."""
    is_listed: bool = False
    """It is one of several that are named together: "Ann and Bob"."""

    weight: float = 0.0
    """How much the claim would change without the word."""

    def weighed(self) -> Word:
        """The word with the weight of its kind."""
        is_second = self.kind == "verb" and not self.is_main
        weight = _SECOND_VERB if is_second else _WEIGHTS.get(self.kind, _MEMBER_OF_A_CLASS)
        return Word(*self[:-1], weight)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What is claimed of what, and how."""

    words: tuple[Word, ...]
    gone: frozenset[str]
    """What the claim itself says is over."""
    marks: frozenset[str]
    """now, change, ended, formerly, done (it happened), correct, request, wish."""
    owners: frozenset[str]
    """Whose something is: Anna in "Anna's brother"."""
    origins: frozenset[str]
    """Where something comes from: Hamburg in "from Hamburg to Porto"."""
    verb: str
    """The concept of the main verb; empty where something only is, or has."""
    is_symmetric: bool
    """Its two sides may change places: "X is Y"."""
    names_agent: bool
    """It says who acts behind what is acted upon: "the team is led by Ann"."""
    is_ordered: bool
    """It says what comes first and what then."""
    clauses: int
    is_chinese: bool = False

    @property
    def says_change(self) -> bool:
        is_new = any(word.concept == "new" and word.is_topic for word in self.words)
        return is_new or not self.marks.isdisjoint({"now", "change", "ended", "correct"})


def clock_pieces(hour: int, minutes: str, half: str) -> tuple[Piece, ...]:
    """A time as twelve hours, with the half of the day as a piece of its own where it is known."""
    dial = Piece("clock", f"{hour % 12}:{minutes}")
    return (dial, Piece("half", half)) if half else (dial,)
