"""Diffs: the files that change, and by how much."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from recollect.language.digest.findings import Finding
from recollect.language.digest.observer import Observer, Sample
from recollect.language.digest.wording import Wording

_HUNK: Final = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@ ?(.*)")
_SYMBOL: Final = re.compile(
    r"^[+-]\s*((?:export |public |private |static |async |pub )*"
    r"(?:def|class|function|func|fn|struct|interface|type|enum|CREATE|ALTER|DROP)\s+\S.*)"
)


# Names that are made of several words: snake_case, camelCase.
_NAME: Final = re.compile(r"\b[A-Za-z]+_\w{2,}\b|\b[a-z]+[A-Z]\w{2,}\b")


@dataclass(slots=True)
class _File:
    line: int
    added: int = 0
    removed: int = 0
    note: str = ""
    old: str = ""


class Changes(Observer):
    """Reads unified diffs."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}
        self._current = _File(0)
        self._symbols: dict[str, int] = {}
        self._old = ""
        # Names in lines that were added, and those in all other lines.
        self._names: Counter[str] = Counter()
        self._known: set[str] = set()

    @classmethod
    def recognises(cls, sample: Sample) -> bool:
        """Return whether there are hunks of a diff."""
        return any(_HUNK.match(line) for line in sample.lines) and any(
            line.startswith(("+++ ", "diff ")) for line in sample.lines
        )

    def read(self, line: str, number: int) -> bool:
        """Read the next line; what comes and goes may be worth quoting."""
        if line.startswith("diff --git "):
            self._begin(line.rsplit(" b/", 1)[-1].strip(), number)
        elif line.startswith("--- "):
            self._old = line[4:].split("\t")[0].strip()
        elif line.startswith("+++ "):
            name = line[4:].split("\t")[0].strip().removeprefix("b/")
            if name == "/dev/null":
                name = self._old.removeprefix("a/")
            if name not in self._files:
                self._begin(name, number)
        elif line.startswith("new file"):
            self._current.note = "new_file"
        elif line.startswith("deleted file"):
            self._current.note = "deleted_file"
        elif line.startswith("rename from "):
            self._current.note, self._current.old = "renamed_file", line[12:].strip()
        elif line.startswith("+"):
            self._current.added += 1
            if len(self._names) < 5_000:
                self._names.update(_NAME.findall(line))
            self._note_symbol(line, number)
            return False
        elif line.startswith("-"):
            self._current.removed += 1
            self._forget(line)
            self._note_symbol(line, number)
            return False
        else:
            self._forget(line)
        return True

    def _forget(self, line: str) -> None:
        """Leave out the names that were there before."""
        if len(self._known) < 20_000:
            self._known.update(_NAME.findall(line))

    def _begin(self, name: str, number: int) -> None:
        self._current = self._files.setdefault(name, _File(number))

    def _note_symbol(self, line: str, number: int) -> None:
        if len(self._symbols) < 500 and (found := _SYMBOL.match(line)):
            self._symbols.setdefault(f"{line[0]} {found[1].rstrip(' {:')}", number)

    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield the totals, each file, and the symbols that come and go."""
        files = self._files
        text = say.say(
            "diff",
            files=len(files),
            added=sum(file.added for file in files.values()),
            removed=sum(file.removed for file in files.values()),
        )
        yield Finding(text=text, weight=14.0, kind="diff")
        largest = max((file.added + file.removed for file in files.values()), default=0) or 1
        counted = self._names.most_common(200)
        new = [(name, count) for name, count in counted if count > 1 and name not in self._known]
        if new:
            text = say.say("new_names", names=say.names([name for name, _ in new[:6]], 6))
            yield Finding(text=text, weight=10.0, kind="names")
        for name, file in files.items():
            note = say.say(file.note, old=file.old) if file.note else ""
            size = file.added + file.removed
            yield Finding(
                text=say.say(
                    "changed", file=name, added=file.added, removed=file.removed, note=note
                ),
                weight=5.0 + 5.0 * size / largest + (1.5 if file.note else 0.0),
                line=file.line,
                kind="file",
            )
        for told, number in self._symbols.items():
            yield Finding(text=told, weight=5.0, line=number, kind="symbol")
