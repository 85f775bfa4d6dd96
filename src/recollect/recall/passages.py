"""What a model reads of a candidate: its words and, for the local one, in which context they stand.

The local answerer has learnt to read how long ago a text was said, that an assistant said it, and
what was said before a short one: "weeks: How many guests? → 60, maybe 62".
"""

from __future__ import annotations

import re
from datetime import timedelta
from functools import lru_cache
from typing import Final

from recollect.domain.hit import ArchivePassage, Item
from recollect.domain.record import Record
from recollect.domain.turn import Turn
from recollect.language.characters import HAN
from recollect.language.extraction.parts import last_sentence
from recollect.recall.candidates import Candidate

_AGES: Final = (
    (timedelta(days=2), "today"),
    (timedelta(days=8), "days"),
    (timedelta(days=40), "weeks"),
    (timedelta.max, "months"),
)
_HAN: Final = re.compile(f"[{HAN}]")
_ARROW: Final = " → "
# Longer texts stand for themselves; Chinese says more in a character.
_BRIEF_WORDS, _BRIEF_HAN = 12, 24
_BEFORE_WORDS, _BEFORE_HAN = 16, 40


def passage_of(found: Candidate, item: Item) -> str:
    """Return what was found, with its title or the name of its speaker."""
    if isinstance(item, ArchivePassage):
        return item.content
    unit = found.unit
    passage = item.content[unit.start : unit.end] if found.is_found else item.content
    if isinstance(item, Record):
        return f"{item.title}\n{passage}" if item.title else passage
    return f"{item.speaker}: {passage}" if item.speaker else passage


def passage_in_context(found: Candidate, turn: Turn, passage: str, age: timedelta) -> str:
    """Return a passage of a turn as the local answerer reads it; records stand for themselves."""
    role = "user" if turn.speaker else turn.role
    is_whole = len(passage) >= len(turn.content)
    before = said().content if is_whole and (said := found.standing.before) else ""
    return in_context(passage, age=age, role=role, before=before)


def in_context(text: str, *, age: timedelta, role: str = "user", before: str = "") -> str:
    """Return a text with how old it is, its role, and what was said before it, if it is short."""
    if before and _is_brief(text):
        text = f"{_last_words(before)}{_ARROW}{text}"
    if role != "user":
        text = f"{role}: {text}"
    return f"{next(name for limit, name in _AGES if age < limit)}: {text}"


@lru_cache(maxsize=1_024)
def _last_words(text: str) -> str:
    """Return the end of what an assistant asked, or else of the last sentence of a text."""
    last = last_sentence(text) or text
    if _HAN.search(last):
        return last[-_BEFORE_HAN:]
    return " ".join(last.split()[-_BEFORE_WORDS:])


def _is_brief(text: str) -> bool:
    return len(text.split()) <= _BRIEF_WORDS and len(_HAN.findall(text)) <= _BRIEF_HAN
