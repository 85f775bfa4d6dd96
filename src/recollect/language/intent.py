"""What a message wants: what it asks for, and whether memory should answer or keep it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from recollect.domain.unit import Trait
from recollect.domain.write import Claim, Namespace, Route, WritePolicy
from recollect.language.claims import moods
from recollect.language.extraction.message import said_by_user
from recollect.language.extraction.utterances import Utterance, readable, sentences
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
    has_digit = _DIGIT.search(read)
    is_time = _search("time", read) or (has_digit and _search("day", read))
    is_number = has_digit or _search("number", read)
    return Trait(bool(is_time) * Trait.TELLS_TIME + bool(is_number) * Trait.TELLS_NUMBER)


def _search(name: str, text: str) -> re.Match[str] | None:
    return bilingual("answer_kinds", name).search(text)


# --------------------------------------------------------------------------------------------------
# Route a message by rules: whether memory should answer it, and whether and where to keep it.

_NAMESPACES: Final[Mapping[str, Namespace]] = {
    "preference": "user-profile",
    "user": "user-profile",
    "feedback": "user-profile",
    "sentiment": "user-profile",
    "convention": "user-profile",
    "project": "domain-facts",
    "domain-facts": "domain-facts",
    "reference": "domain-facts",
    "decision": "task-traces",
    "follow-up": "task-traces",
    "task-traces": "task-traces",
    "tool-effects": "tool-effects",
}
_LOOK_FIRST: Final[tuple[Namespace, ...]] = ("user-profile", "domain-facts")
_LOOK_BACK: Final[tuple[Namespace, ...]] = (*_LOOK_FIRST, "task-traces", "tool-effects")
_MAX_REASON_CHARACTERS: Final = 80
_ANY_TIME: Final = datetime(2000, 1, 1, tzinfo=UTC)


def route(message: str, *, policy: WritePolicy = "auto") -> Route:
    """Route a message by rules; recall is cheap, so every question and request gets one."""
    spoken = [sentence.plain for sentence in sentences(readable(message))]
    asked = [sentence for sentence in spoken if moods.stance(sentence) in {"asked", "ordered"}]
    back = [sentence for sentence in spoken if moods.points_back(sentence)]
    claims = _kept(message, policy)
    should_read = bool(asked or back)
    return Route(
        should_read=should_read,
        should_write=bool(claims),
        namespaces=_namespaces(claims)
        or ((_LOOK_BACK if back else _LOOK_FIRST) if should_read else ()),
        reason=_reason(claims, message, (*back, *asked)),
    )


def _kept(message: str, policy: WritePolicy) -> list[Claim]:
    """Return the claims of the message that the policy allows to be written."""
    if policy == "off":
        return []
    claims = said_by_user(_utterance(message))
    return claims if policy == "auto" else [claim for claim in claims if claim.explicit]


def _namespaces(claims: Sequence[Claim]) -> tuple[Namespace, ...]:
    return tuple(dict.fromkeys(_NAMESPACES[claim.category] for claim in claims))


def _reason(claims: Sequence[Claim], message: str, asked: Sequence[str]) -> str:
    """Return the words that decided, those for writing first."""
    if claims:
        evidence = claims[0].evidence[0]
        return f"{claims[0].category}: {message[evidence.start : evidence.end]}"[
            :_MAX_REASON_CHARACTERS
        ]
    return asked[0][:_MAX_REASON_CHARACTERS] if asked else ""


def _utterance(message: str) -> Utterance:
    # Routing looks at words only: when they were said does not matter.
    return Utterance(id="", role="user", speaker="", text=message, at=_ANY_TIME)
