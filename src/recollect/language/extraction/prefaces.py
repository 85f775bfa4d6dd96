"""Prefaces of sentences: "Oops, sorry,", 不对，.

It is no part of what they tell, but it may tell that something said before was wrong.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from recollect.language.lexicon import lexicon


class Preface(NamedTuple):
    """The length of a preface, and whether it corrects something."""

    length: int
    corrects: bool


def preface(plain: str) -> Preface:
    """Return the preface of a sentence; all of it if nothing follows."""
    pattern = _pattern()
    length, corrects = 0, False
    while length < len(plain) and (found := pattern.match(plain, length)):
        length = found.end()
        corrects |= found["correcting"] is not None
    return Preface(length, corrects)


@cache
def _pattern() -> re.Pattern[str]:
    english, chinese = lexicon("en", "prefaces"), lexicon("zh", "prefaces")
    correcting = f"{english.pattern('correcting')}|{chinese.pattern('correcting')}"
    others = (words.pattern(name) for name in ("mere", "reported") for words in (english, chinese))
    return re.compile(f"(?P<correcting>{correcting})|{'|'.join(others)}")
