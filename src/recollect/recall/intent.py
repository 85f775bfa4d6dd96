"""Judge by rules what kind of message a question is, and what that changes in a recall.

A wrong guess spoils an answer that was right, so the default is `question`, which changes nothing.

The rules are data: `language/data/{en,zh}/intent.toml`. The first one that applies decides. A rule
has an `intent` and one of:

    anywhere      ways to show the intent wherever they stand
    early         the same near the beginning, since what a long message mentions later is not its
                  subject; in English, each way stands for whole words
    start         ways to begin a message, after an optional `opening`
    whole         ways that are a whole short message, after an optional `opening`
    only_words    words of which a short message consists, together with stop words

`clues` are words without which a costly search is not made; `also` is a second sign that must be
there too; `outside_dialogue` restricts a rule to messages that stand alone; `same_as_english` names
an English rule to use.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, NamedTuple

from recollect.domain.context import Tongue
from recollect.language.characters import fold
from recollect.language.lexicon import Lexicon, both, compiled, lexicon
from recollect.language.words import stop_words

Intent = Literal["new_task", "follow_up", "bug_fix", "preference", "cross_agent", "question"]

# A message says what it wants at its beginning or at its end; between them is material.
_READ_FIRST_CHARACTERS: Final = 2000
_READ_LAST_CHARACTERS: Final = 500
_MAX_REASON_CHARACTERS: Final = 80
# A Chinese character says more than twice as much as a Latin letter.
_EARLY_CHARACTERS: Final[Mapping[Tongue, int]] = {"en": 200, "zh": 80}
_SHORT_CHARACTERS: Final[Mapping[Tongue, int]] = {"en": 80, "zh": 30}

_AROUND_SPEECH: Final = ' \t\n"“”'
_END_OF_MESSAGE: Final = "[ ?？!！.,，。~]*"
_HAN: Final = re.compile("[\u4e00-\u9fff]")
_ENGLISH_PHRASE: Final = re.compile("[a-z] [a-z']+ [a-z]")
_SPOKEN_WORD: Final = re.compile("[^ ,.?!;:]+")

_Find = Callable[[str], re.Match[str] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """An intent and the words that decided it, which are none when no rule applied."""

    intent: Intent
    reason: str


_PLAIN_QUESTION: Final = Judged(intent="question", reason="")


def judge(text: str) -> Judged:
    """Return the intent of a message, or of the last message of a dialogue."""
    message = _normalise(_readable_part(text))
    is_dialogue = _speaker().match(text) is not None
    if not message.isascii() and _HAN.search(message):
        judged = _apply_first(_rules("zh"), message, is_dialogue=is_dialogue)
        if judged is not None or not _ENGLISH_PHRASE.search(message):
            return judged or _PLAIN_QUESTION
    return _apply_first(_rules("en"), message, is_dialogue=is_dialogue) or _PLAIN_QUESTION


def _readable_part(text: str) -> str:
    """Return both ends of a message; of a dialogue, its last message."""
    whole = len(text) <= _READ_FIRST_CHARACTERS + _READ_LAST_CHARACTERS
    if _speaker().match(text):
        return _last_message(text if whole else text[-_READ_LAST_CHARACTERS:])
    if whole:
        return text
    return f"{text[:_READ_FIRST_CHARACTERS]}\n{text[-_READ_LAST_CHARACTERS:]}"


def _last_message(dialogue: str) -> str:
    end = 0
    for speaker in _speaker().finditer(dialogue):
        end = speaker.end()
    return dialogue[end:].strip(_AROUND_SPEECH)


def _normalise(text: str) -> str:
    """Return the spelling that the rules expect: lower case, one space before each word."""
    if not text.isascii():
        text = fold(text) if _to_fold().search(text) else text.replace("’", "'")
    return f" {' '.join(text.lower().split())}"


@cache
def _speaker() -> re.Pattern[str]:
    """Return the pattern of what stands before a message in a dialogue."""
    return re.compile(
        rf"^(?:<[^<>\n]{{1,40}}>|{both('intent', 'speaker')})[ \t]*[:：]",
        re.MULTILINE | re.IGNORECASE,
    )


@cache
def _to_fold() -> re.Pattern[str]:
    """Return the pattern of texts to fold: with full-width letters or in traditional Chinese.

    Folding costs more than all rules together, and only some texts need it.
    """
    return re.compile(f"[\uff20-\uff5a{lexicon('zh', 'intent').letters('traditional')}]")


class _Rule(NamedTuple):
    intent: Intent
    find: _Find
    outside_dialogue: bool


def _apply_first(rules: tuple[_Rule, ...], message: str, *, is_dialogue: bool) -> Judged | None:
    for rule in rules:
        if is_dialogue and rule.outside_dialogue:
            continue
        if match := rule.find(message):
            return Judged(intent=rule.intent, reason=match[0].strip()[:_MAX_REASON_CHARACTERS])
    return None


@cache
def _rules(language: Tongue) -> tuple[_Rule, ...]:
    return tuple(_rule(language, entry) for entry in lexicon(language, "intent").rules())


def _rule(language: Tongue, entry: Mapping[str, Any]) -> _Rule:
    if "same_as_english" in entry:
        named = (other for other in lexicon("en", "intent").rules() if "name" in other)
        same = next(other for other in named if other["name"] == entry["same_as_english"])
        return _rule("en", same)
    return _Rule(
        entry["intent"],
        _finder(lexicon(language, "intent"), language, entry),
        entry.get("outside_dialogue", False),
    )


def _finder(words: Lexicon, language: Tongue, entry: Mapping[str, Any]) -> _Find:
    opening = words.either(entry.get("opening", ""))
    if "start" in entry:
        start = opening + words.either(entry["start"])
        return lambda message: compiled(start).match(message)
    if "whole" in entry:
        whole = f"{opening}{words.either(entry['whole'])}{_END_OF_MESSAGE}"
        return _whole(whole, _SHORT_CHARACTERS[language])
    if "only_words" in entry:
        return _only(stop_words().union(entry["only_words"].split()), _SHORT_CHARACTERS[language])
    if "early" in entry:
        return _early(words, language, entry)
    return _anywhere(words.either(entry["anywhere"]), tuple(entry.get("clues", "").split()))


def _whole(pattern: str, max_characters: int) -> _Find:
    """Find a short message that the pattern matches as a whole."""

    def find(message: str) -> re.Match[str] | None:
        return compiled(pattern).fullmatch(message) if len(message) <= max_characters else None

    return find


def _only(words: frozenset[str], max_characters: int) -> _Find:
    """Find the first word of a short message that consists of these words."""

    def find(message: str) -> re.Match[str] | None:
        if len(message) > max_characters or not words.issuperset(_SPOKEN_WORD.findall(message)):
            return None
        return _SPOKEN_WORD.search(message)

    return find


def _early(words: Lexicon, language: Tongue, entry: Mapping[str, Any]) -> _Find:
    """Find a sign near the beginning, and the second one if the rule has one."""
    form = r" {}\b" if language == "en" else "{}"
    sign = form.format(words.either(entry["early"]))
    also = form.format(words.either(entry["also"])) if "also" in entry else ""
    end = _EARLY_CHARACTERS[language]

    def find(message: str) -> re.Match[str] | None:
        match = compiled(sign).search(message, 0, end)
        return match if match and (not also or compiled(also).search(message, 0, end)) else None

    return find


def _anywhere(pattern: str, clues: tuple[str, ...]) -> _Find:
    """Find a sign wherever it stands, if any of the clues is there."""

    def find(message: str) -> re.Match[str] | None:
        if clues and not any(map(message.__contains__, clues)):
            return None
        return compiled(pattern).search(message)

    return find


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentFactors:
    """The factors by which an intent changes a recall; 1.0 changes nothing."""

    semantic: float = 1.0
    episodic: float = 1.0
    procedural: float = 1.0
    turn: float = 1.0
    shared: float = 1.0
    recent: float = 0.0
    """The weight of the path that finds recent turns."""
    fresh: float = 0.0
    """The bonus of a record of today; it falls to nothing within a month."""
    preference: float = 1.0
    """The factor of the categories of user preferences."""


_LEANS: Final[dict[Intent, IntentFactors]] = {
    "new_task": IntentFactors(semantic=1.15, procedural=1.1),
    "follow_up": IntentFactors(turn=1.2, episodic=1.1, recent=0.15, fresh=0.3),
    "bug_fix": IntentFactors(episodic=1.2),
    "preference": IntentFactors(preference=1.25, recent=0.05),
    "cross_agent": IntentFactors(shared=1.25, procedural=1.1),
    "question": IntentFactors(),
}


def lean_of(intent: Intent) -> IntentFactors:
    """Return what an intent changes in a recall."""
    return _LEANS[intent]
