"""Records by their state and age, and what they are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, and_, func, or_, select

from recollect.backends.sql import schema
from recollect.backends.sql.conditions import NOT_ACTIVE
from recollect.backends.sql.database import OnDatabase, reading
from recollect.backends.sql.forgotten import NAMELESS_SCOPES
from recollect.backends.sql.rows import Row, record_from, rows_of
from recollect.backends.sql.scopes import find_scopes, scopes_by_id
from recollect.domain.record import Record, Status, Tier, with_aliases
from recollect.domain.scope import Scope
from recollect.domain.times import from_micros, to_micros
from recollect.domain.upkeep import Selection, Worth

_NOBODY: Final = "-"
_records = schema.records.c


class SqlRetention(OnDatabase):
    """Records for sweeps and the short-term buffer.

    A selection without scopes covers all scopes, for sweeps only.
    """

    @reading
    def select(
        self,
        connection: Connection,
        selection: Selection,
        *,
        after: str = "",
        limit: int | None = None,
    ) -> list[Record]:
        """Return records by id, starting after `after`."""
        place = _place(selection)
        wanted = (
            select(schema.records)
            .where(place > after, *_conditions(connection, selection))
            .order_by(place)
            .limit(limit)
        )
        rows = rows_of(connection, wanted)
        scopes = scopes_by_id(connection, {row["scope_id"] for row in rows})
        return [record_from(row, scopes[row["scope_id"]]) for row in rows]

    @reading
    def crowded(
        self,
        connection: Connection,
        scopes: Sequence[Scope] | None,
        more_than: int,
        *,
        now: datetime,
    ) -> Mapping[Scope, int]:
        """Return the scopes with more active records than this, and how many they have."""
        # The index on scopes alone tells which can be over the limit at all.
        many = _per_scope(more_than)
        if scopes is not None:
            many = many.where(_records.scope_id.in_(find_scopes(connection, scopes)))
        else:
            many = many.where(_records.scope_id.not_in(NAMELESS_SCOPES))
        large = list(connection.scalars(many))
        over = _per_scope(more_than).where(_records.scope_id.in_(large), is_active(now))
        found = {row[0]: row[1] for row in connection.execute(over)}
        return {scope: found[number] for number, scope in scopes_by_id(connection, found).items()}

    @reading
    def worths(self, connection: Connection, scope: Scope, *, now: datetime) -> list[Worth]:
        """Return the properties that determine the value of each active record of a scope."""
        wanted = select(
            _records.id,
            _records.importance,
            _records.confidence,
            _records.access_count,
            _records.helped,
            _records.rejected,
            _records.updated_at,
            _records.last_confirmed,
            _records.last_accessed,
        ).where(_records.scope_id.in_(find_scopes(connection, [scope])), is_active(now))
        return [_worth(row) for row in rows_of(connection, wanted)]


def _place(selection: Selection) -> ColumnElement[str]:
    """Return the position in a listing: the id.

    Adding nothing to it keeps SQLite from walking through all ids where an index finds the few.
    """
    has_few = _has_few(selection) or selection.tier is Tier.SHORT
    return _records.id.concat("") if has_few else _records.id


def _has_few(selection: Selection) -> bool:
    """Return whether a small index finds all of it: what is not active, or what expires."""
    return selection.expires_by is not None or Status.ACTIVE not in selection.statuses


def _conditions(connection: Connection, selection: Selection) -> list[ColumnElement[bool]]:
    """Return the selection; what is not active and what expires is found by small indexes."""
    parts: list[ColumnElement[bool]] = [_records.status.in_(sorted(selection.statuses))]
    if Status.ACTIVE not in selection.statuses:
        parts.append(NOT_ACTIVE)
    # Adding nothing keeps SQLite from walking through a whole scope where an index finds the few.
    scope_id = _records.scope_id + 0 if _has_few(selection) else _records.scope_id
    if selection.scopes is not None:
        parts.append(scope_id.in_(find_scopes(connection, selection.scopes)))
    else:
        parts.append(scope_id.not_in(NAMELESS_SCOPES))
    if (named := _scopes_named(selection)) is not None:
        parts.append(scope_id.in_(named))
    if selection.kind is not None:
        parts.append(_records.kind == selection.kind.value)
    if selection.category is not None:
        parts.append(_records.category.in_(sorted(with_aliases(selection.category))))
    if selection.tier is not None:
        parts.append(_records.tier == selection.tier.value)
    if selection.expires_by is not None:
        parts.append(_records.expires_at <= to_micros(selection.expires_by))
    if selection.expires_after is not None:
        parts.append(_has_time(selection.expires_after))
    if selection.untouched_since is not None:
        moment = to_micros(selection.untouched_since)
        parts += [_records.updated_at <= moment, _records.last_confirmed <= moment]
    return parts


def _scopes_named(selection: Selection) -> Select[int] | None:
    """Return the scopes that have the parts which the selection names; None when it names none."""
    table = schema.scopes.c
    wanted = {
        table.org: selection.org,
        table.workspace: selection.workspace,
        table.agent: selection.agent,
        table.user: selection.user,
    }
    named = [
        column == ("" if part == _NOBODY else part)
        for column, part in wanted.items()
        if part is not None
    ]
    return select(table.id).where(*named) if named else None


def _per_scope(more_than: int) -> Select[Any, int]:
    counted = select(_records.scope_id, func.count()).group_by(_records.scope_id)
    return counted.having(func.count() > more_than)


def _has_time(now: datetime) -> ColumnElement[bool]:
    return or_(_records.expires_at.is_(None), _records.expires_at > to_micros(now))


def is_active(now: datetime) -> ColumnElement[bool]:
    """Return the condition that a record is active and has not expired."""
    return and_(_records.status == Status.ACTIVE.value, _has_time(now))


def _worth(row: Row) -> Worth:
    touched = (row["updated_at"], row["last_confirmed"], row["last_accessed"] or 0)
    return Worth(
        id=row["id"],
        importance=row["importance"],
        confidence=row["confidence"],
        uses=row["access_count"] + row["helped"],
        rejected=row["rejected"],
        last_touched=from_micros(max(touched)),
    )
