"""Rows with named columns: ranges, frequent values and what is unusual, in bounded memory."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from recollect.language.digest.findings import Finding
from recollect.language.digest.logs import TIME
from recollect.language.digest.wording import Wording, told
from recollect.language.lexicon import bilingual

_NUMBER: Final = re.compile(
    r"[-+]?[$€£¥]?\s?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s?"
    r"(%|[KMGT]i?B?|ms|s|m|h|d)?$"
)
_DATE: Final = re.compile(r"\d{4}[-/年]\d{1,2}[-/月]\d{1,2}")
_MAX_VALUES: Final = 1_000
_FEW: Final = 12
# The share of rows from which a value is the usual one.
_USUAL: Final = 0.8
_NUMERIC_SHARE: Final = 0.8
_KEY_COLUMNS: Final = 3
_MAX_CELL: Final = 60
# How far from the mean, in deviations, a value is unusual.
_UNUSUAL: Final = 4.0
_MAX_RARE: Final = 6
_MAX_EXAMPLES: Final = 5
_LETTERS: Final = re.compile(r"[^\W\d_]{2}")


class _Column:
    """What is known of one column."""

    __slots__ = (
        "dates",
        "empty",
        "filled",
        "high",
        "high_row",
        "low",
        "mean",
        "numbers",
        "rows_of",
        "spread",
        "values",
    )

    def __init__(self) -> None:
        self.filled = self.empty = self.numbers = 0
        self.values: Counter[str] = Counter()
        # The first rows with each value.
        self.rows_of: dict[str, list[tuple[int, Mapping[str, str]]]] = {}
        self.low, self.high = math.inf, -math.inf
        self.high_row: Mapping[str, str] = {}
        self.mean = self.spread = 0.0
        self.dates: list[str] = []

    def add(self, value: str, number: int, row: Mapping[str, str]) -> None:
        if not value or value in ("-", "null", "None", "NaN", "N/A"):
            self.empty += 1
            return
        self.filled += 1
        if value in self.values or len(self.values) < _MAX_VALUES:
            self.values[value] += 1
            rows = self.rows_of.setdefault(value, [])
            if len(rows) < _MAX_EXAMPLES:
                rows.append((number, row))
        size = _number(value)
        if size is not None:
            self._measure(size, row)
        elif _DATE.match(value) or TIME.match(value):
            self.dates = [min([*self.dates[:1], value]), max([*self.dates[1:], value])]

    def _measure(self, size: float, row: Mapping[str, str]) -> None:
        self.numbers += 1
        change = size - self.mean
        self.mean += change / self.numbers
        self.spread += change * (size - self.mean)
        if size < self.low:
            self.low = size
        if size > self.high:
            self.high, self.high_row = size, row

    @property
    def is_numeric(self) -> bool:
        return self.filled > 0 and self.numbers >= _NUMERIC_SHARE * self.filled

    @property
    def deviation(self) -> float:
        return math.sqrt(self.spread / self.numbers) if self.numbers > 1 else 0.0


class Columns:
    """Reads rows one after another."""

    def __init__(self) -> None:
        self.rows = 0
        self._columns: dict[str, _Column] = {}
        self._alarming: list[tuple[int, Mapping[str, str]]] = []

    @property
    def names(self) -> list[str]:
        """Return the names of the columns."""
        return list(self._columns)

    def add(self, row: Mapping[str, str], number: int) -> None:
        """Read a row."""
        self.rows += 1
        for name, value in row.items():
            column = self._columns.get(name)
            if column is None:
                if len(self._columns) >= 100:
                    continue
                column = self._columns[name] = _Column()
            column.add(value[:200], number, row)

    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield ranges, frequent values, and rows that differ from the rest."""
        alarm = bilingual("digest", "failure", re.IGNORECASE)
        for place, (name, column) in enumerate(self._columns.items()):
            early = max(0.0, 1.0 - 0.1 * place)
            if column.is_numeric and not _is_counter(name, column, self.rows):
                yield from self._of_numbers(name, column, say, early)
            elif column.dates and len(column.dates) == 2 and column.dates[0] != column.dates[1]:
                low, high = column.dates
                text = say.say("period", name=name, low=low, high=high)
                yield Finding(text=text, weight=5.0 + early, kind="period")
            elif len(column.values) <= _FEW or _repeats(column):
                yield from self._of_values(name, column, say, early, alarm)
            else:
                for value, ((number, row), *_) in column.rows_of.items():
                    if len(value) < 400 and alarm.search(value):
                        text = self._row(row, name)
                        yield Finding(
                            text=f"{text}: {value}" if text else value,
                            weight=5.0,
                            line=number,
                            count=column.values[value],
                            kind="alarm",
                        )
            if column.empty and column.empty < self.rows and column.filled:
                text = say.say("empty", name=name, count=column.empty)
                yield Finding(text=text, weight=2.0, kind="empty")

    def _of_numbers(
        self, name: str, column: _Column, say: Wording, early: float
    ) -> Iterator[Finding]:
        if column.low == column.high:
            text = f"{name}: {told(column.low)}"
            yield Finding(text=text, weight=2.0, kind="range")
            return
        text = say.say(
            "range", name=name, low=column.low, high=column.high, mean=round(column.mean, 2)
        )
        yield Finding(text=text, weight=5.0 + early, kind="range")
        row = self._row(column.high_row, name)
        is_unusual = (
            column.numbers > 5 and column.high - column.mean > _UNUSUAL * column.deviation / 1.5
        )
        if row and self.rows > 2:
            text = say.say("extreme", name=name, high=column.high, row=row)
            yield Finding(text=text, weight=6.5 if is_unusual else 4.0, kind="extreme")

    def _of_values(
        self, name: str, column: _Column, say: Wording, early: float, alarm: re.Pattern[str]
    ) -> Iterator[Finding]:
        frequent = column.values.most_common()
        if column.filled <= 1 or (len(frequent) == column.filled and column.filled > _FEW):
            return
        text = say.say("values", name=name, counts=say.counts(frequent, 8))
        is_state = any(alarm.search(value) for value in column.values)
        yield Finding(text=text, weight=(7.0 if is_state else 5.0) + early, kind="values")
        usual = frequent[0][1] >= _USUAL * column.filled
        unusual = [
            value
            for value, count in reversed(frequent)
            if alarm.search(value) or (usual and count <= max(2, 0.02 * column.filled))
        ]
        for value in unusual[:_MAX_RARE]:
            rows = column.rows_of[value]
            number = rows[0][0]
            keys = 1 if len(rows) > 1 else _KEY_COLUMNS
            described = "; ".join(self._row(row, name, keys) for _, row in rows)
            if described and value != frequent[0][0]:
                text = say.say("rare", name=name, value=value, row=described)
                yield Finding(text=text, weight=6.0, line=number, kind="rare")

    def _row(self, row: Mapping[str, str], without: str, most: int = _KEY_COLUMNS) -> str:
        """Return the columns by which a row is known: the first that tell rows apart."""
        telling = [
            name
            for name, column in self._columns.items()
            if name != without
            and row.get(name)
            and len(row[name]) <= _MAX_CELL
            and len(column.values) > min(_FEW, self.rows / 3)
        ]
        # What is named comes before what is counted or dated.
        telling.sort(
            key=lambda name: (not _LETTERS.search(row[name]), self._columns[name].is_numeric)
        )
        return ", ".join(f"{row[name]}" for name in telling[:most])


def _number(value: str) -> float | None:
    found = _NUMBER.match(value) if value[:1] in "-+$€£¥0123456789" else None
    if found is None:
        return None
    size = float(found[1].replace(",", ""))
    return -size if value[0] == "-" else size


def _repeats(column: _Column) -> bool:
    return column.filled >= 4 * len(column.values) and len(column.values) <= 50


def _is_counter(name: str, column: _Column, rows: int) -> bool:
    """Return whether a column only numbers the rows."""
    is_named = name.casefold() in ("id", "index", "no", "no.", "#", "序号", "编号", "pid")
    return len(column.values) >= min(rows, _MAX_VALUES) and (
        is_named or (column.high - column.low == rows - 1 and rows > 3)
    )
