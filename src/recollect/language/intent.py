"""What a question asks for, and which texts can answer it."""

from __future__ import annotations

import re
from typing import Final

from recollect.domain.unit import Trait
from recollect.language.lexicon import bilingual

# Only this much of a long text counts, since nearly every long text has some number.
_READ_CHARACTERS: Final = 2_000
_DIGIT: Final = re.compile(r"\d")
# A longer text states more than it asks.
_MAX_QUESTION_CHARACTERS: Final = 500


def without_asking(question: str) -> str:
    """Return the question without words that only ask, if others are left.

    "Can you remind me how many days passed since I planted the beans?" is about planting beans.
    The rest says that it is a question, to whom it is put, and that it was spoken of before: words
    that are addressed to the memory, and that no stored text has.
    """
    # In lower case, since a search that disregards the case takes several times as long.
    low = question.lower()
    # Some letters of other alphabets are two in lower case.
    if len(question) > _MAX_QUESTION_CHARACTERS or len(low) != len(question):
        return question
    parts: list[str] = []
    end = 0
    for asking in bilingual("question_words", "asking").finditer(low):
        parts.append(question[end : asking.start()])
        end = asking.end()
    subject = " ".join((*parts, question[end:]))
    return subject if any(map(str.isalnum, subject)) else question


def wanted_trait(question: str) -> Trait:
    """Return what a text must have to answer the question."""
    wanted = Trait.NONE
    if bilingual("answer_kinds", "asks_for_time", re.IGNORECASE).search(question):
        wanted |= Trait.TELLS_TIME
    if bilingual("answer_kinds", "asks_for_number", re.IGNORECASE).search(question):
        wanted |= Trait.TELLS_NUMBER
    return wanted


def answer_trait(text: str) -> Trait:
    """Return the kinds of answers that a text has."""
    read = text[:_READ_CHARACTERS].lower()
    time, day, number = (bilingual("answer_kinds", it) for it in ("time", "day", "number"))
    has_digit = _DIGIT.search(read)
    is_time = time.search(read) or (has_digit and day.search(read))
    is_number = has_digit or number.search(read)
    return Trait(bool(is_time) * Trait.TELLS_TIME + bool(is_number) * Trait.TELLS_NUMBER)
