"""Every way in which a line of an export can be wrong has a code that names it."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from recollect.domain.fields import new_record
from recollect.domain.record import Version
from recollect.domain.scope import Scope
from recollect.domain.transfer import RecordHistory
from recollect.domain.turn import new_turn
from recollect.errors import InvalidInput
from recollect.lifecycle.export_format import item_line, read_item

Json = dict[str, Any]

_NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
_SCOPE = Scope(user="ann")
_RECORD = RecordHistory(
    versions=(
        Version(
            record=new_record("hello", {}, _SCOPE, _NOW),
            changed_by="ann",
            reason="",
            replaced_at=None,
        ),
    )
)
_TURN = replace(new_turn({"role": "user", "content": "hello"}, _SCOPE, "s", _NOW, None), ordinal=1)
_LINES = {"record": item_line(_RECORD), "turn": item_line(_TURN)}


def test_whole_lines_are_read_as_they_were_written():
    assert read_item(_LINES["record"]) == _RECORD
    assert read_item(_LINES["turn"]) == _TURN


def _changed(line: bytes, change: Callable[[Json], object]) -> bytes:
    form = json.loads(line)
    change(form)
    return json.dumps(form, ensure_ascii=False).encode(errors="surrogatepass") + b"\n"


def _put(*path: str | int, value: Any) -> Callable[[bytes], bytes]:
    def change(form: Any) -> None:
        *outer, last = path
        for step in outer:
            form = form[step]
        form[last] = value

    return lambda line: _changed(line, change)


def _escaped(line: bytes) -> bytes:
    return line.replace(b'"hello"', b'"hel\\ud800lo"')


_V = ("versions", 0)
_DAMAGED: dict[str, tuple[str, str, Callable[[bytes], bytes]]] = {
    "no JSON": ("record", "not_json", lambda line: line[: len(line) // 2] + b"\n"),
    "no object": ("record", "not_json", lambda line: b"[1, 2]\n"),
    "NaN": ("record", "not_json", lambda line: line.replace(b"1.0", b"NaN")),
    "nested without end": ("record", "not_json", lambda line: b"[" * 100_000 + b"\n"),
    "no UTF-8": ("record", "invalid_utf8", lambda line: line.replace(b"hello", b"hell\xe9")),
    "unknown type": ("record", "unknown_type", _put("type", value="dream")),
    "no scope": ("record", "missing_field", lambda it: _changed(it, lambda f: f.pop("scope"))),
    "bad scope": ("record", "bad_scope", _put("scope", "user", value="a/b")),
    "scope without agent": (
        "record",
        "missing_field",
        lambda it: _changed(it, lambda f: f["scope"].pop("agent")),
    ),
    "no versions": ("record", "missing_field", _put("versions", value=[])),
    "versions that are none": ("record", "wrong_type", _put("versions", value={"a": 1})),
    "a version that is none": ("record", "wrong_type", _put("versions", 0, value=7)),
    "foreign id": ("record", "bad_id", _put("id", value="turn_1")),
    "id that is a number": ("record", "wrong_type", _put("id", value=1)),
    "missing field": (
        "record",
        "missing_field",
        lambda it: _changed(it, lambda f: f["versions"][0].pop("reason")),
    ),
    "unknown field": ("record", "unknown_field", _put(*_V, "colour", value="red")),
    "field of another kind": ("record", "unknown_field", _put(*_V, "steps", value=["a"])),
    "unknown kind": ("record", "unknown_value", _put(*_V, "kind", value="dream")),
    "kind that is a list": ("record", "unknown_value", _put(*_V, "kind", value=["semantic"])),
    "unknown status": ("record", "unknown_value", _put(*_V, "status", value="odd")),
    "blank content": ("record", "empty_text", _put(*_V, "content", value=" ")),
    "lone surrogate": ("record", "invalid_unicode", _escaped),
    "tags that are a mapping": ("record", "wrong_type", _put(*_V, "tags", value={"a": 1})),
    "confidence of 2": ("record", "out_of_range", _put(*_V, "confidence", value=2)),
    "a count beyond bounds": ("record", "out_of_range", _put(*_V, "evidence_count", value=2**40)),
    "version 0": ("record", "out_of_range", _put(*_V, "version", value=0)),
    "version true": ("record", "out_of_range", _put(*_V, "version", value=True)),
    "no time": ("record", "bad_time", _put(*_V, "recorded_at", value="yesterday")),
    "time that is a number": ("record", "bad_time", _put(*_V, "recorded_at", value=7)),
    "null time": ("record", "bad_time", _put(*_V, "recorded_at", value=None)),
    "time without zone": ("record", "naive_datetime", _put(*_V, "created_at", value="2026-01-01")),
    "time before the first": (
        "record",
        "bad_time",
        _put(*_V, "created_at", value="0001-01-01T00:00:00+14:00"),
    ),
    "evidence without turn": ("record", "missing_field", _put(*_V, "evidence", value=[{}])),
    "evidence at a fraction": (
        "record",
        "wrong_type",
        _put(*_V, "evidence", value=[{"turn": "turn_1", "start": 0.5, "end": None}]),
    ),
    "replaced by nothing": (
        "record",
        "bad_versions",
        _put(*_V, "replaced_at", value="2026-01-01T00:00:00Z"),
    ),
    "a version twice": (
        "record",
        "bad_versions",
        lambda it: _changed(it, lambda f: f["versions"].append(f["versions"][0])),
    ),
    "unknown role": ("turn", "unknown_role", _put("role", value="god")),
    "ordinal 0": ("turn", "out_of_range", _put("ordinal", value=0)),
    "payload that is a list": ("turn", "wrong_type", _put("payload", value=[])),
    "content that is a list": ("turn", "wrong_type", _put("content", value=["a"])),
    "surrogate in a payload": (
        "turn",
        "invalid_unicode",
        lambda line: line.replace(b'"payload":{}', b'"payload":{"a":"\\ud800"}'),
    ),
}


@pytest.mark.parametrize("what", _DAMAGED)
def test_a_damaged_line_is_refused(what: str):
    kind, code, damage = _DAMAGED[what]
    damaged = damage(_LINES[kind])
    assert damaged != _LINES[kind]
    with pytest.raises(InvalidInput) as refused:
        read_item(damaged)
    assert refused.value.code == code
