"""JSON and lines of JSON: the shape, its lists as tables, and what tells of errors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, cast

from recollect.language.digest.columns import Columns
from recollect.language.digest.encoded import encoded_kind
from recollect.language.digest.findings import Finding
from recollect.language.digest.lines import signal_of
from recollect.language.digest.observer import Observer, Sample
from recollect.language.digest.wording import Wording

# Longer values are read as lines: parsing them would take many times their size of memory.
MAX_PARSED_CHARS: Final = 20_000_000
_SHOWN_NAMES: Final = 12
_MAX_DEPTH: Final = 6
_MAX_SCALARS: Final = 60
_MAX_LISTS: Final = 4
_MAX_FEW: Final = 3
_MAX_CELL: Final = 200
_IN_ONE: Final = 6
# A list of at most so many items with so few fields is told as it is.
_MAX_PAIRS: Final = 12
_PAIR: Final = 3


def parsed(text: str) -> Any:
    """Return the value that a text consists of, or None."""
    begin = text.lstrip()[:1]
    if begin not in ("{", "[") or len(text) > MAX_PARSED_CHARS:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def findings_of(value: Any, say: Wording) -> Iterator[Finding]:
    """Yield the shape of a value, its fields, and its lists as tables."""
    if isinstance(value, dict):
        names = say.names(_sized(cast("dict[str, Any]", value)), _SHOWN_NAMES)
        yield Finding(text=say.say("object", names=names), weight=12.0, kind="shape")
    yield from _scalars(value, say)
    lists = sorted(_lists(value, "", 0), key=lambda found: -len(found[1]))
    for place, (path, items) in enumerate(lists[:_MAX_LISTS]):
        yield from _of_list(path, items, say, 1.0 - 0.15 * place)


class JsonLines(Observer):
    """Reads a JSON object in each line."""

    def __init__(self) -> None:
        self._columns = Columns()

    @classmethod
    def recognises(cls, sample: Sample) -> bool:
        """Return whether the lines are objects."""
        lines = sample.lines[:20]
        return len(lines) > 1 and all(
            line.lstrip().startswith("{") and line.rstrip().endswith("}") for line in lines
        )

    def read(self, line: str, number: int) -> bool:
        """Read the next object."""
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return False
        if isinstance(value, dict):
            self._columns.add(_flat(cast("dict[str, Any]", value)), number)
        return True

    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield what the objects have in common, and what is unusual."""
        names = say.names(self._columns.names, _SHOWN_NAMES)
        text = say.say("records", rows=self._columns.rows, names=names)
        yield Finding(text=text, weight=14.0, kind="shape")
        yield from self._columns.findings(say)


def _sized(value: Mapping[str, Any]) -> Iterator[str]:
    for name, inner in value.items():
        match inner:
            case list():
                yield f"{name}[{len(cast('list[Any]', inner))}]"
            case dict():
                yield f"{name}{{{len(cast('dict[str, Any]', inner))}}}"
            case _:
                yield name


def _scalars(value: Any, say: Wording) -> Iterator[Finding]:
    """Yield single fields outside of lists, those of one object together; errors first."""
    objects: dict[str, list[tuple[str, Any]]] = {}
    for path, leaf in islice(_leaves(value, "", 0), _MAX_SCALARS):
        if leaf not in (None, ""):
            parent, _, name = path.rpartition(".")
            objects.setdefault(parent, []).append((name, leaf))
    for number, (parent, fields) in enumerate(objects.items()):
        depth = parent.count(".") + 1 if parent else 0
        of_one = 1 if depth == 0 else _IN_ONE
        for place in range(0, len(fields), of_one):
            told = fields[place : place + of_one]
            text = ", ".join(f"{name}: {_cell(leaf)}" for name, leaf in told)
            text = f"{parent}: {text}" if parent else text
            is_error = any(
                signal_of(f"{name}: {_cell(leaf)}") == "failure" and leaf not in (False, 0)
                for name, leaf in told
            )
            # Of many fields of one object the first are told.
            late = 0.5 * depth + 0.05 * (number + place)
            yield Finding(text=text, weight=9.0 if is_error else max(1.5, 5.0 - late), kind="field")


def _leaves(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and depth < _MAX_DEPTH:
        for name, inner in cast("dict[str, Any]", value).items():
            yield from _leaves(inner, f"{path}.{name}" if path else name, depth + 1)
    elif isinstance(value, list):
        items = cast("list[Any]", value)
        if items and len(items) <= 5 and not any(isinstance(item, dict | list) for item in items):
            yield path, ", ".join(map(_cell, items))
        elif path and items and len(items) <= _MAX_FEW:
            for place, item in enumerate(items):
                yield from _leaves(item, path if len(items) == 1 else f"{path}.{place}", depth + 1)
    elif path:
        yield path, value


def _lists(value: Any, path: str, depth: int) -> Iterator[tuple[str, list[Any]]]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        items = cast("list[Any]", value)
        if items:
            yield path, items
    elif isinstance(value, dict):
        inner = cast("dict[str, Any]", value)
        # An object with many objects of one form is a list under names.
        if len(inner) > 3 and all(isinstance(item, dict) for item in inner.values()):
            yield path, [{"key": name, **item} for name, item in inner.items()]
            return
        for name, item in inner.items():
            yield from _lists(item, f"{path}.{name}" if path else name, depth + 1)


def _of_list(path: str, items: list[Any], say: Wording, share: float) -> Iterator[Finding]:
    columns = Columns()
    if pairs := _pairs(items):
        yield Finding(text=f"{path or 'JSON'}: {pairs}", weight=8.0 * share, kind="pairs")
    for place, item in enumerate(items, 1):
        row = _flat(cast("dict[str, Any]", item)) if isinstance(item, dict) else {"": _cell(item)}
        columns.add(row, place)
    names = say.names(filter(None, columns.names), _SHOWN_NAMES)
    text = say.say("items", name=path or "JSON", rows=len(items), names=names)
    if names or len(items) > _MAX_FEW:
        yield Finding(text=text, weight=11.0 * share, kind="shape")
    for finding in columns.findings(say):
        yield Finding(
            text=f"{path}: {finding.text}" if path and share < 1 else finding.text,
            weight=finding.weight * share,
            # The numbers of items are no lines of the text.
            count=finding.count,
            kind=f"{path}.{finding.kind}",
        )


def _pairs(items: list[Any]) -> str:
    """Return a short list of small objects in full; empty if it is longer."""
    if not 1 < len(items) <= _MAX_PAIRS or not all(isinstance(item, dict) for item in items):
        return ""
    rows = [_flat(cast("dict[str, Any]", item)) for item in items]
    told = ", ".join(" ".join(row.values()) for row in rows)
    return told if all(len(row) <= _PAIR for row in rows) and len(told) <= _MAX_CELL else ""


def _flat(value: Mapping[str, Any], path: str = "", depth: int = 0) -> dict[str, str]:
    row: dict[str, str] = {}
    for name, inner in value.items():
        place = f"{path}.{name}" if path else name
        if isinstance(inner, dict) and depth < _MAX_DEPTH:
            row |= _flat(cast("dict[str, Any]", inner), place, depth + 1)
        elif isinstance(inner, list):
            items = cast("list[Any]", inner)
            if 1 < len(items) <= _PAIR and _is_number(items[-1]):
                row |= {f"{place}.{at}": _cell(item) for at, item in enumerate(items)}
            elif len(items) == 1 and isinstance(items[0], dict) and depth < _MAX_DEPTH:
                row |= _flat(cast("dict[str, Any]", items[0]), place, depth + 1)
            elif any(isinstance(item, dict | list) for item in items):
                row[place] = _named(items)
            else:
                row[place] = ", ".join(map(_cell, items[:8]))
        else:
            row[place] = _cell(inner)
    return row


def _named(items: list[Any]) -> str:
    """Return the names of some objects, or how many there are."""
    named = [
        str(cast("dict[str, Any]", item).get(key))
        for item in items[:8]
        if isinstance(item, dict)
        for key in ("name", "title", "id")
        if cast("dict[str, Any]", item).get(key)
    ]
    return ", ".join(named) if named and len(items) <= 8 else str(len(items))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | str) and str(value).replace(".", "", 1).isdigit()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        if len(value) > _MAX_CELL and (encoded := encoded_kind(value)):
            return f"{encoded[0]}, {encoded[1]} bytes"
        return value[:_MAX_CELL]
    return json.dumps(value, ensure_ascii=False)[:_MAX_CELL]
