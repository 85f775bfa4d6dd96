"""JSON from the server back into the values of the library, and arguments into JSON."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from recollect.domain.hit import ArchivePassage, Explanation, Hit
from recollect.domain.record import Episode, Kind, Procedure, Record
from recollect.domain.turn import Turn
from recollect.domain.views import as_json

T = TypeVar("T")
_DETAILS: dict[Kind, type[Episode | Procedure]] = {
    Kind.EPISODIC: Episode,
    Kind.PROCEDURAL: Procedure,
}


def decoded(kind: type[T], value: Any) -> T:
    """The value of this type that the server wrote as JSON."""
    return cast("T", _decoded(kind, value))


def plain(value: Any) -> Any:
    """An argument as JSON has it."""
    match value:
        case None | str() | bool() | int() | float():
            return value.value if isinstance(value, StrEnum) else value
        case datetime():
            return value.isoformat()
        case Mapping():
            named = cast("Mapping[str, Any]", value)
            return {name: plain(inner) for name, inner in named.items()}
        case _ if is_dataclass(value):
            return as_json(value)
        case Iterable():
            return [plain(inner) for inner in cast("Iterable[Any]", value)]
        case _:
            return value


def _decoded(kind: Any, value: Any) -> Any:
    if value is None or kind is Any or kind is object:
        return value
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return value
    if origin in (Union, types.UnionType):
        return _decoded(_fitting(arguments, value), value)
    if origin is tuple:
        inner = arguments[0] if arguments else Any
        several = len(arguments) == 2 and arguments[1] is Ellipsis
        kinds = [inner] * len(value) if several else arguments
        return tuple(_decoded(it, one) for it, one in zip(kinds, value, strict=True))
    if origin is not None and issubclass(origin, Mapping):
        return {name: _decoded(arguments[1], one) for name, one in value.items()}
    if origin is not None:
        # A generic value, such as a page: its items have the type that is given.
        return _made(origin, value, {"items": tuple[arguments[0], ...]})
    return _of_class(kind, value)


def _of_class(kind: Any, value: Any) -> Any:
    if kind is Record:
        return _record(value)
    if kind is Hit:
        return _hit(value)
    if kind is datetime:
        return datetime.fromisoformat(value)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return kind(value)
    return _made(kind, value) if is_dataclass(cast("object", kind)) else value


def _made(kind: Any, value: Mapping[str, Any], known: Mapping[str, Any] | None = None) -> Any:
    hints = {**_hints(kind), **(known or {})}
    given = {it.name for it in fields(kind) if it.init} & value.keys()
    return kind(**{name: _decoded(hints[name], value[name]) for name in given})


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _fitting(kinds: tuple[Any, ...], value: Any) -> Any:
    """Which of several types a JSON value is of."""
    possible = [it for it in kinds if it is not type(None)]
    if isinstance(value, Mapping):
        names = cast("Mapping[str, Any]", value).keys()
        classes = [it for it in possible if is_dataclass(it)]
        for it in classes:
            if set(names) == {one.name for one in fields(it)}:
                return it
        return classes[0] if classes else possible[0]
    return possible[0]


def _record(value: Mapping[str, Any]) -> Record:
    details = _DETAILS.get(Kind(value["kind"]))
    record = _made(Record, {"details": None, **value}, {"details": Any})
    return record if details is None else record.evolve(details=_made(details, value))


def _hit(value: Mapping[str, Any]) -> Hit:
    item: Any
    if value["record"] is not None:
        item = _record(value["record"])
    elif value["turn"] is not None:
        item = _made(Turn, value["turn"])
    else:
        item = _made(ArchivePassage, value["archive"])
    first, last = value["span"]
    return Hit(
        item=item,
        score=value["score"],
        span=(first, last),
        explanation=_made(Explanation, value["explanation"]),
        replaced_by=value["replaced_by"],
        followed_by=value["followed_by"],
    )
