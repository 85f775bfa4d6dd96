"""The JSON form of values, at the command line and over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, cast

from recollect.domain.hit import Hit
from recollect.domain.record import Record
from recollect.errors import RecollectError

Json = dict[str, Any]
# The attribute of a class that names the properties to include before the fields.
_DERIVED: Final = "DERIVED"


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
        case Hit():
            return _hit(value)
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


def _fields(value: Any) -> Json:
    derived: tuple[str, ...] = getattr(value, _DERIVED, ())
    names = (*derived, *(field.name for field in fields(value)))
    return {name: _form(getattr(value, name)) for name in names}


def _record(record: Record) -> Json:
    """Return a record with the details of its kind beside the other fields."""
    form = _fields(record)
    details = cast("Json | None", form.pop("details"))
    return form if details is None else {**form, **details}


def _hit(hit: Hit) -> Json:
    return {
        "id": hit.id,
        "score": hit.score,
        "span": list(hit.span),
        "passage": hit.passage,
        "record": _form(hit.record),
        "turn": _form(hit.turn),
        "archive": _form(hit.archive),
        "replaced_by": hit.replaced_by,
        "explanation": _form(hit.explanation),
        "followed_by": hit.followed_by,
    }


def _error(error: RecollectError) -> Json:
    return {
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "retryable": error.retryable,
    }
