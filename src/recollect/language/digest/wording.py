"""How a digest words what it counted, in the language of the text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from recollect.domain.context import Tongue
from recollect.language.lexicon import lexicon


@dataclass(frozen=True, slots=True)
class Wording:
    """The sentences of one language."""

    tongue: Tongue

    def say(self, form: str, /, **values: Any) -> str:
        """Return a sentence with these values."""
        forms: Mapping[str, str] = lexicon(self.tongue, "digest").table("say")
        return forms[form].format(**{key: told(value) for key, value in values.items()})

    def counts(self, counted: Iterable[tuple[str, int]], most: int) -> str:
        """Return names with their counts, the first so many."""
        pairs = list(counted)
        shown = [f"{name} {count}" for name, count in pairs[:most]]
        return ", ".join([*shown, *self._rest(len(pairs) - most)])

    def names(self, names: Iterable[str], most: int) -> str:
        """Return names, the first so many."""
        given = list(names)
        return ", ".join([*given[:most], *self._rest(len(given) - most)])

    def _rest(self, count: int) -> list[str]:
        return [self.say("more", count=count)] if count > 0 else []


def told(value: object) -> str:
    """Return a number as it is written, and anything else as text."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or value.is_integer():
        return str(int(value))
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:.1f}"
