"""Lines that differ only in numbers, counted once; in bounded memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_VARIABLE: Final = re.compile(r"0x[0-9a-fA-F]+|[0-9a-fA-F]{8,}|\d+")
_READ_CHARS: Final = 300
_MAX_TEMPLATES: Final = 20_000


class Repeated:
    """A line and those like it."""

    __slots__ = ("count", "first", "first_line", "last", "last_line")

    def __init__(self, text: str, line: int) -> None:
        self.first = self.last = text
        self.first_line = self.last_line = line
        self.count = 1


class Repetition:
    """Counts the lines of a text by what they have in common.

    Of more kinds than fit, those seen once longest ago are dropped: a text of so many different
    lines has no repetition to tell of there.
    """

    def __init__(self) -> None:
        self._kinds: dict[str, Repeated] = {}

    def add(self, text: str, line: int) -> None:
        """Count a line."""
        key = _VARIABLE.sub("#", text[:_READ_CHARS])
        found = self._kinds.get(key)
        if found is None:
            if len(self._kinds) >= _MAX_TEMPLATES:
                self._make_room()
            self._kinds[key] = Repeated(text, line)
            return
        found.count += 1
        found.last, found.last_line = text, line

    def __iter__(self) -> Iterator[Repeated]:
        return iter(self._kinds.values())

    def __len__(self) -> int:
        return len(self._kinds)

    def _make_room(self) -> None:
        once = [key for key, kind in self._kinds.items() if kind.count == 1]
        for key in once[: len(once) // 2] or list(self._kinds)[: _MAX_TEMPLATES // 2]:
            del self._kinds[key]
