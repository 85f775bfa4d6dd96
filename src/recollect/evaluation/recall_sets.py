"""Recall sets on disk: `<set>.corpus.jsonl.gz` and `<set>.queries.jsonl.gz`, one item per line."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from recollect.errors import InvalidInput, NotFound

T = TypeVar("T")

_CORPUS: Final = ".corpus.jsonl.gz"
_QUERIES: Final = ".queries.jsonl.gz"
# Its answers are spans of characters, not units.
_NOT_RECALL: Final = frozenset({"chunking"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUnit:
    """A unit that can be found: a turn, a session or a passage."""

    scope: str
    id: str
    text: str
    time: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)

    @property
    def order(self) -> int:
        """Return its position in the history of its scope; only replayed sets have one."""
        return int(self.meta.get("order", 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class SetQuery:
    """A question, the units that answer it, and the position in history where it is asked."""

    id: str
    scope: str
    query: str
    gold: frozenset[str]
    category: str = ""
    time: str | None = None
    before: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallSet:
    """A recall set in the order of its files."""

    name: str
    units: tuple[SetUnit, ...]
    queries: tuple[SetQuery, ...]

    def first(self, queries: int) -> RecallSet:
        """Return a smaller set: the first questions, and only their scopes."""
        chosen = self.queries[:queries]
        asked = {query.scope for query in chosen}
        return RecallSet(
            name=self.name,
            units=tuple(unit for unit in self.units if unit.scope in asked),
            queries=chosen,
        )


def sets_in(folder: Path) -> tuple[str, ...]:
    """Return the names of the recall sets in a folder."""
    names = sorted(path.name.removesuffix(_CORPUS) for path in folder.glob(f"*{_CORPUS}"))
    return tuple(
        name
        for name in names
        if name not in _NOT_RECALL and (folder / f"{name}{_QUERIES}").is_file()
    )


def read_set(folder: Path, name: str) -> RecallSet:
    """Read one set; questions that nothing answers are left out, they measure nothing."""
    if name not in sets_in(folder):
        raise NotFound(
            f"There is no recall set {name!r} in {folder}",
            code="unknown_set",
            hint=f"Found there: {', '.join(sets_in(folder)) or 'none'}.",
        )
    queries = _lines(folder / f"{name}{_QUERIES}", TypeAdapter(SetQuery))
    return RecallSet(
        name=name,
        units=_lines(folder / f"{name}{_CORPUS}", TypeAdapter(SetUnit)),
        queries=tuple(query for query in queries if query.gold),
    )


def _lines(path: Path, shape: TypeAdapter[T]) -> tuple[T, ...]:
    items: list[T] = []
    try:
        with gzip.open(path, "rb") as lines:
            items.extend(shape.validate_json(line) for line in lines)
    except (ValidationError, OSError, EOFError, zlib.error) as problem:
        raise InvalidInput(
            f"{path.name} cannot be read after line {len(items)}: {problem}",
            code="bad_recall_set",
        ) from None
    return tuple(items)


# --- Parsing of the time notations of recall sets, as UTC -----------------------------------------


# A weekday adds nothing to the date, and is written in many ways.
_WEEKDAY: Final = re.compile(r"\s*(?:\([A-Za-z]+\)|周[一二三四五六日天]|星期[一二三四五六日天])")

_MONTH: Final = re.compile(r"\d{4}-\d{2}")
_NOTATIONS: Final = (
    "%I:%M %p on %d %B, %Y",
    "%B-%d-%Y",
    "%Y年%m月%d日 %H:%M",
    "%Y年%m月%d日",
    "%Y/%m/%d %H:%M",
    "%Y-%m",
)


def parse_time(text: str | None, *, at_end: bool = False) -> datetime | None:
    """Return the moment of a set's own notation, or None if there is none.

    A month means its beginning or, optionally, its end.
    """
    if text is None:
        return None
    plain = _WEEKDAY.sub("", text).strip()
    if at_end and _MONTH.fullmatch(plain):
        first = datetime.strptime(plain, "%Y-%m").replace(tzinfo=UTC)
        return (first + timedelta(days=31)).replace(day=1) - timedelta(seconds=1)
    try:
        moment = datetime.fromisoformat(plain)
    except ValueError:
        return _by_notation(plain)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _by_notation(plain: str) -> datetime | None:
    for notation in _NOTATIONS:
        try:
            return datetime.strptime(plain, notation).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None
