"""Questions without the words that only ask."""

from __future__ import annotations

from typing import Final

from recollect.language.lexicon import bilingual

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
