"""The lines of any text: what signals something, what is rare, what comes first and last."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

from recollect.language.analysis import query_terms, terms
from recollect.language.characters import HAN
from recollect.language.digest.findings import Finding
from recollect.language.digest.repetition import Repeated, Repetition
from recollect.language.lexicon import bilingual
from recollect.language.sentences import sentences
from recollect.language.summary import salience

# Of so many lines, chosen by what is quickly seen, the sentences are weighed.
_FINALISTS: Final = 300
_LONG_LINE: Final = 300
_MAX_SENTENCES: Final = 4_000
_FAILURE: Final = 3.0
_WARNING: Final = 1.5
_RESULT: Final = 1.2
_NUMBER: Final = 0.5
_FIRST: Final = 1.0
_LAST: Final = 1.2
_RARE: Final = 1.5
_ASKED: Final = 3.0
_PLAIN: Final = 0.3
# What frequent repetition by itself is worth telling, at most.
_REPEATED: Final = 1.5
_MIN_LETTERS: Final = 4
_LETTERS: Final = re.compile(rf"[A-Za-z{HAN}]")
_DIGITS: Final = re.compile(r"\d")
_OWN_WORTH: Final = 0.8


class Lines:
    """Reads every line of a text."""

    def __init__(self, query: str, quote: Callable[[str], str]) -> None:
        self._quote = quote
        self._repetition = Repetition()
        self._asked = frozenset(query_terms(query)) if query else frozenset[str]()
        self._number = 0

    @property
    def number(self) -> int:
        """Return how many lines were read."""
        return self._number

    def read(self, line: str, number: int, *, is_told: bool) -> None:
        """Read the next line, a long one by its sentences; what is told already only counts."""
        self._number = number
        if is_told:
            return
        if len(line) <= _LONG_LINE:
            if text := line.strip():
                self._repetition.add(text, number)
            return
        for sentence in sentences(line[: _MAX_SENTENCES * 100]):
            self._repetition.add(sentence.strip(), number)

    def findings(self, *, only_signals: bool = False) -> Iterator[Finding]:
        """Yield the lines that are worth quoting; rows of a table only if they signal something."""
        quick = [(self._quick_worth(kind), kind) for kind in self._repetition]
        quick.sort(key=lambda pair: -pair[0])
        for worth, kind in quick[:_FINALISTS]:
            weight = worth + _OWN_WORTH * max(0.0, salience(kind.first).weight)
            weight += self._closeness(kind.first)
            kind_of_line = _signal(kind.first)
            if only_signals and kind_of_line not in ("failure", "warning"):
                continue
            if weight > 0:
                yield Finding(
                    text=self._quote(kind.first),
                    weight=weight,
                    line=kind.first_line,
                    count=kind.count,
                    kind=kind_of_line,
                )

    def _quick_worth(self, kind: Repeated) -> float:
        text = kind.first
        if len(_LETTERS.findall(text)) < _MIN_LETTERS:
            return -1.0
        worth = {"failure": _FAILURE, "warning": _WARNING, "result": _RESULT}.get(
            _signal(text), _PLAIN
        )
        worth += _NUMBER * bool(_DIGITS.search(text))
        share = math.log(1 + self._number / kind.count) / math.log(2 + self._number)
        worth += _RARE * share if self._number > 20 else 0.0
        worth += _FIRST * (kind.first_line <= 2) + _LAST * (kind.last_line >= self._number - 2)
        if kind.count > 2:
            worth += min(_REPEATED, 0.3 * math.log(kind.count))
        return worth

    def _closeness(self, text: str) -> float:
        if not self._asked:
            return 0.0
        return _ASKED * len(self._asked & frozenset(terms(text))) / len(self._asked)


@cache
def _signals() -> tuple[tuple[str, re.Pattern[str]], ...]:
    names = ("failure", "warning", "result")
    return tuple((name, bilingual("digest", name, re.IGNORECASE)) for name in names)


def _signal(text: str) -> str:
    return next((name for name, pattern in _signals() if pattern.search(text)), "plain")
