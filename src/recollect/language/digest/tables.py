"""Tables: CSV and TSV, and columns that are aligned with spaces, as `ps` prints them."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from recollect.language.digest.columns import Columns
from recollect.language.digest.findings import Finding
from recollect.language.digest.observer import Observer, Sample
from recollect.language.digest.wording import Wording

# How cells are told apart: by a mark, by any space, or by several spaces.
_SPACE: Final = " "
_SPACES: Final = "  "
_DELIMITERS: Final = (",", "\t", ";", "|", _SPACE, _SPACES)
_ALIGNED: Final = (_SPACE, _SPACES)
_BORDER: Final = re.compile(r"^[\s|+:=─━┼├┤-]+$")
_OF_BORDERS: Final = frozenset("|+:=─━┼├┤- ") | {""}
_GAP: Final = re.compile(r"\s{2,}|\t")
_SHOWN_NAMES: Final = 12
_SHARE: Final = 0.85


class Tables(Observer):
    """Reads rows of one form."""

    def __init__(self, sample: Sample) -> None:
        form = _form(sample)
        assert form is not None
        self._delimiter, self._width = form
        self._names: list[str] = []
        self._columns = Columns()

    @classmethod
    def recognises(cls, sample: Sample) -> bool:
        """Return whether most lines have the same number of cells."""
        return _form(sample) is not None

    def read(self, line: str, number: int) -> bool:
        """Read the next row; lines of another form are left to others."""
        if line[:1] in _OF_BORDERS and _BORDER.match(line):
            return True
        cells = _cells(line, self._delimiter)
        if self._delimiter in _ALIGNED and len(cells) > self._width > 1:
            cells = [*cells[: self._width - 1], " ".join(cells[self._width - 1 :])]
        if len(cells) != self._width:
            return False
        if not self._names:
            if _is_header(cells):
                self._names = [cell or str(place) for place, cell in enumerate(cells, 1)]
                return True
            self._names = [str(place) for place in range(1, self._width + 1)]
        self._columns.add_cells(self._names, cells, number)
        return True

    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield the size of the table, and what its columns hold."""
        if not self._columns.rows:
            return
        names = say.names(self._names, _SHOWN_NAMES)
        text = say.say("table", rows=self._columns.rows, columns=self._width, names=names)
        yield Finding(text=text, weight=14.0, kind="table")
        yield from self._columns.findings(say)


def _form(sample: Sample) -> tuple[str, int] | None:
    lines = [line for line in sample.lines if not _BORDER.match(line)]
    if len(lines) < 3:
        return None
    for delimiter in _DELIMITERS:
        widths = Counter(len(_cells(line, delimiter)) for line in lines)
        width, count = widths.most_common(1)[0]
        if delimiter in _ALIGNED:
            # The last column may hold spaces.
            width = len(_cells(lines[0], delimiter))
            count = sum(number for size, number in widths.items() if size >= width)
            usual = widths.most_common(1)[0][0]
            if delimiter == _SPACE and usual < width <= usual + 2 and count < _SHARE * len(lines):
                # The last name has several words.
                width, count = usual, sum(n for size, n in widths.items() if size >= usual)
        if width >= (2 if delimiter in ("\t", "|") else 3) and count >= _SHARE * len(lines):
            if delimiter in _ALIGNED and not _is_aligned(lines, delimiter, width):
                continue
            if delimiter in (",", ";") and _is_prose(lines, delimiter):
                continue
            return delimiter, width
    return None


def _is_prose(lines: Sequence[str], delimiter: str) -> bool:
    """Return whether the delimiter mostly separates clauses, with a space behind."""
    marks = sum(line.count(delimiter) for line in lines)
    return sum(line.count(f"{delimiter} ") for line in lines) > marks / 2


def _is_aligned(lines: Sequence[str], delimiter: str, width: int) -> bool:
    """Return whether the first line names columns that the others fill."""
    head = _cells(lines[0], delimiter)
    if not _is_header(head) or not any(_GAP.search(line.strip()) for line in lines[:3]):
        return False
    if sum(cell.upper() == cell for cell in head) >= len(head) - 1:
        return True
    filled = [_cells(line, delimiter) for line in lines[1:20]]
    return all(len(cells) == width for cells in filled)


def _cells(line: str, delimiter: str) -> list[str]:
    if delimiter == _SPACES:
        return _GAP.split(line.strip())
    if delimiter == _SPACE:
        return line.split()
    if delimiter == "|":
        return [cell.strip() for cell in line.strip().strip("|").split("|")]
    if '"' not in line:
        cells = line.split(delimiter)
        return [cell.strip() for cell in cells] if " " in line or "\r" in line else cells
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter))]
    except (csv.Error, StopIteration):
        return []


def _is_header(cells: Sequence[str]) -> bool:
    """Return whether cells are names: none is a number, and no two are equal."""
    return (
        len(cells) > 1
        and len(set(cells)) == len(cells)
        and all(cell and not cell[:1].isdigit() and len(cell) <= 60 for cell in cells)
    )
