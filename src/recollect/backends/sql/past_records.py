"""Records as they were at a past moment, of which there is a newer state now.

Each version of a record stood from one time to the next. What has not changed since is read as any
current record is, so only what changed is looked for here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from sqlalchemy import Connection, bindparam, select

from recollect.backends.sql import schema
from recollect.backends.sql.portable import listed, listed_numbers
from recollect.backends.sql.prepared_statement import Quick
from recollect.backends.sql.rows import past_row, record_from, to_json
from recollect.domain.filters import Filter
from recollect.domain.page import Cursor
from recollect.domain.record import Record
from recollect.domain.scope import Scope
from recollect.domain.times import from_micros, to_micros

_TABLE: Final = schema.versions.c
_STOOD: Final = select(_TABLE.body, _TABLE.scope_id).where(
    _TABLE.recorded_at <= bindparam("moment"), _TABLE.replaced_at > bindparam("moment")
)
_IN_SCOPES: Final = Quick(_STOOD.where(_TABLE.scope_id.in_(listed_numbers("scopes"))))
# Adding nothing keeps SQLite from walking the scope's index instead of looking up the ids.
_BY_ID: Final = Quick(
    _STOOD.where(
        _TABLE.record_id.in_(listed("ids")), (_TABLE.scope_id + 0).in_(listed_numbers("scopes"))
    )
)


def past_records(
    connection: Connection,
    scopes: Mapping[int, Scope],
    where: Filter,
    moment: int,
    *,
    ids: Sequence[str] | None,
    after: Cursor | None,
) -> list[Record]:
    """What stood then, has been replaced since and passes the filter; none up to a cursor."""
    given = {"moment": moment, "scopes": to_json(list(scopes))}
    if ids is None:
        rows = _IN_SCOPES.rows(connection, given)
    else:
        rows = _BY_ID.rows(connection, {**given, "ids": to_json(list(ids))})
    known = (record_from(past_row(row["body"]), scopes[row["scope_id"]]) for row in rows)
    now = from_micros(moment)
    return [it for it in known if where.accepts_record(it, now) and _is_behind(it, after)]


def in_order(records: Iterable[Record]) -> list[Record]:
    """What happened last first, as the database gives current records."""
    return sorted(records, key=_place, reverse=True)


def _is_behind(record: Record, after: Cursor | None) -> bool:
    return after is None or _place(record) < (after.at, after.id)


def _place(record: Record) -> tuple[int, str]:
    return to_micros(record.observed_at), record.id
