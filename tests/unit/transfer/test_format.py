"""Every way in which a line of an export can be wrong has a code that names it."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from recollect.domain.archive import Archive
from recollect.domain.fields import new_record
from recollect.domain.record import Version
from recollect.domain.relation import Conflict
from recollect.domain.scope import Scope
from recollect.domain.sharing import Proposal
from recollect.domain.transfer import Item, ReadMark, RecordHistory
from recollect.domain.turn import new_turn
from recollect.errors import InvalidInput
from recollect.transfer.archive_format import ContentPart
from recollect.transfer.format import item_line, read_item
from recollect.transfer.json_fields import form_of, to_line

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
_ARCHIVE = Archive(
    id="arc_1",
    scope=_SCOPE,
    session="晨会",
    thread=None,
    tool="search",
    input="{}",
    input_hash=hashlib.sha256(b"{}").hexdigest(),
    query="税率 \x00",
    summary="",
    sources=("a.md", "文档"),
    form="text",
    content_hash="a" * 64,
    chars=5,
    lines=1,
    bytes=9,
    indexed_chars=5,
    created_at=_NOW,
    expires_at=None,
    last_loaded=_NOW,
    loads=2,
)
_CONFLICT = Conflict(
    id="conflict_1",
    scope=_SCOPE,
    first="mem_1",
    second="ep_2",
    reason="两者不能都对",
    created_at=_NOW,
    resolved_at=_NOW,
    resolved_by="ann",
    resolution="keep_first",
)
_MARK = ReadMark(scope=_SCOPE, session="晨会", ordinal=7, turn="turn_7")
_PROPOSAL = Proposal(
    id="prop_1",
    scope=_SCOPE.shared,
    type="convention",
    proposer="rita",
    role="reviewer",
    user="ann",
    status="approved",
    title="",
    content="缩进用四个空格",
    reason="",
    confidence=0.5,
    created_at=_NOW,
    expires_at=_NOW,
    target="mem_1",
    record="mem_1",
    decided_at=_NOW,
    decided_by="boss",
    decision="好",
    body={"tags": ["style"]},
)
_ITEMS: dict[str, Item] = {
    "record": _RECORD,
    "turn": _TURN,
    "archive": _ARCHIVE,
    "conflict": _CONFLICT,
    "watermark": _MARK,
    "proposal": _PROPOSAL,
}
_PART = ContentPart(
    org="local", workspace="default", hash="a" * 64, size=9, part=2, parts=3, data="aGk="
)
_LINES = {
    **{kind: item_line(item) for kind, item in _ITEMS.items()},
    "content": to_line({"type": "content", **form_of(_PART)}),
}


@pytest.mark.parametrize("kind", _ITEMS)
def test_whole_lines_are_read_as_they_were_written(kind: str):
    assert json.loads(_LINES[kind])["type"] == kind
    assert read_item(_LINES[kind]) == _ITEMS[kind]


def test_a_record_longer_than_a_new_one_may_be_is_still_read():
    long = "x" * 300_000
    line = _changed(_LINES["record"], lambda form: form["versions"][0].update(content=long))
    read = read_item(line)
    assert isinstance(read, RecordHistory)
    assert read.versions[0].record.content == long


def test_a_part_of_a_content_is_read_as_it_was_written():
    assert read_item(_LINES["content"]) == _PART


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
    "another input than hashed": ("archive", "bad_hash", _put("input", value="[]")),
    "a hash that is none": ("archive", "bad_hash", _put("content_hash", value="../../etc")),
    "more indexed than there is": ("archive", "out_of_range", _put("indexed_chars", value=6)),
    "more bytes than are kept": ("archive", "out_of_range", _put("bytes", value=2**30)),
    "unknown form": ("archive", "unknown_value", _put("form", value="xml")),
    "sources that are a text": ("archive", "wrong_type", _put("sources", value="a.md")),
    "a summary that is a number": ("archive", "wrong_type", _put("summary", value=1)),
    "surrogate in a summary": (
        "archive",
        "invalid_unicode",
        lambda line: line.replace(b'"summary":""', b'"summary":"\\ud800"'),
    ),
    "archive without tool": (
        "archive",
        "missing_field",
        lambda it: _changed(it, lambda f: f.pop("tool")),
    ),
    "part 4 of 3": ("content", "out_of_range", _put("part", value=4)),
    "a content beyond bounds": ("content", "out_of_range", _put("size", value=2**30)),
    "content of no workspace": ("content", "bad_scope", _put("workspace", value="")),
    "content with a path for a hash": ("content", "bad_hash", _put("hash", value="a/../b")),
    "data that is a list": ("content", "wrong_type", _put("data", value=[])),
    "a conflict of turns": ("conflict", "bad_id", _put("first", value="turn_1")),
    "unknown resolution": ("conflict", "unknown_value", _put("resolution", value="coin")),
    "conflict without time": ("conflict", "bad_time", _put("created_at", value=None)),
    "read up to 0": ("watermark", "out_of_range", _put("ordinal", value=0)),
    "read up to a record": ("watermark", "bad_id", _put("turn", value="mem_1")),
    "unknown proposal status": ("proposal", "unknown_value", _put("status", value="maybe")),
    "a body that is a list": ("proposal", "wrong_type", _put("body", value=[])),
    "a proposal sure beyond 1": ("proposal", "out_of_range", _put("confidence", value=1.5)),
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
