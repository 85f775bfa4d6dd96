"""Rules for extraction: words that show what kind of memory a clause would make.

They are data: those for users in `data/*/extraction.toml`, those for assistants, whose sentences
are outcomes of their work or else advice, in `data/*/outcomes.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, Literal, NamedTuple

from recollect.domain.context import Tongue
from recollect.language.claims.subjects import named_in_chinese, named_in_english
from recollect.language.lexicon import Lexicon, Signs, both, compiled, lexicon

# --- Make statements self-contained: "I" becomes "User", orders get a label -----------------------
# Other words stay as they were said. What is an order is kept word for word behind a label.

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


# --- Rules for extraction: words that show what kind of memory a clause would make ----------------
# They are data: those for users in `data/*/extraction.toml`, those for assistants, whose sentences
# are outcomes of their work or else advice, in `data/*/outcomes.toml`.

Category = Literal[
    "preference",
    "user",
    "feedback",
    "decision",
    "follow-up",
    "sentiment",
    "project",
    "domain-facts",
    "task-traces",
    "tool-effects",
]


_DEFAULT_CONFIDENCE: Final = 0.8


class Rule(NamedTuple):
    """The words of one kind of clause, and the claim they make."""

    category: Category
    signs: Signs
    also: str
    """A second sign, wherever it stands; the first alone would not be enough."""
    unless: str
    """Words that show it is something else after all."""
    label: Label | None
    """For what is an order and not a statement."""
    confidence: float
    event: bool

    def applies(self, clause: str) -> bool:
        return (
            self.signs.find(clause) is not None
            and not (self.also and compiled(self.also).search(clause) is None)
            and not (self.unless and compiled(self.unless).search(clause))
        )


def first_rule(rules: tuple[Rule, ...], clause: str) -> Rule | None:
    """Return the first rule that applies to the clause."""
    for rule in rules:
        if rule.applies(clause):
            return rule
    return None


@cache
def statement_rules(language: Tongue) -> tuple[Rule, ...]:
    """Return the rules for what a user says."""
    return _rules(lexicon(language, "extraction"))


@cache
def outcome_rules(language: Tongue) -> tuple[Rule, ...]:
    """Return the rules for what an assistant says of its own work."""
    return _rules(lexicon(language, "outcomes"))


def _rules(words: Lexicon) -> tuple[Rule, ...]:
    return tuple(_rule(words, entry) for entry in words.rules())


def _rule(words: Lexicon, entry: Mapping[str, Any]) -> Rule:
    return Rule(
        category=entry["category"],
        signs=words.signs_of(entry),
        also=words.either(entry["also"]) if "also" in entry else "",
        unless=words.either(entry["unless"]) if "unless" in entry else "",
        label=entry.get("label"),
        confidence=entry.get("confidence", _DEFAULT_CONFIDENCE),
        event=entry.get("event", False),
    )
