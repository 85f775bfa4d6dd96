"""The fields of a record that a caller may set, and the checks that make a `Record` of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, TypedDict, TypeVar, cast

from recollect.domain.copies import copy_with
from recollect.domain.facets import checked_about, checked_facet
from recollect.domain.ids import Prefix, new_id
from recollect.domain.record import Episode, Evidence, Kind, Procedure, Record, Status, Tier
from recollect.domain.scope import Scope
from recollect.domain.times import aware
from recollect.errors import InvalidInput

MAX_CONTENT: Final = 1_000_000
# A record is a statement, not a document: saving one takes time in proportion to its length.
MAX_RECORD_CONTENT: Final = 100_000
MAX_TITLE: Final = 255
MAX_DESCRIPTION: Final = 500
MAX_LABEL: Final = 100
MAX_ITEMS: Final = 1_000
MAX_METADATA: Final = 100_000
MAX_REASON: Final = 1_000
MAX_COUNT: Final = 1_000_000_000
# Far deeper than anybody nests by hand, far below Python's recursion limit.
_MAX_DEPTH: Final = 32

T = TypeVar("T")


class RecordFields(TypedDict, total=False):
    """The fields of a record that a caller may set. `name` is an alias of `title`."""

    kind: Kind | str
    category: str
    facet: str | None
    about: str
    title: str
    name: str
    description: str
    tags: Iterable[str]
    confidence: float
    importance: float
    evidence_count: int
    evidence: Iterable[Evidence]
    source: str
    related: Iterable[str]
    session: str | None
    task: str | None
    created_at: datetime
    first_observed: datetime
    last_confirmed: datetime
    valid_from: datetime | None
    valid_to: datetime | None
    expires_at: datetime | None
    tier: Tier | str
    metadata: Mapping[str, Any]
    participants: Iterable[str]
    outcome: str
    artifacts: Iterable[str]
    timestamp: datetime | None
    trigger: str
    steps: Iterable[str]
    success_rate: float | None
    usage_count: int


class Draft(RecordFields, total=False):
    """A new record as a mapping, for saving many at once."""

    content: str


_DETAILS: Final[Mapping[Kind, frozenset[str]]] = {
    Kind.SEMANTIC: frozenset(),
    Kind.EPISODIC: frozenset({"participants", "outcome", "artifacts", "timestamp"}),
    Kind.PROCEDURAL: frozenset({"trigger", "steps", "success_rate", "usage_count"}),
}
_ANY_DETAIL: Final = frozenset[str]().union(*_DETAILS.values())
_KNOWN: Final = frozenset(RecordFields.__annotations__)
_PREFIX: Final[Mapping[Kind, Prefix]] = {
    Kind.SEMANTIC: "mem",
    Kind.EPISODIC: "ep",
    Kind.PROCEDURAL: "proc",
}


def new_record(content: str, fields: RecordFields, scope: Scope, now: datetime) -> Record:
    """Return a record at version 1, or raise an error that names the invalid field."""
    checked_content(content)
    return stored_record(content, fields, scope, now)


def record_alike(record: Record, content: object) -> Record:
    """Return a new record that differs from another new one only in its content."""
    return copy_with(
        record,
        id=new_id(_PREFIX[record.kind]),
        content=checked_content(content),
        metadata=dict(record.metadata),
    )


def stored_record(content: str, fields: RecordFields, scope: Scope, now: datetime) -> Record:
    """Return the same of a record that is stored elsewhere, which may be longer than a new one."""
    checked = _checked(fields)
    kind = checked.get("kind", Kind.SEMANTIC)
    _refuse_foreign_details(kind, checked)
    created = checked.get("created_at", now)
    first_observed = checked.get("first_observed", created)
    record = Record(
        id=new_id(_PREFIX[kind]),
        scope=scope,
        kind=kind,
        category=checked.get("category", "general"),
        title=checked.get("title", ""),
        content=checked_text(content, "content", MAX_CONTENT),
        description=checked.get("description", ""),
        tags=checked.get("tags", ()),
        confidence=checked.get("confidence", 1.0),
        importance=checked.get("importance", 0.5),
        evidence_count=checked.get("evidence_count", 1),
        evidence=checked.get("evidence", ()),
        source=checked.get("source", ""),
        related=checked.get("related", ()),
        details=_details(kind, None, checked),
        session=checked.get("session"),
        task=checked.get("task"),
        created_at=created,
        updated_at=created,
        first_observed=first_observed,
        last_confirmed=checked.get("last_confirmed", first_observed),
        valid_from=checked.get("valid_from"),
        valid_to=checked.get("valid_to"),
        recorded_at=now,
        expires_at=checked.get("expires_at"),
        tier=checked.get("tier", Tier.LONG),
        access_count=0,
        last_accessed=None,
        version=1,
        status=Status.ACTIVE,
        metadata=checked.get("metadata", {}),
        **_facet(checked),
    )
    return _consistent(record)


def revised(record: Record, content: str | None, fields: RecordFields, now: datetime) -> Record:
    """Return the next version with the given fields, or the record itself if nothing changes."""
    checked = _checked(fields)
    if checked.pop("kind", record.kind) is not record.kind:
        raise InvalidInput(
            f"{record.id} is {record.kind}; a record's kind cannot be changed",
            code="wrong_kind_fields",
            hint="Save a new record of the other kind and delete this one.",
        )
    _refuse_foreign_details(record.kind, checked)
    details = _details(record.kind, record.details, checked)
    beside = _ANY_DETAIL | {"facet", "about"}
    plain = {name: value for name, value in checked.items() if name not in beside}
    if content is not None:
        plain["content"] = checked_content(content)
    if "created_at" in plain:
        # As for a new record, `first_observed` defaults to the time of creation.
        plain.setdefault("first_observed", plain["created_at"])
    after = record.evolve(**plain, **_facet(checked), details=details)
    if after == record:
        return record
    return _consistent(after.evolve(updated_at=now, version=record.version + 1))


def checked_text(text: object, name: str, limit: int, *, blank: bool = False) -> str:
    """Return the text if it can be stored and searched, otherwise raise `InvalidInput`."""
    if not isinstance(text, str):
        raise InvalidInput(f"{name} must be text, not {type(text).__name__}", code="wrong_type")
    if len(text) > limit:
        raise InvalidInput(
            f"{name} has {len(text):,} characters; at most {limit:,} are taken in one piece",
            code="text_too_large",
            hint="Split the text and give the parts, or give less of it.",
        )
    if not blank and not text.strip():
        raise InvalidInput(f"{name} is empty", code="empty_text")
    if "\x00" in text:
        raise InvalidInput(f"{name} contains a NUL character", code="nul_byte")
    try:
        text.encode()
    except UnicodeEncodeError as broken:
        raise InvalidInput(
            f"{name} is not valid Unicode: a lone surrogate at character {broken.start}",
            code="invalid_unicode",
            hint="Decode the bytes with the right encoding first.",
        ) from None
    return text


def checked_content(content: object) -> str:
    """Return the content that a caller gives a record, or raise `InvalidInput`."""
    if isinstance(content, str) and len(content) > MAX_RECORD_CONTENT:
        raise InvalidInput(
            f"content has {len(content):,} characters; a record holds at most"
            f" {MAX_RECORD_CONTENT:,}",
            code="text_too_large",
            hint="A record is a statement. Add long texts as documents, with `recollect kb add` or"
            " memory.knowledge.add, or save the parts.",
        )
    return checked_text(content, "content", MAX_CONTENT)


def checked_share(value: object, name: str = "min_score") -> float:
    """Return the number if it is between 0 and 1, otherwise raise `InvalidInput`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput(
            f"{name} must be a number from 0 to 1, not {value!r}", code="out_of_range"
        )
    return float(value)


def checked_items(value: Iterable[T], name: str) -> list[T]:
    """Return the items of any iterable except text, bytes and mappings."""
    found = type(value).__name__
    is_one_piece = isinstance(value, str | bytes | Mapping)
    if is_one_piece or not isinstance(value, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"{name} must be a list, not {found}", code="wrong_type")
    return list(value)


def checked_json(value: Mapping[str, Any], name: str, limit: int) -> dict[str, Any]:
    """Return a mapping as it will be read back from JSON, or raise `InvalidInput`."""
    _require_plain(value, name, _MAX_DEPTH)
    try:
        encoded = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as unusable:
        raise InvalidInput(
            f"{name} cannot be written as JSON: {unusable}", code="wrong_type"
        ) from None
    return json.loads(checked_text(encoded, name, limit))


def _require_plain(value: object, name: str, depth: int) -> None:
    """Raise `InvalidInput` for values nested too deeply and for keys that JSON would change."""
    if depth < 0:
        raise InvalidInput(f"{name} is nested more than {_MAX_DEPTH} deep", code="too_deep")
    if isinstance(value, dict):
        for key, inner in cast("dict[object, object]", value).items():
            if not isinstance(key, str):
                raise InvalidInput(f"{name} has the key {key!r}, not a text", code="wrong_type")
            _require_plain(inner, name, depth - 1)
    elif isinstance(value, list | tuple):
        for inner in cast("Iterable[object]", value):
            _require_plain(inner, name, depth - 1)


def _checked(fields: RecordFields) -> dict[str, Any]:
    unknown = set(fields) - _KNOWN
    if unknown:
        raise InvalidInput(
            f"Unknown field: {', '.join(sorted(unknown))}",
            code="unknown_field",
            hint="recorded_at, version and status are kept by Recollect itself."
            if unknown & {"recorded_at", "version", "status"}
            else f"There are: {', '.join(sorted(_KNOWN))}.",
        )
    given = cast("dict[str, Any]", dict(fields))
    if "name" in given:
        given.setdefault("title", given.pop("name"))
    return {name: _CHECKS[name](name, value) for name, value in given.items()}


def _facet(checked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facet as a caller sets it; None takes back what was set."""
    given = {name: checked[name] for name in ("facet", "about") if name in checked}
    return {**given, "facet_fixed": given.get("facet", "") is not None} if given else {}


def _details(
    kind: Kind, before: Episode | Procedure | None, checked: Mapping[str, Any]
) -> Episode | Procedure | None:
    given = {name: value for name, value in checked.items() if name in _DETAILS[kind]}
    if kind is Kind.EPISODIC:
        return replace(before or Episode(), **given)
    if kind is Kind.PROCEDURAL:
        return replace(before or Procedure(), **given)
    return None


def _refuse_foreign_details(kind: Kind, checked: Mapping[str, Any]) -> None:
    foreign = (_ANY_DETAIL - _DETAILS[kind]) & set(checked)
    if foreign:
        raise InvalidInput(
            f"A {kind} record has no {', '.join(sorted(foreign))}",
            code="wrong_kind_fields",
            hint="participants, outcome, artifacts and timestamp are episodic; "
            "trigger, steps, success_rate and usage_count are procedural.",
        )


def _consistent(record: Record) -> Record:
    if record.valid_from and record.valid_to and record.valid_to <= record.valid_from:
        raise InvalidInput("valid_to is not after valid_from", code="bad_interval")
    return record


def _line(limit: int) -> Any:
    def check(name: str, value: object) -> str:
        return checked_text(value, name, limit, blank=True).strip()

    return check


def _label(name: str, value: object) -> str:
    return checked_text(value, name, MAX_LABEL).strip()


def _optional_label(name: str, value: object) -> str | None:
    return None if value is None else _label(name, value)


def _texts(limit: int) -> Any:
    def check(name: str, value: object) -> tuple[str, ...]:
        return tuple(checked_text(item, name, limit).strip() for item in _few(name, value))

    return check


def _few(name: str, value: object) -> list[Any]:
    items = checked_items(cast("Iterable[Any]", value), name)
    if len(items) > MAX_ITEMS:
        raise InvalidInput(f"{name} has more than {MAX_ITEMS} items", code="too_many_items")
    return items


def _set_of_labels(name: str, value: object) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_texts(MAX_LABEL)(name, value)))


def _share(name: str, value: object) -> float:
    return checked_share(value, name)


def _optional_share(name: str, value: object) -> float | None:
    return None if value is None else _share(name, value)


def _count(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_COUNT:
        raise InvalidInput(
            f"{name} must be a whole number from 0 to {MAX_COUNT:,}", code="out_of_range"
        )
    return value


def _time(name: str, value: object) -> datetime:
    return aware(cast("datetime", value), name)


def _optional_time(name: str, value: object) -> datetime | None:
    return None if value is None else _time(name, value)


def _optional_facet(name: str, value: object) -> str | None:
    return None if value is None else checked_facet(value, name)


def _about(name: str, value: object) -> str:
    return checked_about(value, name)


def _one_of(names: type[Kind] | type[Tier]) -> Any:
    def check(name: str, value: object) -> Kind | Tier:
        try:
            return names(cast("str", value))
        except ValueError:
            raise InvalidInput(
                f"{name} {value!r} is not one of: {', '.join(names)}", code="unknown_value"
            ) from None

    return check


def _evidence(name: str, value: object) -> tuple[Evidence, ...]:
    items = cast("list[object]", [value] if isinstance(value, Evidence) else _few(name, value))
    return tuple(_piece_of_evidence(name, item) for item in items)


def _piece_of_evidence(name: str, item: object) -> Evidence:
    if not isinstance(item, Evidence):
        raise InvalidInput(f"{name} must be a list of Evidence", code="wrong_type")
    for place in (item.start, item.end):
        if place is not None:
            _count(f"{name}'s place", place)
    checked_text(item.turn, f"{name}'s turn", MAX_TITLE)
    return item


def _metadata(name: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{name} must be a mapping", code="wrong_type")
    return checked_json(dict(cast("Mapping[str, Any]", value)), name, MAX_METADATA)


_CHECKS: Final[Mapping[str, Any]] = {
    "kind": _one_of(Kind),
    "category": _label,
    "facet": _optional_facet,
    "about": _about,
    "title": _line(MAX_TITLE),
    "description": _line(MAX_DESCRIPTION),
    "tags": _set_of_labels,
    "confidence": _share,
    "importance": _share,
    "evidence_count": _count,
    "evidence": _evidence,
    "source": _line(MAX_TITLE),
    "related": _set_of_labels,
    "session": _optional_label,
    "task": _optional_label,
    "created_at": _time,
    "first_observed": _time,
    "last_confirmed": _time,
    "valid_from": _optional_time,
    "valid_to": _optional_time,
    "expires_at": _optional_time,
    "tier": _one_of(Tier),
    "metadata": _metadata,
    "participants": _set_of_labels,
    "outcome": _line(MAX_CONTENT),
    "artifacts": _texts(MAX_TITLE * 8),
    "timestamp": _optional_time,
    "trigger": _line(MAX_CONTENT),
    "steps": _texts(MAX_CONTENT),
    "success_rate": _optional_share,
    "usage_count": _count,
}
