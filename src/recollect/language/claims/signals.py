"""How a sentence is meant: told or asked, supposed or ordered, to be remembered or not.

A sentence comes here in lower case, in simplified Chinese, and without what it quotes.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, Literal

from recollect.domain.context import Tongue
from recollect.language.claims.moods import mood
from recollect.language.lexicon import Signs, lexicon

Stance = Literal["told", "asked", "supposed", "reported", "joked", "ordered"]

_HAN: Final = re.compile("[\u4e00-\u9fff]")
_LATIN: Final = re.compile("[a-z]{2}")
_MAX_ANSWER_CHARACTERS: Final = 80


def stance(sentence: str) -> Stance:
    """Return how a sentence is meant; only what is told can be a fact about the speaker.

    The first that holds decides: what others say is not told even where it is also supposed.
    """
    if _shows(sentence, "joked"):
        return "joked"
    form = mood(sentence)
    is_wished = is_wish(sentence) and not asks(sentence)
    if form == "interrogative" and not is_wished:
        return "asked"
    if _shows(sentence, "reported"):
        return "reported"
    if form == "hypothetical":
        return "supposed"
    if _shows(sentence, "ordered") and not is_wished:
        return "ordered"
    return "told"


def is_wish(sentence: str) -> bool:
    """Return whether it says explicitly that something holds from now on or must be remembered."""
    return _shows(sentence, "wish")


def asks_to_remember(sentence: str) -> bool:
    """Return whether it asks explicitly to remember something."""
    return _shows(sentence, "remember")


def asks(sentence: str) -> bool:
    """Return whether it wants an answer; "could you always …?" is a wish put as a question."""
    return mood(sentence) == "interrogative" and not _shows(sentence, "polite")


def is_withheld(sentence: str) -> bool:
    """Return whether it asks to forget something, or not to remember it."""
    return _shows(sentence, "withheld")


def points_back(sentence: str) -> bool:
    """Return whether it refers to something that memory may hold: "as usual", 上次."""
    return _shows(sentence, "back")


def takes_back(sentence: str) -> bool:
    """Return whether it declares the previous sentence a joke."""
    return _shows(sentence, "taken_back")


def announces_material(sentence: str) -> bool:
    """Return whether it introduces text to work on, rather than something the author says."""
    return sentence.endswith((":", "：")) and (
        _shows(sentence, "material") or stance(sentence) == "ordered"
    )


def confirms(sentence: str) -> bool:
    """Return whether it is a short yes to a proposal."""
    return len(sentence) <= _MAX_ANSWER_CHARACTERS and _is(sentence, "yes")


def acknowledges(sentence: str) -> bool:
    """Return whether it only acknowledges: "Nice, got it", 好的，明白了."""
    return len(sentence) <= _MAX_ANSWER_CHARACTERS and _is(sentence, "acknowledges")


def keeps_what_was_said(sentence: str) -> bool:
    """Return whether it asks to remember the previous sentence: "remember this", 记住这个."""
    return len(sentence) <= _MAX_ANSWER_CHARACTERS and _is(sentence, "remember_this")


def _shows(sentence: str, name: str) -> bool:
    """Return whether it has one of the signs, in the languages it is written in."""
    if not sentence.isascii() and _HAN.search(sentence):
        if _signs("zh", name).find(sentence):
            return True
        if not _LATIN.search(sentence):
            return False
    return _signs("en", name).find(sentence) is not None


@cache
def _signs(language: Tongue, name: str) -> Signs:
    return lexicon(language, "signals").signs(name)


def _is(sentence: str, name: str) -> bool:
    """Return whether the whole sentence matches the pattern of that name."""
    words = lexicon("zh" if _HAN.search(sentence) else "en", "signals")
    return words.regex(name).fullmatch(sentence) is not None
