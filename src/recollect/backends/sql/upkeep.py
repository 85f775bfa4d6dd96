"""What upkeep reads from a SQL database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    case,
    func,
    or_,
    select,
)

from recollect.backends.sql import schema
from recollect.backends.sql.conditions import NOT_ACTIVE
from recollect.backends.sql.database import Database
from recollect.backends.sql.forgotten import NAMELESS_SCOPES
from recollect.backends.sql.portable import count_where
from recollect.backends.sql.rows import Row, conflict_from, record_from, rows_of
from recollect.backends.sql.scopes import find_scopes, scopes_by_id
from recollect.domain.record import Kind, Record, Status, Tier, with_aliases
from recollect.domain.relation import Conflict
from recollect.domain.scope import Scope
from recollect.domain.stats import HealthFigures
from recollect.domain.times import from_micros, to_micros
from recollect.domain.upkeep import EXPIRED_BY, Selection, Worth

_NOBODY: Final = "-"
_records = schema.records.c
# How the reason begins that a sweep gives for the version it makes.
_WHY: Final = case(
    *((_records.reason.like(f"{why}:%"), why) for why in EXPIRED_BY),
    else_="other",
)


class SqlUpkeep:
    """Records by their state and age, what they are worth, conflicts, figures.

    A selection without scopes covers all scopes, for sweeps only.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def select(
        self, selection: Selection, *, after: str = "", limit: int | None = None
    ) -> list[Record]:
        """Return records by id, starting after `after`."""

        def read(connection: Connection) -> list[Record]:
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

        return await self._database.read(read)

    async def crowded(
        self, scopes: Sequence[Scope] | None, more_than: int, *, now: datetime
    ) -> Mapping[Scope, int]:
        """Return the scopes with more active records than this, and how many they have."""

        def read(connection: Connection) -> Mapping[Scope, int]:
            # The index on scopes alone tells which can be over the limit at all.
            many = _per_scope(more_than)
            if scopes is not None:
                many = many.where(_records.scope_id.in_(find_scopes(connection, scopes)))
            else:
                many = many.where(_records.scope_id.not_in(NAMELESS_SCOPES))
            large = list(connection.scalars(many))
            over = _per_scope(more_than).where(_records.scope_id.in_(large), _is_active(now))
            found = {row[0]: row[1] for row in connection.execute(over)}
            return {
                scope: found[number] for number, scope in scopes_by_id(connection, found).items()
            }

        return await self._database.read(read)

    async def worths(self, scope: Scope, *, now: datetime) -> list[Worth]:
        """Return the properties that determine the value of each active record of a scope."""

        def read(connection: Connection) -> list[Worth]:
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
            ).where(_records.scope_id.in_(find_scopes(connection, [scope])), _is_active(now))
            return [_worth(row) for row in rows_of(connection, wanted)]

        return await self._database.read(read)

    async def conflicts(
        self, scopes: Sequence[Scope], *, ids: Sequence[str] | None = None
    ) -> list[Conflict]:
        """Return open conflicts between active records, latest first; or those with these ids."""
        table = schema.conflicts.c

        def read(connection: Connection) -> list[Conflict]:
            found = find_scopes(connection, scopes)
            wanted = select(schema.conflicts).where(table.scope_id.in_(found))
            wanted = wanted.where(_is_open() if ids is None else table.id.in_(ids))
            rows = rows_of(connection, wanted.order_by(table.created_at.desc(), table.id.desc()))
            return [conflict_from(row, found[row["scope_id"]]) for row in rows]

        return await self._database.read(read)

    async def figures(self, scopes: Sequence[Scope], *, now: datetime) -> HealthFigures:
        """Return the health figures of these scopes."""
        return await self._database.read(
            lambda connection: _figures(connection, list(find_scopes(connection, scopes)), now)
        )


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


def _is_active(now: datetime) -> ColumnElement[bool]:
    return and_(_records.status == Status.ACTIVE.value, _has_time(now))


def _is_open() -> ColumnElement[bool]:
    """Return the condition that a conflict is undecided and both records still stand."""
    table = schema.conflicts.c
    first, second = schema.records.alias(), schema.records.alias()
    active = Status.ACTIVE.value
    return and_(
        table.resolved_at.is_(None),
        select(first.c.id).where(first.c.id == table.first_id, first.c.status == active).exists(),
        select(second.c.id)
        .where(second.c.id == table.second_id, second.c.status == active)
        .exists(),
    )


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


def _figures(connection: Connection, scopes: list[int], now: datetime) -> HealthFigures:
    conflicts = schema.conflicts.c
    # Found by the small indexes: adding nothing keeps SQLite from walking through the scopes.
    few = (_records.scope_id + 0).in_(scopes)
    over = and_(_records.status == Status.ACTIVE.value, _records.expires_at <= to_micros(now))
    expired_by = _counts(connection, _WHY, few, _has_status(Status.EXPIRED))
    held = [_held(connection, scope_id, now) for scope_id in scopes]
    total = sum(it["total"] for it in held)
    return HealthFigures(
        total=total,
        mean_confidence=sum(it["confidence"] for it in held) / total if total else None,
        by_kind={
            kind.value: count for kind in Kind if (count := sum(it[kind.value] for it in held))
        },
        buffered=sum(it["buffered"] for it in held),
        quarantined=_number(connection, few, _has_status(Status.QUARANTINED)),
        expired=sum(expired_by.values()) + _number(connection, few, over),
        expired_by=expired_by,
        conflicts=connection.scalar(
            select(func.count())
            .select_from(schema.conflicts)
            .where(conflicts.scope_id.in_(scopes), _is_open())
        )
        or 0,
        fullest=max((it["total"] for it in held), default=0),
    )


def _held(connection: Connection, scope_id: int, now: datetime) -> Row:
    """Return figures of the active records of a scope, in one pass without sorting."""
    counted = select(
        func.count().label("total"),
        func.coalesce(func.sum(_records.confidence), 0.0).label("confidence"),
        count_where(_records.tier == Tier.SHORT.value).label("buffered"),
        *(count_where(_records.kind == kind.value).label(kind.value) for kind in Kind),
    ).where(_records.scope_id == scope_id, _is_active(now))
    return rows_of(connection, counted)[0]


def _has_status(status: Status) -> ColumnElement[bool]:
    return and_(NOT_ACTIVE, _records.status == status.value)


def _counts(
    connection: Connection, column: ColumnElement[Any], *where: ColumnElement[bool]
) -> dict[Any, int]:
    counted = select(column, func.count()).where(*where).group_by(column)
    return {row[0]: row[1] for row in connection.execute(counted)}


def _number(connection: Connection, *where: ColumnElement[bool]) -> int:
    return connection.scalar(select(func.count()).select_from(schema.records).where(*where)) or 0
