"""The mood of a sentence: whether it tells, asks, orders or only supposes something.

Mood is decided by form (punctuation, word order, interrogative words, verbs without a subject), in
Chinese and English; the words are in `data/*/moods.toml`. A sentence comes here in lower case and
in simplified Chinese, see `plain`.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final, Literal

from recollect.domain.context import Tongue
from recollect.language.characters import HAN, fold
from recollect.language.lexicon import Lexicon, Signs, lexicon

Mood = Literal["declarative", "interrogative", "imperative", "hypothetical"]

_HAN: Final = re.compile(f"[{HAN}]")
_WORD: Final = re.compile(r"[a-z0-9]+(?:['\u2019-][a-z0-9]+)*")
_EDGE: Final = " \t\n,.;:!~\u3002\uff0c\uff1b\uff1a\uff01\u2026\"'\u201c\u201d()\uff08\uff09"
_ASKS: Final = re.compile(r"[?？]['\"”’」』)）~\s]*$")
_SOFT: Final = "呢"


def plain(sentence: str) -> str:
    """Return the sentence in the form in which its mood is read."""
    return fold(sentence).lower().replace("\u2019", "'")


@lru_cache(maxsize=1 << 10)
def mood(sentence: str) -> Mood:
    """Return the mood of a plain sentence."""
    return _chinese(sentence) if _HAN.search(sentence) else _english(sentence)


def _english(sentence: str) -> Mood:
    words = lexicon("en", "moods")
    said = words.regex("opening").sub("", " ".join(_WORD.findall(sentence)), count=1)
    hands_on = words.regex("hands_on").search(said)
    if words.regex("orders").match(said):
        return "interrogative" if hands_on else "imperative"
    if _ASKS.search(sentence) or words.regex("asks").match(said) or hands_on:
        return "interrogative"
    return "hypothetical" if words.regex("supposes").search(said) else "declarative"


def _chinese(sentence: str) -> Mood:
    words = lexicon("zh", "moods")
    bare = sentence.strip(_EDGE)
    rest = words.regex("opening").sub("", bare, count=1)
    if words.regex("orders").match(rest) or words.regex("requests").match(bare):
        return "interrogative" if words.regex("asks_for").search(rest) else "imperative"
    if _ASKS.search(sentence) or _chinese_asks(words, bare.rstrip("?？ ")):
        return "interrogative"
    if words.regex("begins").match(rest) and len(rest) > 1:
        return "imperative"
    told = words.regex("not_supposes").sub("", bare)
    return "hypothetical" if words.regex("supposes").search(told) else "declarative"


def _chinese_asks(words: Lexicon, said: str) -> bool:
    if said.endswith(_SOFT):  # behind some words it only softens
        return words.regex("softened").search(said) is None
    return words.regex("asks").search(said) is not None


# --- How a sentence is meant: told or asked, supposed or ordered, to be remembered or not ---------
# A sentence comes here in lower case, in simplified Chinese, and without what it quotes.

Stance = Literal["told", "asked", "supposed", "reported", "joked", "ordered"]

_UNIFIED_HAN: Final = re.compile("[\u4e00-\u9fff]")
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
    if _takes_for_known(sentence, form):
        return "ordered"
    if _shows(sentence, "reported"):
        return "reported"
    if form == "hypothetical":
        return "supposed"
    if _shows(sentence, "ordered") and not is_wished:
        return "ordered"
    return "told"


def _takes_for_known(sentence: str, form: Mood) -> bool:
    """Return whether it asks to do something in a way that memory should know.

    A preference that is taken for known is not told: 按我喜欢的格式出报表 wants to be read for. In
    English such an order begins with its verb, in Chinese with the way.
    """
    if asks_to_remember(sentence):
        return False
    if _HAN.search(sentence):
        return _signs("zh", "known_way").find(sentence) is not None
    return form == "imperative" and _signs("en", "known_way").find(sentence) is not None


def is_wish(sentence: str) -> bool:
    """Return whether it says explicitly that something holds from now on or must be remembered."""
    return _shows(sentence, "wish")


def is_standing(sentence: str) -> bool:
    """Return whether it orders something that holds from now on."""
    return _shows(sentence, "standing")


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
    if not sentence.isascii() and _UNIFIED_HAN.search(sentence):
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
    words = lexicon("zh" if _UNIFIED_HAN.search(sentence) else "en", "signals")
    return words.regex(name).fullmatch(sentence) is not None
