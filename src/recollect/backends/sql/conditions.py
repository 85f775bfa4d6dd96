"""The one filter, compiled to SQL; `Filter.accepts_record` and the like fix its meaning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    and_,
    bindparam,
    false,
    literal_column,
    or_,
    select,
    true,
)

from recollect.backends.sql.schema import archives, record_tags, records, turns
from recollect.domain.filters import Filter
from recollect.domain.record import Status
from recollect.domain.times import to_micros

# Written out, as the partial index on status has it: a bound value would not let it be used.
NOT_ACTIVE: Final = records.c.status != literal_column("'active'")


def records_where(where: Filter) -> ColumnElement[bool]:
    """Return the filter as a condition on current `records` rows.

    The time of asking is the parameter `now`. With `as_of` that moment is; what was replaced since
    is a version, see `past_records`.
    """
    if not where.wants_records:
        return false()
    columns = records.c
    parts: list[ColumnElement[bool]] = [columns.status.in_(sorted(where.statuses))]
    if Status.ACTIVE in where.statuses and Status.EXPIRED not in where.statuses:
        has_time = or_(
            columns.expires_at.is_(None),
            columns.expires_at > bindparam("now", 0, type_=BigInteger()),
        )
        parts.append(or_(columns.status != Status.ACTIVE, has_time))
    if Status.ACTIVE not in where.statuses:
        parts.append(NOT_ACTIVE)
    if where.kinds:
        parts.append(columns.kind.in_(sorted(where.kinds)))
    if where.categories:
        parts.append(columns.category.in_(sorted(where.all_categories)))
    if where.facets:
        parts.append(columns.facet.in_(sorted(where.facets)))
    if where.tags:
        parts.extend(_has_tags(where))
    parts.extend(_in_range(columns.observed_at, where))
    if where.session is not None:
        parts.append(columns.session == where.session)
    if where.task is not None:
        parts.append(columns.task == where.task)
    if where.as_of is not None:
        parts.append(columns.recorded_at <= to_micros(where.as_of))
    if where.valid_at is not None:
        moment = to_micros(where.valid_at)
        parts.append(or_(columns.valid_from.is_(None), columns.valid_from <= moment))
        parts.append(or_(columns.valid_to.is_(None), columns.valid_to > moment))
    return and_(*parts)


def _has_tags(where: Filter) -> Iterator[ColumnElement[bool]]:
    """Yield the condition that a record has all these tags.

    Each is asked for its own: looking up first what has a tag goes through the tags of everybody.
    """
    yield records.c.tags != "[]"
    its = record_tags.c.record_id == records.c.id
    for tag in sorted(where.tags):
        yield select(record_tags.c.tag).where(its, record_tags.c.tag == tag).exists()


def turns_where(where: Filter) -> ColumnElement[bool]:
    """Return the filter as a condition on `turns` rows."""
    if not where.wants_turns:
        return false()
    parts = _in_range(turns.c.at, where)
    if where.session is not None:
        parts.append(turns.c.session == where.session)
    if where.task is not None:
        parts.append(turns.c.task == where.task)
    if where.as_of is not None:
        parts.append(turns.c.recorded_at <= to_micros(where.as_of))
    return and_(true(), *parts)


def archives_where(where: Filter) -> ColumnElement[bool]:
    """Return the filter as a condition on `archives` rows; the parameter `now` is the time."""
    if not where.wants_archives:
        return false()
    columns = archives.c
    parts = _in_range(columns.created_at, where)
    parts.append(
        or_(
            columns.expires_at.is_(None),
            columns.expires_at > bindparam("now", 0, type_=BigInteger()),
        )
    )
    if where.session is not None:
        parts.append(columns.session == where.session)
    return and_(*parts)


def _in_range(column: ColumnElement[int], where: Filter) -> list[ColumnElement[bool]]:
    parts: list[ColumnElement[bool]] = []
    if where.since is not None:
        parts.append(column >= to_micros(where.since))
    if where.until is not None:
        parts.append(column < to_micros(where.until))
    return parts
