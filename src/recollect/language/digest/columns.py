"""Rows with named columns: ranges, frequent values and what is unusual, in bounded memory."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from recollect.language.digest.findings import Finding
from recollect.language.digest.lines import Lines, signal_of
from recollect.language.digest.logs import TIME
from recollect.language.digest.wording import Wording, told

_NUMBER: Final = re.compile(
    r"[-+]?[$€£¥]?\s?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s?"
    r"(%|[KMGT]i?B?|ms|s|m|h|d)?$"
)
_UNITS: Final = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_DATE: Final = re.compile(r"\d{4}[-/年]\d{1,2}[-/月]\d{1,2}")
_MAX_COLUMNS: Final = 100
# Rows are counted in batches, which is many times faster than one by one.
_BATCH_ROWS: Final = 500
_LONGEST_CELL: Final = 200
# Of the cells of a batch so many are tried for being numbers or times.
_TRIED: Final = 20
_MAX_VALUES: Final = 1_000
_FEW: Final = 12
# The share of rows from which a value is the usual one, or a column is of numbers.
_USUAL: Final = 0.8
_NUMERIC_SHARE: Final = 0.8
_DISTINCT_SHARE: Final = 0.9
_KEY_COLUMNS: Final = 2
_MAX_CELL: Final = 60
_LONG_CELL: Final = 24
# How far from the mean, in deviations, a value is unusual.
_UNUSUAL: Final = 4.0
_MAX_RARE: Final = 6
_MAX_REASONS: Final = 3
# A table of so few rows is told as it is.
_FEW_ROWS: Final = 6
_MAX_NUMBER: Final = 16
# Of so many rows with a rare value each is told whole, in about so many characters.
_TOLD_WHOLE: Final = 2
_MAX_ROW: Final = 60
_MAX_EXAMPLES: Final = 4
_SHOWN_VALUES: Final = 8
_LETTERS: Final = re.compile(r"[^\W\d_]{2}")
_ABSENT: Final = frozenset(("", "-", "null", "None", "NaN", "N/A"))
_TEXT_WEIGHT: Final = 1.6

Row = Mapping[str, str]
# The number of a row, the names of its cells, and the cells.
_Cells = tuple[int, Sequence[str], Sequence[str]]


class _Column:
    """What is known of one column."""

    __slots__ = (
        "cells",
        "dates",
        "filled",
        "high",
        "high_at",
        "high_row",
        "integers",
        "longest",
        "low",
        "low_at",
        "low_row",
        "numbers",
        "rows_of",
        "square",
        "sum",
        "texts",
        "values",
    )

    def __init__(self) -> None:
        self.cells: list[str] = []
        self.filled = self.numbers = self.integers = self.longest = 0
        self.values: Counter[str] = Counter()
        # The first rows with each value.
        self.rows_of: dict[str, list[tuple[int, Row]]] = {}
        self.low, self.high = math.inf, -math.inf
        self.low_at = self.high_at = 0
        self.low_row: Row = {}
        self.high_row: Row = {}
        self.sum = self.square = 0.0
        self.dates: list[str] = []
        # What stands in a column of long texts.
        self.texts: Lines | None = None

    def count(self, rows: Sequence[_Cells]) -> None:
        """Count the cells of a batch; those before the first of a column are missing."""
        cells, self.cells = self.cells, []
        if _ABSENT.isdisjoint(cells):
            at, given = [*range(len(cells))], cells
        else:
            at = [place for place, cell in enumerate(cells) if cell not in _ABSENT]
            given = [cells[place] for place in at]
        if not given:
            return
        self.filled += len(given)
        self.longest = max(self.longest, max(map(len, given)))
        if len(self.values) < _MAX_VALUES:
            self.values.update(given)
            for place, cell in zip(at, given, strict=True):
                examples = self.rows_of.setdefault(cell, [])
                if len(examples) < _MAX_EXAMPLES:
                    examples.append(_example(rows[place]))
        else:
            known = self.values
            self.values.update(cell for cell in given if cell in known)
        self._measure(given, at, rows)
        if self.longest > _LONG_CELL and not self.numbers:
            self.texts = self.texts or Lines("")
            for place, cell in zip(at, given, strict=True):
                kind = self.texts.read(cell, rows[place][0])
                if kind.count == 1 and len(self.rows_of) < 4 * _MAX_VALUES:
                    self.rows_of.setdefault(cell, [_example(rows[place])])

    def _measure(self, given: list[str], at: list[int], rows: Sequence[_Cells]) -> None:
        try:
            sizes = [*map(float, given)]
            places = at
            self.integers += sum(size.is_integer() for size in sizes)
        except ValueError:
            ends = (*given[:_TRIED], given[-1])
            is_dated = any(_DATE.match(cell) or TIME.match(cell) for cell in ends)
            if not is_dated and not self.numbers and not any(map(_NUMBER.match, ends)):
                return
            measured = [(_number(cell), place) for cell, place in zip(given, at, strict=True)]
            sizes = [size for size, _ in measured if size is not None]
            places = [place for size, place in measured if size is not None]
            dates = [cell for cell in given if _DATE.match(cell) or TIME.match(cell)]
            if dates and is_dated:
                self.dates = [min([*self.dates[:1], *dates]), max([*self.dates[1:], *dates])]
        if not sizes or math.isnan(sum(sizes)):
            return
        self.numbers += len(sizes)
        self.sum += sum(sizes)
        self.square += sum(size * size for size in sizes)
        if (low := min(sizes)) < self.low:
            self.low = low
            self.low_at, self.low_row = _example(rows[places[sizes.index(low)]])
        if (high := max(sizes)) > self.high:
            self.high = high
            self.high_at, self.high_row = _example(rows[places[sizes.index(high)]])

    @property
    def is_numeric(self) -> bool:
        return self.filled > 0 and self.numbers >= _NUMERIC_SHARE * self.filled

    @property
    def mean(self) -> float:
        return self.sum / self.numbers

    @property
    def deviation(self) -> float:
        return math.sqrt(max(0.0, self.square / self.numbers - self.mean**2))

    @property
    def is_distinct(self) -> bool:
        seen = min(self.filled, _MAX_VALUES)
        return len(self.values) >= _DISTINCT_SHARE * seen


@dataclass(slots=True)
class _Odd:
    """A row, why it differs from the rest, and in which columns."""

    row: Row
    why: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    names: set[str] = field(default_factory=set[str])


class Columns:
    """Reads rows one after another."""

    def __init__(self) -> None:
        self.rows = 0
        self._columns: dict[str, _Column] = {}
        self._batch: list[_Cells] = []
        self._odd: dict[int, _Odd] = {}
        self._first: list[tuple[int, list[str]]] = []

    @property
    def names(self) -> list[str]:
        """Return the names of the columns."""
        self._flush()
        return list(self._columns)

    def add(self, row: Row, number: int) -> None:
        """Read a row."""
        self.add_cells([*row], [*row.values()], number)

    def add_cells(self, names: Sequence[str], cells: Sequence[str], number: int) -> None:
        """Read a row by its names and cells."""
        self.rows += 1
        self._batch.append((number, names, cells))
        if len(self._batch) >= _BATCH_ROWS:
            self._flush()

    def _flush(self) -> None:
        rows, self._batch = self._batch, []
        if not rows:
            return
        if len(self._first) < _FEW_ROWS:
            for number, _, cells in rows[:_FEW_ROWS]:
                self._first.append((number, [cell[:_MAX_CELL] for cell in cells]))
        first = rows[0][1]
        for name in dict.fromkeys(name for _, names, _ in rows for name in names):
            if name not in self._columns and len(self._columns) < _MAX_COLUMNS:
                self._columns[name] = _Column()
        if all(names == first for _, names, _ in rows):
            for name, cells in zip(first, zip(*(row[2] for row in rows), strict=True), strict=True):
                if name in self._columns:
                    self._columns[name].cells = [cell[:_LONGEST_CELL] for cell in cells]
        else:
            given = [dict(zip(names, cells, strict=True)) for _, names, cells in rows]
            for name, column in self._columns.items():
                column.cells = [row.get(name, "")[:_LONGEST_CELL] for row in given]
        for column in self._columns.values():
            if column.cells:
                column.count(rows)

    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield ranges, frequent values, and rows that differ from the rest."""
        self._flush()
        self._odd.clear()
        if self.rows <= _FEW_ROWS:
            yield from (
                Finding(text=", ".join(row), weight=8.0, line=number, kind="row")
                for number, row in self._first
            )
        for place, (name, column) in enumerate(self._columns.items()):
            early = max(0.0, 1.0 - 0.1 * place)
            if not column.filled:
                continue
            if column.is_numeric and not _is_counter(name, column, self.rows):
                yield from self._of_numbers(name, column, say, early)
            elif column.dates and column.dates[0] != column.dates[1]:
                low, high = column.dates
                text = say.say("period", name=name, low=low, high=high)
                yield Finding(text=text, weight=5.0 + early, kind="period")
            elif len(column.values) <= _FEW or _repeats(column):
                yield from self._of_values(name, column, say, early)
            elif column.texts is not None:
                yield from self._of_texts(name, column)
        for number, odd in self._odd.items() if self.rows > _FEW_ROWS else ():
            yield self._of_row(number, odd, say)

    def _of_numbers(
        self, name: str, column: _Column, say: Wording, early: float
    ) -> Iterator[Finding]:
        low, high = (
            _cell(column.low_row, name, column.low),
            _cell(column.high_row, name, column.high),
        )
        if column.low == column.high:
            yield Finding(text=f"{name}: {low}", weight=2.0, kind="range")
            return
        text = say.say("range", name=name, low=low, high=high)
        yield Finding(text=text + self._empty(column, say), weight=3.0 + early, kind="range")
        if self.rows <= 2:
            return
        away = _UNUSUAL * column.deviation / 1.5
        is_high = column.numbers > 5 and column.high - column.mean > away
        is_low = column.numbers > 5 and (
            column.mean - column.low > 2 * away or (column.low < 0 < column.mean)
        )
        told = say.say("highest", name=name, high=high)
        self._note(column.high_at, column.high_row, name, told, 7.0 if is_high else 3.0)
        if is_low:
            told = say.say("lowest", name=name, low=low)
            self._note(column.low_at, column.low_row, name, told, 6.0)

    def _of_values(
        self, name: str, column: _Column, say: Wording, early: float
    ) -> Iterator[Finding]:
        frequent = column.values.most_common()
        if len(frequent) == column.filled and column.filled > _FEW:
            return
        if column.filled <= max(3, 0.02 * self.rows) and self.rows > _FEW:
            # Hardly any row has it, so those that have it are unusual.
            for value, _ in frequent:
                number, row = column.rows_of[value][0]
                self._note(number, row, name, f"{name}: {value}", 7.5)
            return
        if len(frequent) == column.filled and self.rows > _FEW:
            return
        counts = say.counts(frequent, _SHOWN_VALUES)
        text = say.say("values", name=name, counts=counts) + self._empty(column, say)
        is_state = any(signal_of(value) == "failure" for value in column.values)
        is_uneven = frequent[-1][1] <= max(2, 0.02 * column.filled)
        if len(frequent) > 1 or column.filled < 0.9 * self.rows:
            weight = 12.0 if is_state else 9.0 if is_uneven else 5.5
            yield Finding(text=text, weight=weight + early, kind="values")
        else:
            yield Finding(text=f"{name}: {frequent[0][0]}", weight=2.0, kind="values")
        usual = frequent[0][1] >= _USUAL * column.filled
        unusual = [
            value
            for value, count in reversed(frequent)
            if (signal_of(value) == "failure" and count <= 0.1 * column.filled)
            or ((usual or is_state) and count <= max(2, 0.02 * column.filled))
        ]
        for value in unusual[:_MAX_RARE]:
            rows = column.rows_of[value]
            if value == frequent[0][0]:
                continue
            told = say.say("rare", name=name, value=value)
            weight = 8.5 if signal_of(value) == "failure" else 6.5
            if len(rows) <= _TOLD_WHOLE:
                for number, row in rows:
                    self._note(number, row, name, told, weight)
            elif described := "; ".join(self._row(row, name, 1) for _, row in rows):
                text = say.say("row", why=told, row=described)
                yield Finding(text=text, weight=weight, line=rows[0][0], kind="rare")

    def _note(self, number: int, row: Row, name: str, told: str, weight: float) -> None:
        """Note why a row differs from the rest."""
        odd = self._odd.setdefault(number, _Odd(row))
        odd.why.append((weight, told))
        odd.names.add(name)

    def _of_row(self, number: int, odd: _Odd, say: Wording) -> Finding:
        """Return what is unusual in a row, and what else stands in it."""
        why = [told for _, told in sorted(odd.why, key=lambda told: -told[0])[:_MAX_REASONS]]
        weight = max(weight for weight, _ in odd.why)
        rest = [
            value if len(value) <= _MAX_CELL else f"{value[:_MAX_CELL]}…"
            for name, value in sorted(
                odd.row.items(),
                key=lambda cell: (
                    self._rank(self._columns[cell[0]], cell[1]) if cell[0] in self._columns else 9
                ),
            )
            if name in self._columns
            and name not in odd.names
            and value not in _ABSENT
            # What most rows have does not tell them apart.
            and self._columns[name].values[value] < _USUAL * self.rows
        ]
        row: list[str] = []
        for value in rest:
            if len(row) < _KEY_COLUMNS or sum(map(len, row)) + len(value) <= _MAX_ROW:
                row.append(value)
        text = "; ".join(why)
        return Finding(
            text=say.say("row", why=text, row=", ".join(row)) if row else text,
            weight=weight,
            line=number,
            kind="odd",
        )

    def _of_texts(self, name: str, column: _Column) -> Iterator[Finding]:
        assert column.texts is not None
        for finding in column.texts.findings():
            ((number, row), *_) = column.rows_of.get(finding.text, [(finding.line, {})])
            described = self._row(row, name, 1) if row else ""
            yield Finding(
                text=f"{described}: {finding.text}" if described else finding.text,
                weight=_TEXT_WEIGHT * finding.weight,
                line=number,
                count=finding.count,
                kind=signal_of(finding.text),
            )

    def _empty(self, column: _Column, say: Wording) -> str:
        missing = self.rows - column.filled
        return say.say("empty", count=missing) if 0 < missing < 0.9 * self.rows else ""

    def _row(self, row: Row, without: str, most: int = _KEY_COLUMNS) -> str:
        """Return the columns by which a row is known: the first that tell rows apart."""
        telling = [
            (self._rank(self._columns[name], value), len(value), value)
            for name, value in row.items()
            if name in self._columns and name != without and value and len(value) <= _MAX_CELL
            if len(self._columns[name].values) > min(_FEW, self.rows / 3)
        ]
        return ", ".join(value for _, _, value in sorted(telling)[:most])

    @staticmethod
    def _rank(column: _Column, value: str) -> int:
        """Return how well a column names its rows: names first, dates and measures last."""
        if column.dates:
            return 3
        if column.longest > _LONG_CELL * 3:
            return 5
        if _LETTERS.search(value):
            return 0 if column.is_distinct else 2
        return 1 if column.is_distinct and column.integers == column.filled else 4


def _example(row: _Cells) -> tuple[int, Row]:
    number, names, cells = row
    return number, dict(zip(names, cells, strict=True))


def _number(value: str) -> float | None:
    found = _NUMBER.match(value) if value[:1] in "-+$€£¥0123456789" else None
    if found is None:
        return None
    size = float(found[1].replace(",", "")) * _UNITS.get((found[2] or "")[:1], 1)
    return -size if value[0] == "-" else size


def _cell(row: Row, name: str, size: float) -> str:
    """Return a number as its row writes it if it has a unit."""
    cell = row.get(name, "").strip()
    is_round = cell[-1:].isdigit() and float(size).is_integer()
    return told(size) if is_round or not 0 < len(cell) <= _MAX_NUMBER else cell


def _repeats(column: _Column) -> bool:
    return column.filled >= 4 * len(column.values) and len(column.values) <= 50


def _is_counter(name: str, column: _Column, rows: int) -> bool:
    """Return whether a column only numbers or identifies the rows."""
    if column.integers < column.filled or not column.is_distinct or rows < 4:
        return False
    is_named = re.search(
        r"(?:^|[._ ])(?:id|index|no|number|pid|key|#)\.?$|序号|编号|号$", name.casefold()
    )
    return is_named is not None or column.high - column.low == rows - 1
