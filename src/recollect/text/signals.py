"""How a sentence is meant: told or asked, supposed or ordered, to be remembered or not.

A sentence comes here in lower case, in simplified Chinese, and without what it quotes.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from recollect.text import signals_chinese as chinese
from recollect.text import signals_english as english
from recollect.text.signal_patterns import Signs, compiled

Stance = Literal["told", "asked", "supposed", "reported", "joked", "ordered"]

_HAN: Final = re.compile("[\u4e00-\u9fff]")
_LATIN: Final = re.compile("[a-z]{2}")
_LONGEST_YES: Final = 80

# The first that holds decides: what others say is not told even where it is also supposed.
_STANCES: Final[tuple[tuple[Stance, Signs, Signs], ...]] = (
    ("joked", english.JOKED, chinese.JOKED),
    ("asked", english.ASKED, chinese.ASKED),
    ("reported", english.REPORTED, chinese.REPORTED),
    ("supposed", english.SUPPOSED, chinese.SUPPOSED),
    ("ordered", english.ORDERED, chinese.ORDERED),
)


def stance(sentence: str) -> Stance:
    """How a sentence is meant; only what is told can be a fact about the one who says it."""
    for name, in_english, in_chinese in _STANCES:
        if _shows(sentence, in_english, in_chinese):
            is_form_only = name in {"asked", "ordered"} and is_wish(sentence) and not asks(sentence)
            return "told" if is_form_only else name
    return "told"


def is_wish(sentence: str) -> bool:
    """Whether it says explicitly that something holds from now on or shall be remembered."""
    return _shows(sentence, english.WISH, chinese.WISH)


def asks_to_remember(sentence: str) -> bool:
    """Whether it says in so many words that something shall be remembered."""
    return _shows(sentence, english.REMEMBER, chinese.REMEMBER)


def asks(sentence: str) -> bool:
    """Whether it wants an answer; "could you always …?" is a wish in the form of a question."""
    return _shows(sentence, english.ASKED, chinese.ASKED) and not _shows(
        sentence, english.POLITE, chinese.POLITE
    )


def is_withheld(sentence: str) -> bool:
    """Whether it asks not to remember, or to forget."""
    return _shows(sentence, english.WITHHELD, chinese.WITHHELD)


def points_back(sentence: str) -> bool:
    """Whether it leans on something that memory may hold: "as usual", 上次."""
    return _shows(sentence, english.BACK, chinese.BACK)


def takes_back(sentence: str) -> bool:
    """Whether it makes a joke of what was said before it."""
    return _shows(sentence, english.TAKEN_BACK, chinese.TAKEN_BACK)


def announces_material(sentence: str) -> bool:
    """Whether what follows it is a text to work on, and not something its author says."""
    return sentence.endswith((":", "：")) and (
        _shows(sentence, english.MATERIAL, chinese.MATERIAL) or stance(sentence) == "ordered"
    )


def confirms(sentence: str) -> bool:
    """Whether it is a short yes to what was proposed."""
    return len(sentence) <= _LONGEST_YES and _is(sentence, english.YES, chinese.YES)


def acknowledges(sentence: str) -> bool:
    """Whether it says no more than that something was heard: "Nice, got it", 好的，明白了."""
    return len(sentence) <= _LONGEST_YES and _is(
        sentence, english.ACKNOWLEDGES, chinese.ACKNOWLEDGES
    )


def keeps_what_was_said(sentence: str) -> bool:
    """Whether it asks to remember what stands before it: "remember this", 记住这个."""
    return len(sentence) <= _LONGEST_YES and _is(
        sentence, english.REMEMBER_THIS, chinese.REMEMBER_THIS
    )


def _shows(sentence: str, in_english: Signs, in_chinese: Signs) -> bool:
    """Whether it has one of the signs, in the languages it is written in."""
    if not sentence.isascii() and _HAN.search(sentence):
        if in_chinese.find(sentence):
            return True
        if not _LATIN.search(sentence):
            return False
    return in_english.find(sentence) is not None


def _is(sentence: str, in_english: str, in_chinese: str) -> bool:
    pattern = in_chinese if _HAN.search(sentence) else in_english
    return compiled(pattern).fullmatch(sentence) is not None
