"""The JSON form of values, at the command line and over HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, Generic, TypeVar, cast

from recollect.domain.record import Record
from recollect.errors import RecollectError

T = TypeVar("T")
Json = dict[str, Any]
# The attribute of a class that names the properties to include before the fields.
_DERIVED: Final = "DERIVED"
# The same of all names, for a class with an order of its own.
_IN_JSON: Final = "IN_JSON"


@dataclass(frozen=True, slots=True, kw_only=True)
class Items(Generic[T]):
    """A list as an object, which can get more members later."""

    items: Sequence[T]


def as_json(value: object) -> Json:
    """Return a value as a JSON object: times in UTC, a list under `items`."""
    form = _form(value)
    return cast("Json", form) if isinstance(form, dict) else {"items": form}


def _form(value: object) -> Any:
    match value:
        case RecollectError():
            return _error(value)
        case Record():
            return _record(value)
        case datetime():
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case StrEnum():
            return value.value
        case Mapping():
            named = cast("Mapping[str, object]", value)
            return {name: _form(inner) for name, inner in named.items()}
        case list() | tuple():
            return [_form(inner) for inner in cast("list[object]", value)]
        case _ if is_dataclass(value):
            return _fields(value)
        case _:
            return value


def json_names(kind: type[Any]) -> tuple[str, ...]:
    """Return the names that a dataclass has in JSON: derived properties, then its fields."""
    # Not those of a class that it extends, which know nothing of its own fields.
    return vars(kind).get(_IN_JSON) or (
        *getattr(kind, _DERIVED, ()),
        *(field.name for field in fields(kind)),
    )


def _fields(value: object) -> Json:
    return {name: _form(getattr(value, name)) for name in json_names(type(value))}


def _record(record: Record) -> Json:
    """Return a record with the details of its kind beside the other fields."""
    form = _fields(record)
    details = cast("Json | None", form.pop("details"))
    return form if details is None else {**form, **details}


def _error(error: RecollectError) -> Json:
    return {
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "retryable": error.retryable,
    }
