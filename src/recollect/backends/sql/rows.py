"""Conversion of values to rows and back; nothing else knows the form of rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from functools import lru_cache, partial
from operator import attrgetter, itemgetter
from typing import Any, Final, Generic, TypeVar, cast

from sqlalchemy import Connection, Executable

from recollect.domain.hit import Standing
from recollect.domain.record import (
    Episode,
    Evidence,
    Kind,
    Procedure,
    Record,
    Status,
    Tier,
    Version,
)
from recollect.domain.relation import Conflict, Link
from recollect.domain.scope import Scope
from recollect.domain.sharing import Proposal
from recollect.domain.times import from_micros, to_micros
from recollect.domain.turn import Turn

Row = Mapping[str, Any]
T = TypeVar("T")

_TIMES: Final = (
    *("created_at", "updated_at", "first_observed", "last_confirmed"),
    *("valid_from", "valid_to", "recorded_at", "expires_at", "last_accessed"),
)
_PLAIN: Final = (
    *("id", "category", "title", "content", "description", "confidence", "importance"),
    *("evidence_count", "source", "session", "task", "access_count", "version"),
    *("helped", "rejected", "facet", "about"),
)
_times_of: Final = itemgetter(*_TIMES)
_plain_of: Final = itemgetter(*_PLAIN)
_time_fields: Final = attrgetter(*_TIMES)
_plain_fields: Final = attrgetter(*_PLAIN)
# How the columns of the turn that a reply follows begin, where it is read along with the reply.
BEFORE: Final = "before_"
# What of a record is weighed, see `standings_of_records`.
STANDING: Final = (
    *("id", "scope_id", "observed_at", "kind", "category", "source", "confidence"),
    *("helped", "rejected", "access_count"),
)
# Looked up, since an enumeration takes long to find its members.
_KINDS: Final = {kind.value: kind for kind in Kind}
_TIERS: Final = {tier.value: tier for tier in Tier}
_STATUSES: Final = {status.value: status for status in Status}
# Most of a record's times are the same, and so are those of records that were saved together.
_instant: Final = lru_cache(maxsize=4_096)(from_micros)
# One for all: making an encoder takes longer than encoding.
_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
# What versions that were written before these columns came do not have.
_SINCE_0004: Final = {"helped": 0, "rejected": 0}
_SINCE_0014: Final = {"facet": None, "about": "", "facet_fixed": 0}


def rows_of(
    connection: Connection, statement: Executable, given: Mapping[str, Any] | None = None
) -> Sequence[Row]:
    """Return everything a query gives, each row by column name."""
    return cast("Sequence[Row]", connection.execute(statement, given).mappings().all())


def scope_key(scope: Scope) -> dict[str, str]:
    return {
        "org": scope.org,
        "workspace": scope.workspace,
        "agent": scope.agent or "",
        "user": scope.user or "",
    }


def to_json(value: object) -> str:
    return _JSON.encode(value)


def past_row(body: str) -> Row:
    """Return the row that a version kept."""
    return {**_SINCE_0004, **_SINCE_0014, **json.loads(body)}


def record_row(record: Record, scope_id: int, changed_by: str, reason: str) -> dict[str, Any]:
    """Return the row of a record's current state."""
    row: dict[str, Any] = dict(zip(_PLAIN, _plain_fields(record), strict=True))
    row.update(zip(_TIMES, map(_micros, _time_fields(record)), strict=True))
    row.update(
        scope_id=scope_id,
        kind=record.kind.value,
        tier=record.tier.value,
        status=record.status.value,
        observed_at=_micros(record.observed_at),
        facet_fixed=int(record.facet_fixed),
        tags=to_json(record.tags) if record.tags else "[]",
        evidence=to_json([asdict(item) for item in record.evidence]) if record.evidence else "[]",
        related=to_json(record.related) if record.related else "[]",
        details=details_json(record.details),
        metadata=to_json(record.metadata) if record.metadata else "{}",
        changed_by=changed_by,
        reason=reason,
    )
    return row


def record_from(row: Row, scope: Scope) -> Record:
    """Return the record a row stands for."""
    kind = _KINDS[row["kind"]]
    values: dict[str, Any] = dict(zip(_PLAIN, _plain_of(row), strict=True))
    values.update(zip(_TIMES, map(_moment, _times_of(row)), strict=True))
    return Record(
        **values,
        scope=scope,
        kind=kind,
        tier=_TIERS[row["tier"]],
        status=_STATUSES[row["status"]],
        facet_fixed=bool(row["facet_fixed"]),
        # Most records have none of these.
        tags=() if row["tags"] == "[]" else _texts(row["tags"]),
        evidence=() if row["evidence"] == "[]" else _evidence(row["evidence"]),
        related=() if row["related"] == "[]" else _texts(row["related"]),
        details=None if row["details"] is None else _details_from(kind, row["details"]),
        metadata={} if row["metadata"] == "{}" else json.loads(row["metadata"]),
    )


def standings_of_records(
    rows: Sequence[Row], scopes: Mapping[int, Scope] | None, others: Collection[int]
) -> dict[str, Standing]:
    """Return the fields of records that scoring uses, by id; with scopes, whole ones were read."""
    return {
        row["id"]: Standing(
            observed_at=_instant(row["observed_at"]),
            load=None if scopes is None else partial(record_from, row, scopes[row["scope_id"]]),
            terms=None if scopes is None else (row["unit"], row["terms"]),
            kind=_KINDS[row["kind"]],
            category=row["category"],
            source=row["source"],
            confidence=row["confidence"],
            helped=row["helped"],
            rejected=row["rejected"],
            accessed=row["access_count"],
            is_of_others=row["scope_id"] in others,
        )
        for row in rows
    }


def standings_of_turns(rows: Sequence[Row], scopes: Mapping[int, Scope]) -> dict[str, Standing]:
    """Return the fields of turns that scoring uses, by id, from rows with the turn before each."""
    return {
        row["id"]: Standing(
            observed_at=_instant(row["at"]),
            load=partial(turn_from, row, scopes[row["scope_id"]]),
            before=None
            if row[BEFORE + "id"] is None
            else partial(turn_from, row, scopes[row["scope_id"]], BEFORE),
            terms=(row["unit"], row["terms"]),
            role=row["role"],
            act=row["act"],
        )
        for row in rows
    }


def version_from(row: Row, scope: Scope, replaced_at: int | None) -> Version:
    return Version(
        record=record_from(row, scope),
        changed_by=row["changed_by"],
        reason=row["reason"],
        replaced_at=_moment(replaced_at),
    )


def turn_row(turn: Turn, scope_id: int) -> dict[str, Any]:
    return {
        "id": turn.id,
        "scope_id": scope_id,
        "session": turn.session,
        "ordinal": turn.ordinal,
        "role": turn.role,
        "speaker": turn.speaker,
        "content": turn.content,
        "at": to_micros(turn.at),
        "task": turn.task,
        "payload": to_json(turn.payload) if turn.payload else "{}",
        "recorded_at": to_micros(turn.recorded_at),
        "act": turn.act,
    }


def turn_from(row: Row, scope: Scope, prefix: str = "") -> Turn:
    """Return the turn that a row holds in the columns with this prefix."""
    payload = row[prefix + "payload"]
    return Turn(
        id=row[prefix + "id"],
        scope=scope,
        session=row[prefix + "session"],
        ordinal=row[prefix + "ordinal"],
        role=row[prefix + "role"],
        speaker=row[prefix + "speaker"],
        content=row[prefix + "content"],
        at=_instant(row[prefix + "at"]),
        task=row[prefix + "task"],
        payload={} if payload == "{}" else json.loads(payload),
        recorded_at=_instant(row[prefix + "recorded_at"]),
        act=row[prefix + "act"],
    )


@lru_cache(maxsize=64)
def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


@lru_cache(maxsize=4_096)
def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else _instant(micros)


def _texts(encoded: str) -> tuple[str, ...]:
    return tuple(json.loads(encoded))


def _evidence(encoded: str) -> tuple[Evidence, ...]:
    return tuple([Evidence(**item) for item in json.loads(encoded)])


def procedure_from(row: Row) -> Procedure | None:
    """Return what the row of a procedural record adds."""
    encoded = row["details"]
    details = None if encoded is None else _details_from(Kind(row["kind"]), encoded)
    return details if isinstance(details, Procedure) else None


def details_json(details: Episode | Procedure | None) -> str | None:
    if details is None:
        return None
    stored = asdict(details)
    if isinstance(details, Episode):
        stored["timestamp"] = _micros(details.timestamp)
    return to_json(stored)


def _details_from(kind: Kind, encoded: str) -> Episode | Procedure:
    stored = json.loads(encoded)
    if kind is Kind.EPISODIC:
        return Episode(
            participants=tuple(stored["participants"]),
            outcome=stored["outcome"],
            artifacts=tuple(stored["artifacts"]),
            timestamp=_moment(stored["timestamp"]),
        )
    return Procedure(
        trigger=stored["trigger"],
        steps=tuple(stored["steps"]),
        success_rate=stored["success_rate"],
        usage_count=stored["usage_count"],
    )


# --- Values whose columns are their fields: conflicts, links, proposals and the like --------------

Coder = tuple[Callable[[Any], Any], Callable[[Any], Any]]
"""Makes what a column holds of what a field holds, and the other way round."""

_PLAIN_CODER: Final[Coder] = (lambda value: value, lambda value: value)


class RowForm(Generic[T]):
    """How values of one class lie in rows: each field in the column of its name, or of `columns`.

    `times` are stored as microseconds, and tuples of `texts` and `objects` as JSON. What is `apart`
    is no column; whoever makes a value gives it.
    """

    def __init__(
        self,
        kind: type[T],
        *,
        times: Sequence[str] = (),
        texts: Sequence[str] = (),
        objects: Sequence[str] = (),
        columns: Mapping[str, str] | None = None,
        coders: Mapping[str, Coder] | None = None,
        apart: Sequence[str] = ("scope",),
    ) -> None:
        coded: dict[str, Coder] = {
            **dict.fromkeys(times, (_micros, _moment)),
            **dict.fromkeys(texts, (to_json, _texts)),
            **dict.fromkeys(objects, (to_json, json.loads)),
            **(coders or {}),
        }
        self._kind = kind
        self._fields = [
            (name, (columns or {}).get(name, name), *coded.get(name, _PLAIN_CODER))
            for name in (field.name for field in fields(cast("Any", kind)))
            if name not in apart
        ]

    def row(self, value: T, scope_id: int | None = None) -> dict[str, Any]:
        """Return the row of a value, in the scope with this number if it has one."""
        row = {column: write(getattr(value, name)) for name, column, write, _ in self._fields}
        return row if scope_id is None else {**row, "scope_id": scope_id}

    def value(self, row: Row, scope: Scope | None = None, **apart: Any) -> T:
        """Return the value that a row holds."""
        if scope is not None:
            apart["scope"] = scope
        return self._kind(
            **{name: read(row[column]) for name, column, _, read in self._fields}, **apart
        )


_CONFLICT: Final = RowForm(
    Conflict,
    times=("created_at", "resolved_at"),
    columns={"first": "first_id", "second": "second_id"},
)
conflict_row: Final = _CONFLICT.row
conflict_from: Final = _CONFLICT.value
_LINK: Final = RowForm(Link, times=("at",))
link_row: Final = _LINK.row
link_from: Final = _LINK.value
# One past its time is not marked so before a sweep.
_PROPOSAL: Final = RowForm(
    Proposal,
    times=("created_at", "expires_at", "decided_at"),
    objects=("body",),
    columns={"target": "target_id", "record": "record_id"},
    apart=("scope", "nearest"),
)
proposal_row: Final = _PROPOSAL.row
proposal_from: Final = _PROPOSAL.value
