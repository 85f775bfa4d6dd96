"""Whether somebody tells of another favourite than before."""

from __future__ import annotations

from typing import Final

from recollect.text.claim_parts import TIMES, Claim, Word
from recollect.text.similarity import Contrast

_NO_VALUES: Final = TIMES | {"self", "weak"}
_PLAIN: Final = frozenset({"word", "char", "verb", "when"})
"""Kinds of words that are of no class, as colours and drinks are."""


def has_another_favourite(new: Claim, old: Claim, contrast: Contrast) -> bool:
    """A favourite colour is told, and that now another one is liked better."""
    values = [word for word in contrast.new if not word.is_main and _is_value(word)]
    before = [word for word in old.words if not word.is_topic and _is_value(word)]
    if not _likes_better(new, contrast) or len(values) != 1 or len(before) != 1:
        return False
    sort = values[0].kind
    return sort == before[0].kind and sort not in _PLAIN and _is_favourite_of(old, sort)


def _likes_better(new: Claim, contrast: Contrast) -> bool:
    likes_more = new.verb == "like" and any(word.concept == "more" for word in contrast.new)
    return new.says_change and (new.verb == "prefer" or likes_more)


def _is_favourite_of(old: Claim, sort: str) -> bool:
    topics = {word.concept for word in old.words if word.is_topic and word.kind != "self"}
    sorts = {sort, "beverage"} if sort == "drink" else {sort}
    return "favourite" in topics and topics <= {"favourite", *sorts}


def _is_value(word: Word) -> bool:
    return word.kind not in _NO_VALUES
