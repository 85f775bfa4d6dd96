"""The values in a line of an export: written as JSON, and read with every field checked."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, Final, NoReturn, cast

from recollect.domain.fields import checked_text
from recollect.domain.ids import Prefix, is_id
from recollect.domain.scope import Scope
from recollect.domain.times import aware
from recollect.errors import InvalidInput

MAX_COUNT: Final = 2**31 - 1
_MAX_ID_CHARS: Final = 64
_SCOPE: Final = tuple(field.name for field in fields(Scope))

Json = dict[str, Any]


def to_line(form: Json) -> bytes:
    return _ENCODER.encode(form).encode() + b"\n"


def as_text(value: object) -> str:
    """Return a value as it is written in a line."""
    return _ENCODER.encode(value)


def from_line(line: bytes) -> Json:
    try:
        form = _DECODER.decode(line.decode())
    except UnicodeDecodeError as broken:
        raise InvalidInput(f"Byte {broken.start} is not UTF-8", code="invalid_utf8") from None
    except (ValueError, RecursionError) as problem:
        raise InvalidInput(f"This is not JSON: {problem}", code="not_json") from None
    if not isinstance(form, dict):
        raise InvalidInput("This is not a JSON object", code="not_json")
    return cast("Json", form)


def form_of(value: object) -> Json:
    """Return the fields of a value by name."""
    return {field.name: getattr(value, field.name) for field in fields(cast("Any", value))}


def with_fields(form: object, what: str, names: Iterable[str]) -> Json:
    """Return the form if it is an object with exactly these fields."""
    if not isinstance(form, dict):
        raise InvalidInput(f"{what} is not an object", code="wrong_type")
    form = cast("Json", form)
    expected = set(names)
    if missing := sorted(expected - form.keys()):
        raise InvalidInput(f"{what} lacks {', '.join(missing)}", code="missing_field")
    if unknown := sorted(form.keys() - expected):
        raise InvalidInput(f"{what} has unknown {', '.join(unknown)}", code="unknown_field")
    return form


def id_in(form: Json, *prefixes: Prefix, name: str = "id") -> str:
    ident = checked_text(form[name], name, _MAX_ID_CHARS)
    if not is_id(ident, *prefixes):
        raise InvalidInput(f"{name} {ident!r} is not one of this type", code="bad_id")
    return ident


def scope_in(form: Json) -> Scope:
    return Scope(**with_fields(form["scope"], "scope", _SCOPE))


def count_in(form: Json, name: str, least: int, most: int = MAX_COUNT) -> int:
    value = form[name]
    if type(value) is not int or not least <= value <= most:
        raise InvalidInput(
            f"{name} must be a whole number from {least} to {most}, not {value!r}",
            code="out_of_range",
        )
    return value


def list_in(form: Json, name: str) -> list[object]:
    if not isinstance(form[name], list):
        raise InvalidInput(f"{name} is not a list", code="wrong_type")
    return form[name]


def word_in(form: Json, name: str, words: Iterable[str]) -> str:
    """Return the field if it is one of these words."""
    value, known = form[name], tuple(words)
    if not isinstance(value, str) or value not in known:
        raise InvalidInput(
            f"{name} {value!r} is not one of: {', '.join(known)}", code="unknown_value"
        )
    return value


def time_in(form: Json, name: str) -> datetime:
    moment = optional_time_in(form, name)
    if moment is None:
        raise InvalidInput(f"{name} is null", code="bad_time")
    return moment


def optional_time_in(form: Json, name: str) -> datetime | None:
    value = form[name]
    if value is None or isinstance(value, datetime):
        return value
    try:
        return aware(datetime.fromisoformat(value), name)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"{name} {value!r} is not a time", code="bad_time") from None


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return form_of(value)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


# Created once: creating them costs more than using them.
_ENCODER: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain
)
_DECODER: Final = json.JSONDecoder(parse_constant=_no_number)
