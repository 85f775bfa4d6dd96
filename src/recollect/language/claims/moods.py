"""What the form of a sentence shows: its mood, and signs of wishes and of material.

Mood is decided by punctuation, word order, interrogative words and verbs without a subject, in
Chinese and English; the words are in `data/*/moods.toml`, the signs in `data/*/signals.toml`. A
sentence comes here in lower case and in simplified Chinese, see `plain`.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final, Literal

from recollect.domain.context import Tongue
from recollect.language.characters import HAN, fold
from recollect.language.lexicon import Lexicon, Signs, lexicon

Mood = Literal["declarative", "interrogative", "imperative", "hypothetical"]
Stance = Literal["told", "asked", "requested", "supposed"]

_STANCES: Final[dict[Mood, Stance]] = {
    "declarative": "told",
    "interrogative": "asked",
    "imperative": "requested",
    "hypothetical": "supposed",
}

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


# --- Signs: what a sentence wants of memory, and whether it hands over material ------------------

_UNIFIED_HAN: Final = re.compile("[\u4e00-\u9fff]")
_LATIN: Final = re.compile("[a-z]{2}")
_MAX_ANSWER_CHARACTERS: Final = 80

Sign = Literal[
    "wish", "standing", "remember", "withheld", "back", "polite", "material", "taken_back"
]
"""`wish`: something holds from now on (`standing`: as an order) or is to be remembered; `withheld`:
it is not to be; `back`: "as usual", which memory may know; `polite`: no question in spite of its
form; `material`: text to work on follows; `taken_back`: the sentence before was a joke."""

Answer = Literal["yes", "acknowledges", "remember_this"]
"""A yes to a proposal; a mere "got it"; a wish to remember what was said before."""


def stance(sentence: str) -> Stance:
    """Return how a sentence is meant by its form; a wish holds, however it is put."""
    form = mood(sentence)
    if form in {"interrogative", "imperative"} and not asks(sentence) and shows(sentence, "wish"):
        return "told"
    return _STANCES[form]


def asks(sentence: str) -> bool:
    """Return whether it wants an answer; "could you always …?" is a wish put as a question."""
    return mood(sentence) == "interrogative" and not shows(sentence, "polite")


def orders(sentence: str) -> bool:
    """Return whether it orders something that holds from now on, and tells of no habit."""
    return shows(sentence, "standing") and not begins_with_speaker(sentence)


def begins_with_speaker(sentence: str) -> bool:
    """Return whether it begins with the speaker or user, or with what is theirs."""
    return _words(sentence).regex("about_speaker").match(sentence) is not None


def tells_of_project(sentence: str) -> bool:
    """Return whether it speaks of what several share, or of a thing, and not of the speaker."""
    words = _words(sentence)
    is_personal = words.regex("about_speaker").search(sentence)
    return words.regex("about_project").search(sentence) is not None and not is_personal


def announces_material(sentence: str) -> bool:
    """Return whether it introduces text to work on, rather than something the author says."""
    is_open = sentence.endswith((":", "：")) and not shows(sentence, "wish")
    return is_open and (shows(sentence, "material") or stance(sentence) in {"asked", "requested"})


def shows(sentence: str, sign: Sign) -> bool:
    """Return whether it has the sign, in the languages it is written in."""
    if not sentence.isascii() and _UNIFIED_HAN.search(sentence):
        if _signs("zh", sign).find(sentence):
            return True
        if not _LATIN.search(sentence):
            return False
    return _signs("en", sign).find(sentence) is not None


@cache
def _signs(language: Tongue, name: str) -> Signs:
    return lexicon(language, "signals").signs(name)


def only_says(sentence: str, answer: Answer) -> bool:
    """Return whether it is a short answer of that sort and nothing else."""
    is_short = len(sentence) <= _MAX_ANSWER_CHARACTERS
    return is_short and _words(sentence).regex(answer).fullmatch(sentence) is not None


def _words(sentence: str) -> Lexicon:
    return lexicon("zh" if _UNIFIED_HAN.search(sentence) else "en", "signals")
