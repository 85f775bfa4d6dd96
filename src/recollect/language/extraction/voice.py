"""Make statements self-contained: "I" becomes "User", orders get a label.

Other words stay as they were said. What is an order is kept word for word behind a label.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, Literal

from recollect.domain.context import Tongue
from recollect.language.claims.first_person import named_in_chinese, named_in_english
from recollect.language.lexicon import both, lexicon

Label = Literal["asks", "feedback", "todo", "decision", "agreed"]

_EDGE: Final = " \t\n,;:.!，。；：！、~"


def self_contained(text: str, language: Tongue, name: str, *, is_theirs: bool) -> str:
    """Return a statement that names the speaker instead of "I"."""
    words = text.strip(_EDGE)
    trimmed = words[_opening(words) :].strip(_EDGE) or words
    if language == "en":
        return named_in_english(trimmed, name)
    named = named_in_chinese(trimmed, name)
    return name + named if is_theirs and named == trimmed and "我们" not in named else named


def labelled(label: Label, text: str, language: Tongue) -> str:
    """Return an order or a decision word for word, behind its label."""
    words = text.strip(_EDGE)
    if language == "zh" and (opening := _order_opening().match(words)):
        words = words[opening.end() :].strip(_EDGE) or words
    given = lexicon(language, "voice").table("labels")[label]
    return words if words.lower().startswith(given.strip(_EDGE).lower()) else given + words


def speaker_name(speaker: str, role: str, language: Tongue) -> str:
    """Return who "I" is: the speaker if the conversation names one, else their role."""
    roles = lexicon(language, "voice").table("roles")
    return speaker or roles["assistant" if role == "assistant" else "user"]


def _opening(words: str) -> int:
    match = _openings().match(words)
    return match.end() if match else 0


@cache
def _openings() -> re.Pattern[str]:
    return re.compile(f"{both('voice', 'opening')}+", re.IGNORECASE)


@cache
def _order_opening() -> re.Pattern[str]:
    return re.compile(f"{lexicon('zh', 'voice').pattern('order_opening')}+")
