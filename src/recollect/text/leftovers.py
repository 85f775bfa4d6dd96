"""What words say of a claim that only one of two compared claims has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from recollect.text.claim_parts import AMOUNTS, TIMES, Claim, Word
from recollect.text.similarity import weight

PEOPLE: Final = frozenset({"kin", "pronoun"})
_HEAVY: Final = 2.0


def is_addition(words: tuple[Word, ...], whole: Claim) -> bool:
    """Whether the words stand beside the rest of the claim and make no other thing of it."""
    if not words or any(word.is_topic for word in words):
        return False
    inner = {id(word) for word in words}
    before: Word | None = None
    for word in whole.words:
        if before and not word.is_apart and (id(word) in inner) != (id(before) in inner):
            # What goes on with the word before it makes one thing with it: coffee ice cream.
            return False
        before = None if word.kind in TIMES or word.kind in ("verb", "self", "weak") else word
    return True


def goes_on(words: tuple[Word, ...], whole: Claim) -> bool:
    """Whether a character at its end makes another word of the one before it: 护士, 护士长."""
    loose = {id(word) for word in words if word.kind == "char" and not word.is_apart}
    return any(
        id(word) in loose
        and before.kind not in ("self", "weak", "verb")
        and (after is None or after.is_apart or after.kind != "char")
        for before, word, after in zip(
            whole.words, whole.words[1:], (*whole.words[2:], None), strict=False
        )
    )


def name_times(words: Iterable[Word]) -> bool:
    return any(word.kind in TIMES for word in words)


def people_in(words: Iterable[Word]) -> set[str]:
    return {word.concept for word in words if word.kind in PEOPLE}


def has_verb(words: tuple[Word, ...]) -> bool:
    return any(word.is_main for word in words)


def tells_apart(word: Word) -> bool:
    """Whether the word says what a claim is about, so that another one would be about other."""
    return word.is_topic and word.weight >= 0.5


def is_weighty(word: Word) -> bool:
    """Whether the claim hangs on the word; one of several in a list can be left out."""
    return word.weight >= _HEAVY and word.kind not in TIMES and not _is_list_item(word)


def _is_list_item(word: Word) -> bool:
    return word.is_listed and word.kind not in AMOUNTS


def are_heavy(words: list[Word]) -> bool:
    return any(word.weight >= _HEAVY for word in words) or weight(words) >= _HEAVY


def denials_in(it: Claim) -> int:
    return sum([word.denied for word in it.words])


def is_request(it: Claim) -> bool:
    """Whether the claim asks for something to be done: "answer briefly", "tests should pass"."""
    first = next((word for word in it.words if word.kind != "weak"), None)
    return "request" in it.marks or (first is not None and first.is_main)
