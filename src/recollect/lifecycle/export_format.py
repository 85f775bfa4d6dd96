"""The lines of an export: a header, then one thing a line.

These are records with their versions, turns, archives with their contents before them, then the
conflicts, watermarks and proposals about them. What is derived (units, vectors) is made anew; the
scratch state of sessions is not worth moving; traces of writes and the audit tell what happened
in one database and stay with it: a backup has them.

Every field is named; a line that lacks one or has another is refused, so that nothing is lost
without being noticed. A change of this form needs a new number in FORMAT.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from itertools import pairwise
from typing import Final, cast

from recollect.domain.archive import Archive
from recollect.domain.conflict import Conflict
from recollect.domain.fields import (
    MAX_CONTENT,
    MAX_LABEL,
    MAX_TITLE,
    RecordFields,
    checked_text,
    new_record,
)
from recollect.domain.proposal import Proposal
from recollect.domain.record import Episode, Evidence, Kind, Procedure, Status, Version
from recollect.domain.scope import Scope
from recollect.domain.times import EPOCH
from recollect.domain.transfer import ExportCounts, Item, ReadMark, RecordHistory
from recollect.domain.turn import Turn, new_turn
from recollect.errors import InvalidInput
from recollect.lifecycle.export_archives import ContentPart, read_archive, read_content_part
from recollect.lifecycle.export_attached import (
    proposal_form,
    read_conflict,
    read_mark,
    read_proposal,
)
from recollect.lifecycle.export_values import (
    Json,
    as_text,
    count_in,
    form_of,
    from_line,
    id_in,
    list_in,
    optional_time_in,
    scope_in,
    time_in,
    to_line,
    with_fields,
    word_in,
)

FORMAT: Final = 3
_SIGN: Final = "export"

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
# What files of earlier formats do not have.
_SINCE_3: Final = {"archives": 0, "conflicts": 0, "watermarks": 0, "proposals": 0}
_SINCE_2: Final = {"helped": 0, "rejected": 0}
_CHANGE: Final = ("replaced_at", "changed_by", "reason")
_DETAILS: Final[Mapping[str, tuple[str, ...]]] = {
    Kind.SEMANTIC: (),
    Kind.EPISODIC: tuple(field.name for field in fields(Episode)),
    Kind.PROCEDURAL: tuple(field.name for field in fields(Procedure)),
}
_TURN: Final = tuple(field.name for field in fields(Turn))
_COUNTS: Final = ("records", "versions", "turns", *_SINCE_3)
_EVIDENCE: Final = tuple(field.name for field in fields(Evidence))
_TIMES: Final = frozenset(
    {
        *("created_at", "updated_at", "first_observed", "last_confirmed", "valid_from"),
        *("valid_to", "recorded_at", "expires_at", "last_accessed", "replaced_at", "timestamp"),
    }
)
_LISTS: Final = frozenset({"tags", "evidence", "related", "participants", "artifacts", "steps"})
_TYPES: Final[Mapping[type, str]] = {
    Turn: "turn",
    Archive: "archive",
    Conflict: "conflict",
    ReadMark: "watermark",
    Proposal: "proposal",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first line: what the file is, and how many lines follow unless it was cut off."""

    lines: int | None


def header_line(schema: str, exported_at: datetime, counts: ExportCounts) -> bytes:
    return to_line(
        {
            "recollect": _SIGN,
            "format": FORMAT,
            "schema": schema,
            "exported_at": exported_at,
            "counts": {name: getattr(counts, name) for name in _COUNTS},
        }
    )


def item_line(item: Item) -> bytes:
    if not isinstance(item, RecordHistory):
        form = proposal_form(item) if isinstance(item, Proposal) else form_of(item)
        return to_line({"type": _TYPES[type(item)], **form})
    record = item.current
    versions = [_version_form(version) for version in item.versions]
    return to_line({"type": "record", "id": record.id, "scope": record.scope, "versions": versions})


def read_header(line: bytes) -> Header:
    """What the first line says, or an error when it is not that of an export we can read."""
    try:
        form = from_line(line)
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
    if isinstance(counts, dict):
        counts = {**_SINCE_3, **cast("Json", counts)}
    counted = with_fields(counts, "counts", _COUNTS)
    return Header(lines=sum(count_in(counted, it, 0) for it in _COUNTS if it != "versions"))


def read_item(line: bytes) -> Item | ContentPart:
    """What a line tells of, every field checked."""
    form = from_line(line)
    kind = form.pop("type", None)
    if not isinstance(kind, str) or kind not in _READERS:
        raise InvalidInput(f"type {kind!r} is none of: {', '.join(_READERS)}", code="unknown_type")
    return _READERS[kind](form)


def _version_form(version: Version) -> Json:
    record = version.record
    form: Json = {name: getattr(record, name) for name in (*_KEPT, *_SAID)}
    form.update({name: getattr(record.details, name) for name in _DETAILS[record.kind]})
    form.update({name: getattr(version, name) for name in _CHANGE})
    return form


def _history(form: Json) -> RecordHistory:
    form = with_fields(form, "record", ("id", "scope", "versions"))
    ident = id_in(form, "mem", "ep", "proc")
    scope = scope_in(form)
    versions = tuple(_version(ident, scope, it) for it in list_in(form, "versions"))
    if not versions:
        raise InvalidInput("versions is empty", code="missing_field")
    _require_succession(versions)
    return RecordHistory(versions=versions)


def _version(ident: str, scope: Scope, given: object) -> Version:
    if isinstance(given, dict):
        given = {**_SINCE_2, **cast("Json", given)}
    details = _details_of(given)
    form = {**with_fields(given, "version", (*_KEPT, *_SAID, *details, *_CHANGE))}
    for name in _TIMES & form.keys():
        form[name] = optional_time_in(form, name)
    for name in _LISTS & form.keys():
        list_in(form, name)
    count_in(form, "evidence_count", 0)
    form["evidence"] = [_evidence(it) for it in form["evidence"]]
    said = {name: form[name] for name in (*_SAID, *details)}
    record = new_record(said.pop("content"), cast("RecordFields", said), scope, EPOCH).evolve(
        id=ident,
        version=count_in(form, "version", 1),
        status=Status(word_in(form, "status", Status)),
        recorded_at=time_in(form, "recorded_at"),
        updated_at=time_in(form, "updated_at"),
        access_count=count_in(form, "access_count", 0),
        last_accessed=form["last_accessed"],
        helped=count_in(form, "helped", 0),
        rejected=count_in(form, "rejected", 0),
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
    form = with_fields(form, "turn", _TURN)
    payload = form["payload"]
    if not isinstance(payload, dict):
        raise InvalidInput("payload is not an object", code="wrong_type")
    payload = cast("Json", payload)
    encoded = as_text(payload)
    checked_text(encoded, "payload", len(encoded))
    said: Json = {"content": form["content"], **payload}
    said |= {name: form[name] for name in ("role", "task")}
    said |= {"name": form["speaker"] or None, "at": time_in(form, "at")}
    scope = scope_in(form)
    turn = new_turn(said, scope, form["session"], EPOCH, None)
    return Turn(
        id=id_in(form, "turn"),
        scope=scope,
        session=turn.session,
        ordinal=count_in(form, "ordinal", 1),
        role=turn.role,
        speaker=turn.speaker,
        content=checked_text(form["content"], "content", MAX_CONTENT, blank=True),
        at=turn.at,
        task=turn.task,
        recorded_at=time_in(form, "recorded_at"),
        payload=turn.payload,
    )


def _evidence(given: object) -> Evidence:
    form = with_fields(given, "evidence", _EVIDENCE)
    for name in ("start", "end"):
        if form[name] is not None and type(form[name]) is not int:
            raise InvalidInput(f"evidence {name} is not a whole number", code="wrong_type")
    return Evidence(
        turn=checked_text(form["turn"], "evidence", MAX_TITLE),
        start=form["start"],
        end=form["end"],
    )


_READERS: Final[Mapping[str, Callable[[Json], Item | ContentPart]]] = {
    "record": _history,
    "turn": _turn,
    "archive": read_archive,
    "content": read_content_part,
    "conflict": read_conflict,
    "watermark": read_mark,
    "proposal": read_proposal,
}
