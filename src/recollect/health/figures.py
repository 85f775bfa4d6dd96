"""Figures about the records of some scopes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, and_, case, func, select

from recollect.backends.sql import schema
from recollect.backends.sql.conditions import NOT_ACTIVE
from recollect.backends.sql.database import OnDatabase, reading
from recollect.backends.sql.portable import count_where
from recollect.backends.sql.rows import Row, rows_of
from recollect.backends.sql.scopes import find_scopes
from recollect.domain.record import Kind, Status, Tier
from recollect.domain.scope import Scope
from recollect.domain.stats import HealthFigures
from recollect.domain.times import to_micros
from recollect.domain.upkeep import EXPIRED_BY
from recollect.recall.conflicts import is_open
from recollect.retention.rows import is_active

_records = schema.records.c
# How the reason begins that a sweep gives for the version it makes.
_WHY: Final = case(
    *((_records.reason.like(f"{why}:%"), why) for why in EXPIRED_BY),
    else_="other",
)


class SqlHealth(OnDatabase):
    """Counts records by state, kind and reason."""

    @reading
    def figures(
        self, connection: Connection, scopes: Sequence[Scope], *, now: datetime
    ) -> HealthFigures:
        """Return the health figures of these scopes."""
        return _figures(connection, list(find_scopes(connection, scopes)), now)


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
            .where(conflicts.scope_id.in_(scopes), is_open())
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
    ).where(_records.scope_id == scope_id, is_active(now))
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
