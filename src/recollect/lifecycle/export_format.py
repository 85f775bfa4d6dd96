"""The lines of an export: a header, then one record with its versions or one turn a line.

Every field is named; a line that lacks one or has another is refused, so that nothing is lost
without being noticed. A change of this form needs a new number in FORMAT.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Final, NoReturn, cast

from recollect.domain.fields import (
    MAX_CONTENT,
    MAX_LABEL,
    MAX_TITLE,
    RecordFields,
    checked_text,
    new_record,
)
from recollect.domain.ids import Prefix, is_id
from recollect.domain.record import Episode, Evidence, Kind, Procedure, Status, Version
from recollect.domain.scope import Scope
from recollect.domain.times import EPOCH, aware
from recollect.domain.transfer import ExportCounts, Item, RecordHistory
from recollect.domain.turn import Turn, new_turn
from recollect.errors import InvalidInput

FORMAT: Final = 2
_SIGN: Final = "export"
_MAX_ID: Final = 64
_MAX_COUNT: Final = 2**31 - 1

Json = dict[str, Any]

# What a caller may say about a record, beside what its kind adds.
_SAID: Final = (
    *("kind", "category", "title", "content", "description", "tags", "confidence", "importance"),
    *("evidence_count", "evidence", "source", "related", "session", "task"),
    *("created_at", "first_observed", "last_confirmed", "valid_from", "valid_to", "expires_at"),
    *("tier", "metadata"),
)
# What only Recollect itself says about a record, and about a version of it.
_KEPT: Final = (
    *("version", "status", "recorded_at", "updated_at", "access_count", "last_accessed"),
    *("helped", "rejected"),
)
# What files of format 1 do not have.
_SINCE_2: Final = {"helped": 0, "rejected": 0}
_CHANGE: Final = ("replaced_at", "changed_by", "reason")
_DETAILS: Final[Mapping[str, tuple[str, ...]]] = {
    Kind.SEMANTIC: (),
    Kind.EPISODIC: tuple(field.name for field in fields(Episode)),
    Kind.PROCEDURAL: tuple(field.name for field in fields(Procedure)),
}
_TURN: Final = tuple(field.name for field in fields(Turn))
_SCOPE: Final = tuple(field.name for field in fields(Scope))
_EVIDENCE: Final = tuple(field.name for field in fields(Evidence))
_TIMES: Final = frozenset(
    {
        *("created_at", "updated_at", "first_observed", "last_confirmed", "valid_from"),
        *("valid_to", "recorded_at", "expires_at", "last_accessed", "replaced_at", "timestamp"),
    }
)
_LISTS: Final = frozenset({"tags", "evidence", "related", "participants", "artifacts", "steps"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first line: what the file is, and how many lines follow unless it was cut off."""

    lines: int | None


def header_line(schema: str, exported_at: datetime, counts: ExportCounts) -> bytes:
    return _line(
        {
            "recollect": _SIGN,
            "format": FORMAT,
            "schema": schema,
            "exported_at": exported_at,
            "counts": counts,
        }
    )


def item_line(item: Item) -> bytes:
    if isinstance(item, Turn):
        return _line({"type": "turn", **{name: getattr(item, name) for name in _TURN}})
    record = item.current
    versions = [_version_form(version) for version in item.versions]
    return _line({"type": "record", "id": record.id, "scope": record.scope, "versions": versions})


def read_header(line: bytes) -> Header:
    """What the first line says, or an error when it is not that of an export we can read."""
    try:
        form = _object(line)
    except InvalidInput:
        form = {}
    number = form.get("format")
    if form.get("recollect") != _SIGN or not isinstance(number, int):
        raise InvalidInput(
            "The first line is not the header of a Recollect export; nothing was changed",
            code="not_an_export",
            hint="Give a file made by `recollect export`; one that is compressed ends with .gz.",
        )
    if not 1 <= number <= FORMAT:
        raise InvalidInput(
            f"The file has format {number}; this version reads formats up to {FORMAT}. "
            "Nothing was changed",
            code="format_newer",
            hint="Upgrade Recollect, then import it.",
        )
    counts = form.get("counts")
    if counts is None:
        return Header(lines=None)
    counted = _fields(counts, "counts", tuple(field.name for field in fields(ExportCounts)))
    return Header(lines=_count(counted, "records", 0) + _count(counted, "turns", 0))


def read_item(line: bytes) -> Item:
    """The record or turn that a line tells of, every field checked."""
    form = _object(line)
    kind = form.pop("type", None)
    if kind == "record":
        return _history(form)
    if kind == "turn":
        return _turn(form)
    raise InvalidInput(f"type {kind!r} is neither record nor turn", code="unknown_type")


def _version_form(version: Version) -> Json:
    record = version.record
    form: Json = {name: getattr(record, name) for name in (*_KEPT, *_SAID)}
    form.update({name: getattr(record.details, name) for name in _DETAILS[record.kind]})
    form.update({name: getattr(version, name) for name in _CHANGE})
    return form


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return {field.name: getattr(value, field.name) for field in fields(cast("Any", value))}


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


# Made once: making them costs more than using them.
_ENCODER: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain
)
_DECODER: Final = json.JSONDecoder(parse_constant=_no_number)


def _line(form: Json) -> bytes:
    return _ENCODER.encode(form).encode() + b"\n"


def _object(line: bytes) -> Json:
    try:
        form = _DECODER.decode(line.decode())
    except UnicodeDecodeError as broken:
        raise InvalidInput(f"Byte {broken.start} is not UTF-8", code="invalid_utf8") from None
    except (ValueError, RecursionError) as problem:
        raise InvalidInput(f"This is not JSON: {problem}", code="not_json") from None
    if not isinstance(form, dict):
        raise InvalidInput("This is not a JSON object", code="not_json")
    return cast("Json", form)


def _fields(form: object, what: str, names: Iterable[str]) -> Json:
    """The form itself when it is an object with exactly these fields."""
    if not isinstance(form, dict):
        raise InvalidInput(f"{what} is not an object", code="wrong_type")
    form = cast("Json", form)
    expected = set(names)
    if missing := sorted(expected - form.keys()):
        raise InvalidInput(f"{what} lacks {', '.join(missing)}", code="missing_field")
    if unknown := sorted(form.keys() - expected):
        raise InvalidInput(f"{what} has unknown {', '.join(unknown)}", code="unknown_field")
    return form


def _history(form: Json) -> RecordHistory:
    form = _fields(form, "record", ("id", "scope", "versions"))
    ident = _id(form, "mem", "ep", "proc")
    scope = Scope(**_fields(form["scope"], "scope", _SCOPE))
    versions = tuple(_version(ident, scope, it) for it in _list(form, "versions"))
    if not versions:
        raise InvalidInput("versions is empty", code="missing_field")
    _require_succession(versions)
    return RecordHistory(versions=versions)


def _version(ident: str, scope: Scope, given: object) -> Version:
    if isinstance(given, dict):
        given = {**_SINCE_2, **cast("Json", given)}
    details = _details_of(given)
    form = {**_fields(given, "version", (*_KEPT, *_SAID, *details, *_CHANGE))}
    for name in _TIMES & form.keys():
        form[name] = _moment(form, name)
    for name in _LISTS & form.keys():
        _list(form, name)
    _count(form, "evidence_count", 0)
    form["evidence"] = [_evidence(it) for it in form["evidence"]]
    said = {name: form[name] for name in (*_SAID, *details)}
    record = new_record(said.pop("content"), cast("RecordFields", said), scope, EPOCH).evolve(
        id=ident,
        version=_count(form, "version", 1),
        status=_status(form["status"]),
        recorded_at=_present(form, "recorded_at"),
        updated_at=_present(form, "updated_at"),
        access_count=_count(form, "access_count", 0),
        last_accessed=form["last_accessed"],
        helped=_count(form, "helped", 0),
        rejected=_count(form, "rejected", 0),
    )
    return Version(
        record=record,
        changed_by=checked_text(form["changed_by"], "changed_by", MAX_LABEL, blank=True),
        reason=checked_text(form["reason"], "reason", MAX_CONTENT, blank=True),
        replaced_at=form["replaced_at"],
    )


def _details_of(given: object) -> tuple[str, ...]:
    """The fields that the version's kind adds, if it has one."""
    kind = cast("Json", given).get("kind") if isinstance(given, dict) else None
    return _DETAILS.get(kind, ()) if isinstance(kind, str) else ()


def _require_succession(versions: tuple[Version, ...]) -> None:
    """Each version takes over from the one before at the moment it was recorded."""
    for before, after in pairwise(versions):
        follows = (
            after.number == before.number + 1
            and after.record.kind is before.record.kind
            and before.replaced_at == after.record.recorded_at
            and before.record.recorded_at < after.record.recorded_at
        )
        if not follows:
            raise InvalidInput(
                f"version {after.number} does not follow on version {before.number}",
                code="bad_versions",
            )
    if versions[-1].replaced_at is not None:
        raise InvalidInput("the last version was replaced by none", code="bad_versions")


def _turn(form: Json) -> Turn:
    form = _fields(form, "turn", _TURN)
    payload = form["payload"]
    if not isinstance(payload, dict):
        raise InvalidInput("payload is not an object", code="wrong_type")
    encoded = _ENCODER.encode(payload)
    checked_text(encoded, "payload", len(encoded))
    said: Json = {"content": form["content"], **cast("Json", payload)}
    said |= {name: form[name] for name in ("role", "task")}
    said |= {"name": form["speaker"] or None, "at": _present(form, "at")}
    scope = Scope(**_fields(form["scope"], "scope", _SCOPE))
    turn = new_turn(said, scope, form["session"], EPOCH, None)
    return Turn(
        id=_id(form, "turn"),
        scope=scope,
        session=turn.session,
        ordinal=_count(form, "ordinal", 1),
        role=turn.role,
        speaker=turn.speaker,
        content=checked_text(form["content"], "content", MAX_CONTENT, blank=True),
        at=turn.at,
        task=turn.task,
        recorded_at=_present(form, "recorded_at"),
        payload=turn.payload,
    )


def _id(form: Json, *prefixes: Prefix) -> str:
    ident = checked_text(form["id"], "id", _MAX_ID)
    if not is_id(ident, *prefixes):
        raise InvalidInput(f"id {ident!r} is not one of this type", code="bad_id")
    return ident


def _evidence(given: object) -> Evidence:
    form = _fields(given, "evidence", _EVIDENCE)
    for name in ("start", "end"):
        if form[name] is not None and type(form[name]) is not int:
            raise InvalidInput(f"evidence {name} is not a whole number", code="wrong_type")
    return Evidence(
        turn=checked_text(form["turn"], "evidence", MAX_TITLE),
        start=form["start"],
        end=form["end"],
    )


def _status(value: object) -> Status:
    try:
        return Status(cast("str", value))
    except ValueError:
        raise InvalidInput(
            f"status {value!r} is none of: {', '.join(Status)}", code="unknown_value"
        ) from None


def _count(form: Json, name: str, least: int) -> int:
    value = form[name]
    if type(value) is not int or not least <= value <= _MAX_COUNT:
        raise InvalidInput(
            f"{name} must be a whole number from {least} to {_MAX_COUNT}, not {value!r}",
            code="out_of_range",
        )
    return value


def _list(form: Json, name: str) -> list[object]:
    if not isinstance(form[name], list):
        raise InvalidInput(f"{name} is not a list", code="wrong_type")
    return form[name]


def _present(form: Json, name: str) -> datetime:
    moment = _moment(form, name)
    if moment is None:
        raise InvalidInput(f"{name} is null", code="bad_time")
    return moment


def _moment(form: Json, name: str) -> datetime | None:
    value = form[name]
    if value is None or isinstance(value, datetime):
        return value
    try:
        return aware(datetime.fromisoformat(value), name)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"{name} {value!r} is not a time", code="bad_time") from None
