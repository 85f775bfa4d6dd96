"""What a rule for extraction is: words that show what kind of memory a clause would make."""

from __future__ import annotations

from typing import Literal, NamedTuple

from recollect.text.signal_patterns import Signs, compiled
from recollect.writing.extract_voice import Label

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


class Rule(NamedTuple):
    """The words of one kind of clause, and what is made of it."""

    category: Category
    signs: Signs
    also: str = ""
    """A second sign, wherever it stands; the first alone would not be enough."""
    unless: str = ""
    """Words that show it is something else after all."""
    label: Label | None = None
    """For what is an order and not a statement."""
    confidence: float = 0.8
    event: bool = False

    def applies(self, clause: str) -> bool:
        return (
            self.signs.find(clause) is not None
            and not (self.also and compiled(self.also).search(clause) is None)
            and not (self.unless and compiled(self.unless).search(clause))
        )


def first_rule(rules: tuple[Rule, ...], clause: str) -> Rule | None:
    """The first rule that applies to the clause."""
    for rule in rules:
        if rule.applies(clause):
            return rule
    return None
