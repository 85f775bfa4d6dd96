"""Blocks of the same fields, one after another, as `git log` and `kubectl describe` print them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from recollect.language.digest.columns import Columns
from recollect.language.digest.findings import Finding
from recollect.language.digest.observer import Observer, Sample
from recollect.language.digest.wording import Wording

_FIELD: Final = re.compile(r"^\s{0,8}([^\W\d][\w .()/-]{0,30}?)\s{0,20}[:=：](?:\s+|$)(.*)$")
# A line such as "commit 1f3a9c2" begins a block, too.
_BEGIN: Final = re.compile(r"^\W{0,30}([a-z]+) ([0-9a-f]{7,64}|\d+)\b")
_MIN_BLOCKS: Final = 3
_SHARE: Final = 0.1
_MAX_FIELDS: Final = 40


class Blocks(Observer):
    """Reads blocks as the rows of a table; what stands between their fields is left to others."""

    def __init__(self, sample: Sample) -> None:
        self._names = _fields(sample.lines)
        self._columns = Columns()
        self._row: dict[str, str] = {}
        self._begun = 0
        self._noun = ""

    @classmethod
    def recognises(cls, sample: Sample) -> bool:
        """Return whether the same fields follow each other again and again."""
        return bool(_fields(sample.lines))

    def read(self, line: str, number: int) -> bool:
        """Read the next line."""
        if not self._noun and (begin := _BEGIN.match(line)):
            self._noun = begin[1]
        found = _FIELD.match(line)
        if found is None or found[1] not in self._names:
            return (
                self._noun != "" and line.startswith(f"{self._noun} ") and bool(_BEGIN.match(line))
            )
        if found[1] in self._row:
            self._end()
        self._begun = self._begun if self._row else number
        self._row[found[1]] = found[2].strip()
        return True

    def _end(self) -> None:
        if self._row:
            self._columns.add_cells([*self._row], [*self._row.values()], self._begun)
        self._row = {}

    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield how many blocks there are, and what their fields hold."""
        self._end()
        names = say.names(self._columns.names, 12)
        text = say.say("blocks", rows=self._columns.rows, noun=self._noun, names=names)
        yield Finding(text=" ".join(text.split()), weight=14.0, kind="table")
        yield from self._columns.findings(say)


def _fields(lines: list[str]) -> frozenset[str]:
    """Return the names of fields that come in the same order in every block."""
    names = [found[1] for line in lines if (found := _FIELD.match(line))]
    counts = Counter(names)
    usual = {name for name, count in counts.items() if count >= _MIN_BLOCKS}
    if not 2 <= len(usual) <= _MAX_FIELDS or len(names) < _SHARE * len(lines):
        return frozenset()
    ordered = [name for name in names if name in usual]
    follows: dict[str, Counter[str]] = {name: Counter() for name in usual}
    for name, after in pairwise(ordered):
        follows[name][after] += 1
    same = sum(after.most_common(1)[0][1] for after in follows.values() if after)
    # Speakers take turns at will; fields do not.
    if same < 0.8 * len(ordered) or max(follows[name][name] for name in usual) > 0.1 * len(ordered):
        return frozenset()
    return frozenset(usual)
