"""A short list of plain statements: "I live in …", 我叫…. Without the local models, it decides."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from recollect.domain.context import Tongue
from recollect.language.extraction.message import language_of
from recollect.language.lexicon import Signs, lexicon


def stated_category(plain: str) -> str | None:
    """Return the category of a plain statement; None if the list does not have it."""
    rules = _rules(language_of(plain))
    return next((category for category, signs in rules if signs.find(plain)), None)


@cache
def _rules(language: Tongue) -> Sequence[tuple[str, Signs]]:
    words = lexicon(language, "plain_statements")
    return [(rule["category"], words.signs_of(rule)) for rule in words.rules()]
