"""The JSON form of the domain's values: pydantic over its dataclasses, for server and client.

Pydantic reads most dataclasses as they are. Those whose JSON has another shape declare it here,
so that the domain itself needs no pydantic: a record has the details of its kind beside its other
fields, and hits and some others have derived properties.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, Final, Literal, TypeVar, cast, get_type_hints

from pydantic import GetCoreSchemaHandler, TypeAdapter
from pydantic_core import CoreSchema, core_schema

from recollect.domain.audit import AuditVerdict
from recollect.domain.caches import CacheStats
from recollect.domain.document import Document
from recollect.domain.hit import ArchivePassage, Hit
from recollect.domain.injection import Replay
from recollect.domain.preview import ContextPreview
from recollect.domain.record import Episode, Kind, Procedure, Record, Version
from recollect.domain.summary import Summary
from recollect.domain.turn import Turn
from recollect.domain.views import Json, json_names

T = TypeVar("T")


def decoded(kind: type[T], value: Any) -> T:
    """Return the value of this type that a server sent as JSON."""
    return _adapter(kind).validate_python(value)


def encoded_json(kind: type[T], value: T) -> bytes:
    """Return a value of this type as JSON."""
    return _adapter(kind).dump_json(value)


def decoded_json(kind: type[T], content: bytes) -> T:
    """Return the value of this type that `encoded_json` wrote; raise `ValueError` for others."""
    return _adapter(kind).validate_json(content)


@cache
def _adapter(kind: type[T]) -> TypeAdapter[T]:
    return TypeAdapter(kind)


# --- Schemas of other shapes than the dataclass ---------------------------------------------------


def _declare(
    kind: type[Any],
    to_json: Callable[[Any], Json],
    schema_of_json: Callable[[GetCoreSchemaHandler], CoreSchema],
    from_json: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None,
) -> None:
    """Tell pydantic the JSON shape of a class.

    `to_json` returns the members to send, which have the given schema; `from_json` returns the
    arguments of the class for members that were received.
    """

    def arguments(value: Any) -> Any:
        return from_json(cast("Json", value)) if from_json and isinstance(value, dict) else value

    def schema(source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        own = handler.resolve_ref_schema(handler(source))
        if own["type"] != "dataclass":
            return own  # The class occurs more than once, and this is what was returned before.
        name = own.pop("ref", None)
        to_send = core_schema.plain_serializer_function_ser_schema(
            to_json, return_schema=schema_of_json(handler)
        )
        return core_schema.no_info_before_validator_function(
            arguments, own, ref=name, serialization=to_send
        )

    # The hook that pydantic looks for on every class.
    setattr(kind, "__get_pydantic_core_schema__", schema)  # noqa: B010


def _object_schema(
    types: Mapping[str, Any], handler: GetCoreSchemaHandler, name: str | None = None
) -> CoreSchema:
    members = {
        member: core_schema.typed_dict_field(handler.generate_schema(kind))
        for member, kind in types.items()
    }
    return core_schema.typed_dict_schema(members, ref=name)


# --- Derived properties ---------------------------------------------------------------------------


def _declare_properties(
    kind: type[Any],
    from_json: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None,
) -> None:
    """Let a class have its derived properties in JSON, as `json_names` lists them."""
    names = json_names(kind)

    def type_of(name: str) -> Any:
        derived = getattr(kind, name, None)
        if isinstance(derived, property):
            return get_type_hints(derived.fget)["return"]
        return get_type_hints(kind)[name]

    _declare(
        kind,
        lambda value: {name: getattr(value, name) for name in names},
        lambda handler: _object_schema({name: type_of(name) for name in names}, handler),
        from_json,
    )


def _hit_from_json(form: Mapping[str, Any]) -> Json:
    kinds = {"record": Record, "turn": Turn, "archive": ArchivePassage}
    found = (decoded(kind, form[name]) for name, kind in kinds.items() if form[name] is not None)
    return {**form, "item": next(found)}


for _kind in (AuditVerdict, CacheStats, ContextPreview, Document, Replay, Summary, Version):
    _declare_properties(_kind)
_declare_properties(Hit, _hit_from_json)


# --- Records: the details of a kind beside the other fields ---------------------------------------

_COMMON: Final = tuple(name for name in json_names(Record) if name not in {"kind", "details"})
_DETAILS: Final[Mapping[Kind, type[Episode | Procedure]]] = {
    Kind.EPISODIC: Episode,
    Kind.PROCEDURAL: Procedure,
}


def _record_to_json(record: Record) -> Json:
    form = {name: getattr(record, name) for name in _COMMON}
    form["kind"] = record.kind.value
    if kind := _DETAILS.get(record.kind):
        details = record.details or kind()
        form |= {field.name: getattr(details, field.name) for field in fields(kind)}
    return form


def _record_from_json(form: Mapping[str, Any]) -> Json:
    kind = _DETAILS.get(Kind(form["kind"]))
    return {**form, "details": None if kind is None else decoded(kind, form)}


def _record_schema(handler: GetCoreSchemaHandler) -> CoreSchema:
    types = get_type_hints(Record)
    common = {name: types[name] for name in _COMMON}
    forms = {
        kind.value: _object_schema(
            {**common, "kind": Literal[kind.value], **get_type_hints(_DETAILS.get(kind, object))},
            handler,
            f"{__name__}.{kind.value.title()}Record",
        )
        for kind in Kind
    }
    return core_schema.tagged_union_schema(cast("dict[Any, CoreSchema]", forms), "kind")


_declare(Record, _record_to_json, _record_schema, _record_from_json)
