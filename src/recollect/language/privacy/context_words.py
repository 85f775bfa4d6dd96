"""What the words around a number say it is: a phone, a card, an order, a version."""

import re
from functools import cache
from typing import Literal, cast

from recollect.language.lexicon import both, lexicon
from recollect.language.scripts import HAN

Cue = Literal["order", "id", "phone", "card", "identity", "passport", "address", "version"]

# A word farther away speaks of something else.
_REACH_CHARACTERS = 32

_SENTENCE_END = re.compile(r"[\n。!?;]|(?<!no)\.\s", re.IGNORECASE)


def cue_before(text: str, start: int) -> Cue | None:
    """Return what the nearest cue before this place, in the same sentence, announces."""
    sentence = _SENTENCE_END.split(text[max(0, start - _REACH_CHARACTERS) : start])[-1]
    words = list(_cues().finditer(sentence))
    return _cue(words[-1]) if words else None


def cue_after(text: str, end: int) -> Cue | None:
    """Return what the first cue after this place, in the same sentence, says it was."""
    first = _cues().search(_SENTENCE_END.split(text[end : end + _REACH_CHARACTERS], maxsplit=1)[0])
    return _cue(first) if first else None


def _cue(word: re.Match[str]) -> Cue:
    return cast(Cue, word.lastgroup)


@cache
def _cues() -> re.Pattern[str]:
    """Return a pattern with a group for each cue."""
    between = rf"""(?:[ :#("'=_]|{both("number_cues", "between")})*$"""
    ways = {
        "order": f"{both('number_cues', 'order')}{between}",
        "identity": both("number_cues", "identity"),
        "passport": both("number_cues", "passport"),
        "phone": both("number_cues", "phone"),
        "card": both("number_cues", "card"),
        "address": both("number_cues", "address"),
        "version": both("number_cues", "version"),
        "id": f"{lexicon('en', 'number_cues').pattern('id')}{between}",
    }
    # Where words of two cues begin together, the one that stands first is taken.
    either = "|".join(f"(?P<{cue}>{pattern})" for cue, pattern in ways.items())
    return re.compile(rf"(?=\b[a-z]|[{HAN}])(?:{either})", re.ASCII | re.IGNORECASE)
