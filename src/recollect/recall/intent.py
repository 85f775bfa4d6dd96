"""The intent of a message, judged by rules, and what it changes in a recall.

A wrong guess distorts an answer that was right, so the default is `question`, which changes
nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from recollect.language.folding import fold
from recollect.recall import intent_chinese as chinese
from recollect.recall import intent_english as english
from recollect.recall.intent_rules import ERROR_MESSAGE, ERROR_NAME, MACHINE_SPEECH, Find

Intent = Literal["new_task", "follow_up", "bug_fix", "preference", "cross_agent", "question"]

# A message says what it wants at its beginning or its end; between them is material.
_HEAD_CHARS: Final = 2000
_TAIL_CHARS: Final = 500
_MAX_REASON_CHARS: Final = 80

_SPEAKER: Final = re.compile(
    r"^(?:<[^<>\n]{1,40}>|user|assistant|human|用户|助手)[ \t]*[:：]",
    re.MULTILINE | re.IGNORECASE,
)
# Folding costs more than all rules together, and only some texts need it: those with full-width
# letters, and those in traditional Chinese, which nearly always has one of these characters.
_NEEDS_FOLDING: Final = re.compile(
    "[\uff20-\uff5a這個們麼嗎來說還對會時過後從現給讓請問為樣開關錯誤報幫寫設計歡習慣應該點當種與經發]"
)
_QUOTES_AND_SPACES: Final = ' \t\n"“”'
_HAN: Final = re.compile("[\u4e00-\u9fff]")
_ENGLISH_PHRASE: Final = re.compile("[a-z] [a-z']+ [a-z]")

# The first rule that matches decides. Questions for a fact come before the words that they may
# contain, as in "When did I last eat at my favourite restaurant?"
_ENGLISH: Final[tuple[tuple[Intent, Find], ...]] = (
    ("bug_fix", MACHINE_SPEECH),
    ("bug_fix", ERROR_MESSAGE),
    ("cross_agent", english.CROSS_AGENT),
    ("cross_agent", english.ADDRESSED),
    ("follow_up", english.REFERENCE),
    ("question", english.FACT),
    ("preference", english.STANDING_ORDER),
    ("preference", english.RULE_FOR_ANSWERS),
    ("follow_up", english.SHORT_REFERENCE),
    ("follow_up", english.without_subject),
    ("new_task", english.NEW_TASK),
    ("preference", english.PREFERENCE),
    ("bug_fix", english.FIX),
    ("bug_fix", ERROR_NAME),
    ("bug_fix", english.BUG),
    ("follow_up", english.CONTINUES),
    ("question", english.ASKED),
    ("bug_fix", english.TROUBLE),
)
_CHINESE: Final[tuple[tuple[Intent, Find], ...]] = (
    ("bug_fix", MACHINE_SPEECH),
    ("bug_fix", ERROR_MESSAGE),
    ("cross_agent", chinese.CROSS_AGENT),
    ("cross_agent", chinese.ADDRESSED),
    ("follow_up", chinese.REFERENCE),
    ("question", chinese.FACT),
    ("preference", chinese.STANDING_ORDER),
    ("follow_up", chinese.SHORT_REFERENCE),
    ("new_task", chinese.NEW_TASK),
    ("preference", chinese.PREFERENCE),
    ("bug_fix", chinese.FIX),
    ("bug_fix", ERROR_NAME),
    ("bug_fix", chinese.BUG),
    ("follow_up", chinese.CONTINUES),
    ("question", chinese.ASKED),
    ("bug_fix", chinese.TROUBLE),
)
# In a dialogue, what the last message continues is there already.
_SINGLE_MESSAGE_RULES: Final = frozenset({english.CONTINUES, chinese.CONTINUES})


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """An intent and the words that decided it; no words when no rule matched."""

    intent: Intent
    reason: str


_PLAIN_QUESTION: Final = Judged(intent="question", reason="")


def judge(text: str) -> Judged:
    """Return the intent of a message, or of the last message of a dialogue."""
    said = _plain(_message(text))
    is_alone = _SPEAKER.match(text) is None
    if not said.isascii() and _HAN.search(said):
        judged = _first_match(_CHINESE, said, is_alone=is_alone)
        if judged is not None or not _ENGLISH_PHRASE.search(said):
            return judged or _PLAIN_QUESTION
    return _first_match(_ENGLISH, said, is_alone=is_alone) or _PLAIN_QUESTION


def _message(text: str) -> str:
    """Return the parts of a message to read; for a dialogue, its last message."""
    whole = len(text) <= _HEAD_CHARS + _TAIL_CHARS
    if _SPEAKER.match(text):
        return _said_last(text if whole else text[-_TAIL_CHARS:])
    return text if whole else f"{text[:_HEAD_CHARS]}\n{text[-_TAIL_CHARS:]}"


def _said_last(dialogue: str) -> str:
    end = 0
    for speaker in _SPEAKER.finditer(dialogue):
        end = speaker.end()
    return dialogue[end:].strip(_QUOTES_AND_SPACES)


def _plain(text: str) -> str:
    """Return the text in the spelling that the rules expect."""
    if not text.isascii():
        text = fold(text) if _NEEDS_FOLDING.search(text) else text.replace("’", "'")
    return f" {' '.join(text.lower().split())}"


def _first_match(
    table: tuple[tuple[Intent, Find], ...], said: str, *, is_alone: bool
) -> Judged | None:
    for intent, find in table:
        if find in _SINGLE_MESSAGE_RULES and not is_alone:
            continue
        if match := find(said):
            return Judged(intent=intent, reason=match[0].strip()[:_MAX_REASON_CHARS])
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lean:
    """The effect of an intent on a recall; 1.0 changes nothing."""

    semantic: float = 1.0
    episodic: float = 1.0
    procedural: float = 1.0
    turn: float = 1.0
    shared: float = 1.0
    recent: float = 0.0
    """The weight of the recent path."""
    fresh: float = 0.0
    """The bonus for something from today; it falls to nothing within a month."""
    preference: float = 1.0
    """For the categories of user preferences."""


_LEANS: Final[dict[Intent, Lean]] = {
    "new_task": Lean(semantic=1.15, procedural=1.1),
    "follow_up": Lean(turn=1.2, episodic=1.1, recent=0.15, fresh=0.3),
    "bug_fix": Lean(episodic=1.2),
    "preference": Lean(preference=1.25, recent=0.05),
    "cross_agent": Lean(shared=1.25, procedural=1.1),
    "question": Lean(),
}


def lean_of(intent: Intent) -> Lean:
    """Return how an intent changes a recall."""
    return _LEANS[intent]
