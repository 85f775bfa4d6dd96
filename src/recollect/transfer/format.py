"""The export format: a header, then one item per line.

Items are records with their versions, turns, archives and documents preceded by their contents,
then conflicts, links, watermarks, proposals and the items of frameworks. Derived data (units,
vectors, the text of documents) is made anew on import. The scratch state of sessions is not
exported. Traces of writes and the audit log describe one database and stay with it; a backup has
them.

Every field is named. A line that lacks a field or has an unknown one is refused, so that nothing is
lost unnoticed. A change of the format needs a new number in FORMAT.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final, cast, get_args

from recollect.domain.archive import Archive
from recollect.domain.document import Document
from recollect.domain.fields import (
    MAX_CONTENT,
    MAX_LABEL,
    MAX_METADATA,
    MAX_TITLE,
    RecordFields,
    checked_json,
    checked_share,
    checked_text,
    stored_record,
)
from recollect.domain.item import MAX_KEY, MAX_VALUE, StoredItem, checked_namespace
from recollect.domain.record import Episode, Evidence, Kind, Procedure, Status, Version
from recollect.domain.relation import Conflict, Link, Relation, Resolution
from recollect.domain.scope import Scope
from recollect.domain.sharing import PROPOSAL_STATUSES, Proposal, ProposalStatus
from recollect.domain.times import EPOCH
from recollect.domain.transfer import ExportCounts, Item, ReadMark, RecordHistory
from recollect.domain.turn import Act, Turn, new_turn
from recollect.errors import InvalidInput
from recollect.transfer.archive_format import (
    ContentPart,
    document_form,
    read_archive,
    read_content_part,
    read_document,
)
from recollect.transfer.json_fields import (
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

_CONFLICT: Final = tuple(field.name for field in fields(Conflict))
_LINK: Final = tuple(field.name for field in fields(Link))
# A line already has a field `type`.
_TYPE: Final = "shared_type"
_NOT_OF_PROPOSAL: Final = frozenset({"type", "nearest"})
_PROPOSAL: Final = (
    _TYPE,
    *(field.name for field in fields(Proposal) if field.name not in _NOT_OF_PROPOSAL),
)
_READ_MARK: Final = tuple(field.name for field in fields(ReadMark))
_RESOLUTIONS: Final[tuple[str, ...]] = get_args(Resolution)
_RELATIONS: Final[tuple[str, ...]] = get_args(Relation)
# Its position and its vectors are created on import.
_ITEM: Final = (
    *("id", "scope", "namespace", "key", "value"),
    *("created_at", "updated_at", "expires_at", "ttl", "texts"),
)
FORMAT: Final = 6
_SIGN: Final = "export"
# The fields of a record that a caller may set, besides those of its kind.
_CALLER_FIELDS: Final = (
    *(
        "kind",
        "category",
        "facet",
        "about",
        "title",
        "content",
        "description",
        "tags",
        "confidence",
        "importance",
    ),
    *("evidence_count", "evidence", "source", "related", "session", "task"),
    *("created_at", "first_observed", "last_confirmed", "valid_from", "valid_to", "expires_at"),
    *("tier", "metadata"),
)
# The fields of a record that only Recollect sets, and those of a version.
_SYSTEM_FIELDS: Final = (
    *("version", "status", "recorded_at", "updated_at", "access_count", "last_accessed"),
    *("helped", "rejected", "facet_fixed"),
)
# Defaults for fields that earlier formats do not have.
_COUNTS_SINCE_4: Final = {"links": 0}
_COUNTS_SINCE_5: Final = {"documents": 0, "items": 0}
_SINCE_3: Final = {"archives": 0, "conflicts": 0, "watermarks": 0, "proposals": 0}
_TURN_SINCE_4: Final = {"act": None}
_SINCE_2: Final = {"helped": 0, "rejected": 0}
_SINCE_6: Final = {"facet": None, "about": "", "facet_fixed": False}
_CHANGE: Final = ("replaced_at", "changed_by", "reason")
_DETAILS: Final[Mapping[str, tuple[str, ...]]] = {
    Kind.SEMANTIC: (),
    Kind.EPISODIC: tuple(field.name for field in fields(Episode)),
    Kind.PROCEDURAL: tuple(field.name for field in fields(Procedure)),
}
# Whether it waits to be stored says something of a moment, not of the turn.
_TURN: Final = tuple(field.name for field in fields(Turn) if field.name != "spooled")
_COUNTS: Final = ("records", "versions", "turns", *_SINCE_3, *_COUNTS_SINCE_4, *_COUNTS_SINCE_5)
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
    Document: "document",
    Conflict: "conflict",
    Link: "link",
    ReadMark: "watermark",
    Proposal: "proposal",
    StoredItem: "item",
}


def read_conflict(given: Json) -> Conflict:
    form = with_fields(given, "conflict", _CONFLICT)
    resolution = form["resolution"]
    if resolution is not None:
        resolution = cast("Resolution", word_in(form, "resolution", _RESOLUTIONS))
    return Conflict(
        id=id_in(form, "conflict"),
        scope=scope_in(form),
        first=id_in(form, "mem", "ep", "proc", name="first"),
        second=id_in(form, "mem", "ep", "proc", name="second"),
        reason=_text(form, "reason"),
        created_at=time_in(form, "created_at"),
        resolved_at=optional_time_in(form, "resolved_at"),
        resolved_by=_optional_label(form, "resolved_by"),
        resolution=resolution,
    )


def read_link(given: Json) -> Link:
    form = with_fields(given, "link", _LINK)
    return Link(
        scope=scope_in(form),
        newer=id_in(form, "mem", "ep", "proc", "turn", name="newer"),
        older=id_in(form, "mem", "ep", "proc", "turn", name="older"),
        relation=cast("Relation", word_in(form, "relation", _RELATIONS)),
        probability=checked_share(form["probability"], "probability"),
        reason=_text(form, "reason"),
        decided_by=_label(form, "decided_by"),
        at=time_in(form, "at"),
    )


def read_mark(given: Json) -> ReadMark:
    form = with_fields(given, "watermark", _READ_MARK)
    return ReadMark(
        scope=scope_in(form),
        session=_label(form, "session"),
        ordinal=count_in(form, "ordinal", 1),
        turn=id_in(form, "turn", name="turn"),
    )


def proposal_form(proposal: Proposal) -> Json:
    form = form_of(proposal)
    del form["nearest"]
    return {_TYPE: form.pop("type"), **form}


def read_proposal(given: Json) -> Proposal:
    form = with_fields(given, "proposal", _PROPOSAL)
    body = form["body"]
    if not isinstance(body, dict):
        raise InvalidInput("body is not an object", code="wrong_type")
    return Proposal(
        id=id_in(form, "prop"),
        scope=scope_in(form),
        type=_label(form, _TYPE),
        proposer=_label(form, "proposer"),
        role=_label(form, "role"),
        user=_optional_label(form, "user"),
        status=cast("ProposalStatus", word_in(form, "status", PROPOSAL_STATUSES)),
        title=checked_text(form["title"], "title", MAX_TITLE, blank=True),
        content=checked_text(form["content"], "content", MAX_CONTENT),
        reason=_text(form, "reason"),
        confidence=checked_share(form["confidence"], "confidence"),
        created_at=time_in(form, "created_at"),
        expires_at=optional_time_in(form, "expires_at"),
        target=_optional_record(form, "target"),
        record=_optional_record(form, "record"),
        decided_at=optional_time_in(form, "decided_at"),
        decided_by=_optional_label(form, "decided_by"),
        decision=_text(form, "decision"),
        body=checked_json(cast("Json", body), "body", MAX_METADATA),
    )


def item_form(item: StoredItem) -> Json:
    """Return the fields of an item for a line; its vectors are created on import."""
    form = form_of(replace(item, ttl=None))
    form["ttl"] = None if item.ttl is None else item.ttl.total_seconds()
    return {name: form[name] for name in _ITEM}


def read_stored_item(given: Json) -> StoredItem:
    """Return the item of a line."""
    form = with_fields(given, "item", _ITEM)
    value, ttl = form["value"], form["ttl"]
    if not isinstance(value, dict):
        raise InvalidInput("value is not an object", code="wrong_type")
    if ttl is not None and (isinstance(ttl, bool) or not isinstance(ttl, int | float)):
        raise InvalidInput("ttl is not a number of seconds", code="wrong_type")
    return StoredItem(
        id=id_in(form, "item"),
        scope=scope_in(form),
        namespace=checked_namespace(cast("list[str]", list_in(form, "namespace"))),
        key=checked_text(form["key"], "key", MAX_KEY),
        value=checked_json(cast("Json", value), "value", MAX_VALUE),
        created_at=time_in(form, "created_at"),
        updated_at=time_in(form, "updated_at"),
        expires_at=optional_time_in(form, "expires_at"),
        ttl=None if ttl is None else timedelta(seconds=ttl),
        texts=tuple(checked_text(text, "texts", MAX_CONTENT) for text in list_in(form, "texts")),
    )


def _text(form: Json, name: str) -> str:
    return checked_text(form[name], name, MAX_CONTENT, blank=True)


def _label(form: Json, name: str) -> str:
    return checked_text(form[name], name, MAX_LABEL)


def _optional_label(form: Json, name: str) -> str | None:
    return None if form[name] is None else checked_text(form[name], name, MAX_LABEL, blank=True)


def _optional_record(form: Json, name: str) -> str | None:
    return None if form[name] is None else id_in(form, "mem", "ep", "proc", name=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first line: what the file is and how many lines follow."""

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
        form = _form(item)
        return to_line({"type": _TYPES[type(item)], **form})
    record = item.current
    versions = [_version_form(version) for version in item.versions]
    return to_line({"type": "record", "id": record.id, "scope": record.scope, "versions": versions})


def _form(item: object) -> Json:
    match item:
        case Proposal():
            return proposal_form(item)
        case Document():
            return document_form(item)
        case StoredItem():
            return item_form(item)
        case _:
            form = form_of(item)
            form.pop("spooled", None)
            return form


def read_header(line: bytes) -> Header:
    """Parse the first line; raise an error if it is not an export that can be read."""
    try:
        form = from_line(line)
    except InvalidInput:
        form = {}
    number = form.get("format")
    if form.get("recollect") != _SIGN or not isinstance(number, int):
        raise InvalidInput(
            "The first line is not the header of a Recollect export; nothing was changed",
            code="not_an_export",
            hint="Give a file made by `recollect export`; one that is compressed ends with .gz. "
            "What another memory exported needs its name: `--from mem0`.",
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
        counts = {**_SINCE_3, **_COUNTS_SINCE_4, **_COUNTS_SINCE_5, **cast("Json", counts)}
    counted = with_fields(counts, "counts", _COUNTS)
    return Header(lines=sum(count_in(counted, name, 0) for name in _COUNTS if name != "versions"))


def read_item(line: bytes) -> Item | ContentPart:
    """Parse a line and check every field."""
    form = from_line(line)
    kind = form.pop("type", None)
    if not isinstance(kind, str) or kind not in _READERS:
        raise InvalidInput(
            f"type {kind!r} is not one of: {', '.join(_READERS)}", code="unknown_type"
        )
    return _READERS[kind](form)


def _version_form(version: Version) -> Json:
    record = version.record
    form: Json = {name: getattr(record, name) for name in (*_SYSTEM_FIELDS, *_CALLER_FIELDS)}
    form.update({name: getattr(record.details, name) for name in _DETAILS[record.kind]})
    form.update({name: getattr(version, name) for name in _CHANGE})
    return form


def _history(form: Json) -> RecordHistory:
    form = with_fields(form, "record", ("id", "scope", "versions"))
    ident = id_in(form, "mem", "ep", "proc")
    scope = scope_in(form)
    versions = tuple(_version(ident, scope, version) for version in list_in(form, "versions"))
    if not versions:
        raise InvalidInput("versions is empty", code="missing_field")
    _require_succession(versions)
    return RecordHistory(versions=versions)


def _version(ident: str, scope: Scope, given: object) -> Version:
    if isinstance(given, dict):
        given = {**_SINCE_2, **_SINCE_6, **cast("Json", given)}
    details = _details_of(given)
    form = {**with_fields(given, "version", (*_SYSTEM_FIELDS, *_CALLER_FIELDS, *details, *_CHANGE))}
    for name in _TIMES & form.keys():
        form[name] = optional_time_in(form, name)
    for name in _LISTS & form.keys():
        list_in(form, name)
    count_in(form, "evidence_count", 0)
    form["evidence"] = [_evidence(evidence) for evidence in form["evidence"]]
    said = {name: form[name] for name in (*_CALLER_FIELDS, *details)}
    record = stored_record(said.pop("content"), cast("RecordFields", said), scope, EPOCH).evolve(
        id=ident,
        version=count_in(form, "version", 1),
        status=Status(word_in(form, "status", Status)),
        recorded_at=time_in(form, "recorded_at"),
        updated_at=time_in(form, "updated_at"),
        access_count=count_in(form, "access_count", 0),
        last_accessed=form["last_accessed"],
        helped=count_in(form, "helped", 0),
        rejected=count_in(form, "rejected", 0),
        facet_fixed=form["facet_fixed"] is True,
    )
    return Version(
        record=record,
        changed_by=checked_text(form["changed_by"], "changed_by", MAX_LABEL, blank=True),
        reason=checked_text(form["reason"], "reason", MAX_CONTENT, blank=True),
        replaced_at=form["replaced_at"],
    )


def _details_of(given: object) -> tuple[str, ...]:
    """Return the fields that the kind of a version adds."""
    kind = cast("Json", given).get("kind") if isinstance(given, dict) else None
    return _DETAILS.get(kind, ()) if isinstance(kind, str) else ()


def _require_succession(versions: tuple[Version, ...]) -> None:
    """Raise an error unless each version replaces the previous one when it was recorded."""
    for before, after in pairwise(versions):
        follows = (
            after.number == before.number + 1
            and after.record.kind is before.record.kind
            and before.replaced_at == after.record.recorded_at
            and before.record.recorded_at < after.record.recorded_at
        )
        if not follows:
            raise InvalidInput(
                f"version {after.number} does not follow version {before.number}",
                code="bad_versions",
            )
    if versions[-1].replaced_at is not None:
        raise InvalidInput(
            "the last version has a time of replacement but no successor", code="bad_versions"
        )


def _turn(form: Json) -> Turn:
    form = with_fields({**_TURN_SINCE_4, **form}, "turn", _TURN)
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
        act=None if form["act"] is None else cast("Act", word_in(form, "act", get_args(Act))),
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
    "document": read_document,
    "conflict": read_conflict,
    "link": read_link,
    "watermark": read_mark,
    "proposal": read_proposal,
    "item": read_stored_item,
}
