"""The parts of a user's message that a reader judges one by one, each with what stands before it.

A part is about as long as one fact. What an assistant asked belongs to the first sentence of the
answer: "How many guests?" – "60, maybe 62".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from recollect.language.characters import HAN
from recollect.language.claims import moods
from recollect.language.extraction.utterances import (
    Sentence,
    part_of,
    readable,
    sentences,
)
from recollect.language.lexicon import bilingual

# Of a pasted text only so much is read: a message says what it wants at its beginning or its end.
_FIRST_PARTS: Final = 45
_LAST_PARTS: Final = 15
# What a reader reads of the words before a part; Chinese says more in a character.
_MAX_BEFORE_CHARACTERS: Final = 240
_MAX_BEFORE_CHINESE: Final = 80
_HAN: Final = re.compile(f"[{HAN}]")
_SAID: Final = re.compile(r"[^\W_]")
_MIN_WORDS: Final = 3
_MIN_HAN_CHARACTERS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a sentence, and the words that a reader gets with it."""

    clause: Sentence
    sentence: Sentence
    text: str
    before: str
    """The assistant's question, or what was said before in the same message; without greetings."""


def parts(text: str, asked: str = "") -> list[Part]:
    """Return the parts of a message that answers `asked`, the assistant's last sentence."""
    found: list[Part] = []
    last = ""
    for number, sentence in enumerate(sentences(readable(text))):
        opening = asked if number == 0 else last
        for clause in _split(sentence):
            said = _without_greeting(text[sentence.start : clause.start].strip())
            before = _end_of(" ".join(filter(None, (opening, said))))
            words = text[clause.start : clause.end]
            words = _without_greeting(words) or words
            found.append(Part(clause=clause, sentence=sentence, text=words, before=before))
        last = _without_greeting(text[sentence.start : sentence.end])
    return [*found[:_FIRST_PARTS], *found[_FIRST_PARTS:][-_LAST_PARTS:]]


def _without_greeting(text: str) -> str:
    """Return the text without "Hi" and the like before it, which tell a reader nothing."""
    greeting = bilingual("clauses", "greeting", re.IGNORECASE).match(text)
    return text[greeting.end() :] if greeting else text


def last_sentence(text: str) -> str:
    """Return what an assistant's message asks, or else its last sentence."""
    said = sentences(readable(text))
    if not said:
        return ""
    words = [text[sentence.start : sentence.end] for sentence in said]
    asks = (sentence for sentence in reversed(words) if sentence.rstrip().endswith(("?", "？")))
    return next(asks, words[-1])


def refers_back(plain: str) -> bool:
    """Return whether a part begins with a word that stands for something said before it."""
    return bilingual("clauses", "refers_back").match(plain) is not None


def says_who(plain: str) -> bool:
    """Return whether a part has a subject of its own: what tells of the speaker or theirs."""
    return bilingual("clauses", "states").match(plain) is not None


def stands_alone(part: Part) -> bool:
    """Return whether a part is a further statement of its sentence, with a subject of its own."""
    plain = part.clause.plain
    if part.clause.start == part.sentence.start or not says_who(plain):
        return False
    return bilingual("clauses", "points_back").search(plain) is None


def _end_of(text: str) -> str:
    limit = _MAX_BEFORE_CHINESE if _HAN.search(text) else _MAX_BEFORE_CHARACTERS
    return text[-limit:]


def _split(sentence: Sentence) -> Iterator[Sentence]:
    """Yield the parts of a sentence, without pieces of a word or two."""
    plain = sentence.plain
    own: list[tuple[int, int]] = []
    start = 0
    for border in (*bilingual("clauses", "border").finditer(plain), None):
        end = border.start() if border else len(plain)
        if own and _belong(plain[slice(*own[-1])], plain[start:end]):
            own[-1] = own[-1][0], end
        else:
            own.append((start, end))
        start = border.end() if border else end
    yield from (part_of(sentence, *place) for place in own if _SAID.search(plain, *place))


def _belong(piece: str, behind: str) -> bool:
    """Return whether two pieces are one part: one is short, and not both tell of a subject."""
    if moods.begins_with_speaker(piece) and says_who(behind):
        return False
    return _is_short(piece) or _is_short(behind)


def _is_short(piece: str) -> bool:
    han = len(_HAN.findall(piece))
    return han < _MIN_HAN_CHARACTERS if han else len(piece.split()) < _MIN_WORDS
