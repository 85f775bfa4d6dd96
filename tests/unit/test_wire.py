"""Values of the domain as JSON: one form at the command line and over HTTP, and back again."""

import dataclasses
import types
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import pytest
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter

from recollect.domain.hit import ArchivePassage, Explanation, Hit, Recalled
from recollect.domain.page import Page
from recollect.domain.record import Episode, Kind, Procedure, Record
from recollect.domain.turn import Turn
from recollect.domain.views import Items, as_json
from recollect.server.app import ROUTERS
from recollect.wire import decoded

_NOW = datetime(2026, 11, 2, 9, 0, 0, 120_000, tzinfo=UTC)
_PLAIN: dict[Any, Any] = {
    str: "x",
    int: 1,
    float: 0.5,
    bool: True,
    datetime: _NOW,
    timedelta: timedelta(seconds=2),
    Any: {"a": [1, "b"]},
    object: {"a": [1, "b"]},
    bytes: b"",
}


def sample(kind: Any) -> Any:
    """Return some value of a type."""
    if kind in _PLAIN:
        return _PLAIN[kind]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return arguments[0]
    if origin in (Union, types.UnionType):
        return sample(arguments[0])
    if origin is tuple:
        several = arguments[1:] == (Ellipsis,)
        return tuple(sample(it) for it in (arguments[:1] if several else arguments))
    if origin is not None and issubclass(origin, Mapping):
        return {sample(arguments[0]): sample(arguments[1])}
    if origin is not None and issubclass(origin, Sequence):
        return (sample(arguments[0]),)
    if origin is not None:
        # A page or a list of something.
        return _sample(origin, dict(zip(origin.__parameters__, arguments, strict=True)))
    if issubclass(kind, StrEnum):
        return next(iter(kind))
    return _sample(kind, {})


def _sample(kind: Any, known: Mapping[TypeVar, Any]) -> Any:
    hints = get_type_hints(kind)
    names = [field.name for field in dataclasses.fields(kind) if field.init]
    types_of = {name: _given(hints[name], known) for name in names}
    # A record of the first kind has no details.
    known_values = {"details": None} if kind is Record else {}
    return kind(**{name: sample(it) for name, it in types_of.items()} | known_values)


def _given(kind: Any, known: Mapping[TypeVar, Any]) -> Any:
    parameters = getattr(kind, "__parameters__", ())
    return kind[tuple(known[it] for it in parameters)] if parameters else kind


def _models(*, of: type[Any] | None = None) -> list[Any]:
    """Return the values of the domain that routes answer with, as they are or in lists."""
    models = dict.fromkeys(
        route.response_model
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, APIRoute)
    )
    return [
        model
        for model in models
        if dataclasses.is_dataclass(get_origin(model) or model)
        and (get_origin(model) is Items) == (of is Items)
        and not any(_is_of_http(it) for it in get_args(model))
    ]


def _is_of_http(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


@pytest.mark.parametrize("model", [*_models(), *_models(of=Items)], ids=str)
def test_the_command_line_and_the_server_write_the_same_json(model: Any):
    value = sample(model)
    assert TypeAdapter(model).dump_python(value, mode="json") == as_json(value)


@pytest.mark.parametrize("model", _models(), ids=str)
def test_the_client_reads_what_the_server_writes(model: Any):
    value = sample(model)
    assert decoded(model, TypeAdapter(model).dump_python(value, mode="json")) == value


_DETAILS = {
    Kind.SEMANTIC: None,
    Kind.EPISODIC: Episode(participants=("Ann",), timestamp=_NOW),
    Kind.PROCEDURAL: Procedure(steps=("boil", "pour"), success_rate=0.5, usage_count=2),
}


@pytest.mark.parametrize("kind", list(Kind))
def test_a_record_has_the_details_of_its_kind_beside_its_other_fields(kind: Kind):
    record = dataclasses.replace(sample(Record), kind=kind, details=_DETAILS[kind])
    form = TypeAdapter(Page[Record]).dump_python(Page(items=(record,)), mode="json")
    assert form == as_json(Page(items=(record,)))
    own = {"episodic": ["participants"], "procedural": ["steps"]}.get(kind, [])
    assert [it for it in ("participants", "steps", "details") if it in form["items"][0]] == own
    assert decoded(Page[Record], form) == Page(items=(record,))


def test_details_that_are_missing_are_sent_empty():
    record = dataclasses.replace(sample(Record), kind=Kind.PROCEDURAL, details=None)
    form = TypeAdapter(Record).dump_python(record, mode="json")
    assert (form["trigger"], form["steps"], form["usage_count"]) == ("", [], 0)
    assert decoded(Record, form).details == Procedure()


@pytest.mark.parametrize("item", [Record, Turn, ArchivePassage])
def test_a_hit_names_what_was_found_by_its_kind(item: Any):
    hit = Hit(
        item=sample(item), score=1, span=(0, 1), explanation=sample(Explanation), followed_by="y"
    )
    recalled = Recalled(hits=(hit,))
    form = TypeAdapter(Recalled).dump_python(recalled, mode="json")
    assert form == as_json(recalled)
    named = {it for it in ("record", "turn", "archive") if form["hits"][0][it] is not None}
    assert named == {"record" if item is Record else "turn" if item is Turn else "archive"}
    assert decoded(Recalled, form) == recalled
