"""Tables: CSV and TSV, and columns that are aligned with spaces, as `ps` prints them."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final
from unicodedata import east_asian_width

from recollect.language.digest.columns import Columns
from recollect.language.digest.findings import Finding
from recollect.language.digest.observer import Observer, Sample
from recollect.language.digest.wording import Wording

# How cells are told apart: by a mark, by the columns of characters that are blank in every row, or
# by several spaces.
_ALIGNED: Final = " "
_SPACES: Final = "  "
_DELIMITERS: Final = (",", "\t", ";", "|", _ALIGNED, _SPACES)
_BORDER: Final = re.compile(r"^[\s|+:=─━┼├┤-]+$")
_OF_BORDERS: Final = frozenset("|+:=─━┼├┤- ") | {""}
_GAP: Final = re.compile(r"\s{2,}|\t")
_HEAD_WORD: Final = re.compile(r"\S+")
_SHOWN_NAMES: Final = 12
_SHARE: Final = 0.85
# What is not of the table may stand above its head.
_MAX_ABOVE: Final = 8


@dataclass(frozen=True, slots=True)
class _Form:
    """How the rows of a table are written."""

    delimiter: str
    width: int
    # Where the columns begin, where they are aligned.
    starts: tuple[int, ...] = ()
    # The line that names them.
    head: str = ""

    def cells(self, line: str) -> list[str]:
        """Return the cells of a line."""
        if not self.starts:
            if self.delimiter == _ALIGNED:
                return line.split(None, self.width - 1)
            return _cells(line, self.delimiter)
        wide = _spread(line)
        ends = (*self.starts[1:], len(wide))
        if all(at >= len(wide) or wide[at - 1] == " " for at in self.starts[1:]):
            spans = zip(self.starts, ends, strict=True)
            return [wide[at:end].replace(_FILLER, "").strip() for at, end in spans]
        # A cell that is wider than those before moves the others.
        return line.split(None, self.width - 1)


class Tables(Observer):
    """Reads rows of one form."""

    def __init__(self, sample: Sample) -> None:
        form = _form(sample)
        assert form is not None
        self._form = form
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
        width = self._form.width
        if not self._names and self._form.head:
            if line.rstrip() != self._form.head:
                return False
            if not self._form.starts:
                # The last name may have several words.
                self._names = _named(line.split(None, width - 1))
                return True
        cells = self._form.cells(line)
        if self._form.delimiter in (_ALIGNED, _SPACES) and len(cells) > width > 1:
            cells = [*cells[: width - 1], " ".join(cells[width - 1 :])]
        if len(cells) != width:
            return False
        if not self._names:
            if self._form.head or _is_header(cells):
                self._names = _named(cells)
                return True
            self._names = [str(place) for place in range(1, width + 1)]
        if cells != self._names:
            self._columns.add_cells(self._names, cells, number)
        return True

    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield the size of the table, and what its columns hold."""
        if not self._columns.rows:
            return
        names = say.names(self._names, _SHOWN_NAMES)
        text = say.say("table", rows=self._columns.rows, columns=self._form.width, names=names)
        yield Finding(text=text, weight=14.0, kind="table")
        yield from self._columns.findings(say)


def _form(sample: Sample) -> _Form | None:
    lines = [line for line in sample.lines if not _BORDER.match(line)]
    if len(lines) < 3:
        return None
    for delimiter in _DELIMITERS:
        if delimiter == _ALIGNED:
            if form := _aligned(lines) or _worded(lines):
                return form
            continue
        widths = Counter(len(_cells(line, delimiter)) for line in lines)
        width, count = widths.most_common(1)[0]
        if delimiter == _SPACES:
            # The last column may hold spaces.
            width = len(_cells(lines[0], delimiter))
            count = sum(number for size, number in widths.items() if size >= width)
        if width >= (2 if delimiter in ("\t", "|") else 3) and count >= _SHARE * len(lines):
            if delimiter == _SPACES and not _is_filled(lines, width):
                continue
            if delimiter in (",", ";") and _is_prose(lines, delimiter):
                continue
            return _Form(delimiter, width)
    return None


def _aligned(lines: Sequence[str]) -> _Form | None:
    """Return the columns that a line names and that those below it fill."""
    for place, line in enumerate(lines[:_MAX_ABOVE]):
        below = [_spread(row) for row in lines[place + 1 :]]
        words = line.split()
        if (
            len(below) < 2
            or len(words) < 3
            or len(words) > 40
            or any(w[0].isdigit() for w in words)
        ):
            continue
        head = _spread(line.rstrip())
        starts = [0]
        for word in [*_HEAD_WORD.finditer(head)][1:]:
            # A column begins behind the last place before its name that is blank in most rows.
            gap = range(word.start() - 1, max(starts[-1], _end_before(head, word.start()) - 1), -1)
            for at in gap:
                blank = sum(at >= len(row) or row[at] == " " for row in below)
                if blank >= _SHARE * len(below):
                    starts.append(at + 1)
                    break
        rows = [row for row in below if len(row) > starts[-1]]
        has_kinds = len(rows) >= _SHARE * len(below) and _has_kinds(rows, starts)
        if len(starts) >= 3 and has_kinds and _is_head(line, lines[place + 1 :]):
            return _Form(_ALIGNED, len(starts), tuple(starts), line.rstrip())
    return None


def _worded(lines: Sequence[str]) -> _Form | None:
    """Return the columns of rows whose words stand one below the other in kind, if not in place."""
    for place, line in enumerate(lines[:_MAX_ABOVE]):
        words = line.split()
        below = [row.split() for row in lines[place + 1 :]]
        if len(below) < 2 or len(words) < 4 or any(word[0].isdigit() for word in words):
            continue
        usual = Counter(map(len, below)).most_common(1)[0][0]
        width = usual if usual < len(words) <= usual + 1 else len(words)
        rows = [row for row in below if len(row) >= width]
        if len(rows) < _SHARE * len(below):
            continue
        numeric = [sum(row[at][0].isdigit() for row in rows) / len(rows) for at in range(width - 1)]
        alike = [share for share in numeric if share >= _SHARE or share <= 1 - _SHARE]
        if len(alike) == len(numeric) and sum(share > 0.5 for share in numeric) >= width / 3:
            return _Form(_ALIGNED, width, head=line.rstrip())
    return None


def _end_before(head: str, at: int) -> int:
    """Return where the name that stands before another one ends."""
    return len(head[:at].rstrip())


def _has_kinds(rows: Sequence[str], starts: Sequence[int]) -> bool:
    """Return whether what stands in the columns is short, and of most of them always there."""
    filled = 0
    for at, end in pairwise(starts):
        cells = [row[at:end].strip() for row in rows]
        filled += sum(bool(cell) and " " not in cell for cell in cells) >= _SHARE * len(rows)
    return filled >= 0.6 * (len(starts) - 1)


def _is_head(line: str, below: Sequence[str]) -> bool:
    """Return whether a line names what stands below it: in capitals, or without numbers."""
    if line.upper() == line or any(_GAP.search(line.strip()) for line in (line, *below[:2])):
        return not any(letter.isdigit() for letter in line)
    return False


_FILLER: Final = "\x7f"


def _spread(line: str) -> str:
    """Return a line in which every wide character takes two places, as on a terminal."""
    if line.isascii():
        return line.expandtabs()
    return "".join(
        letter + _FILLER if east_asian_width(letter) in "WF" else letter
        for letter in line.expandtabs()
    )


def _is_prose(lines: Sequence[str], delimiter: str) -> bool:
    """Return whether the delimiter mostly separates clauses, with a space behind."""
    marks = sum(line.count(delimiter) for line in lines)
    return sum(line.count(f"{delimiter} ") for line in lines) > marks / 2


def _is_filled(lines: Sequence[str], width: int) -> bool:
    """Return whether the first line names columns that the others fill."""
    head = _cells(lines[0], _SPACES)
    if not _is_header(head):
        return False
    if sum(cell.upper() == cell for cell in head) >= len(head) - 1:
        return True
    return all(len(_cells(line, _SPACES)) == width for line in lines[1:20])


def _named(cells: Sequence[str]) -> list[str]:
    """Return names for columns, no two of them equal."""
    names: list[str] = []
    for place, cell in enumerate(cells, 1):
        name = cell or str(place)
        names.append(f"{name} {place}" if name in names else name)
    return names


def _cells(line: str, delimiter: str) -> list[str]:
    if delimiter == _SPACES:
        return _GAP.split(line.strip())
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
