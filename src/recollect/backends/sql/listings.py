"""Pages of records and turns in the order of their time, each read along an index.

Asked for several scopes at once, SQLite reads and sorts all they have for every page. So each scope
is asked for its own first rows, which its index has in order, and the first of all are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import merge
from itertools import islice
from typing import Any, Final

from sqlalchemy import BigInteger, ColumnElement, Connection, Table, and_, bindparam, select, tuple_

from recollect.backends.sql import schema
from recollect.backends.sql.conditions import records_where, turns_where
from recollect.backends.sql.prepared_statement import KEPT_STATEMENTS, Quick
from recollect.backends.sql.rows import Row
from recollect.domain.filters import Filter
from recollect.domain.page import Cursor
from recollect.domain.record import Status


@dataclass(frozen=True, slots=True)
class _Order:
    """What is listed, by which column, and whether what stands higher there comes first."""

    table: Table
    column: str
    condition: Callable[[Filter], ColumnElement[bool]]
    is_falling: bool


_RECORDS: Final = _Order(schema.records, "observed_at", records_where, is_falling=True)
_TURNS: Final = _Order(schema.turns, "at", turns_where, is_falling=True)
_SESSION: Final = _Order(schema.turns, "ordinal", turns_where, is_falling=False)


def list_records(
    connection: Connection,
    scopes: Iterable[int],
    where: Filter,
    *,
    now: int,
    after: Cursor | None,
    limit: int | None,
) -> Sequence[Row]:
    """Records that pass the filter, those that happened last first."""
    return _page(connection, _RECORDS, scopes, where, {"now": now}, after, limit)


def list_turns(
    connection: Connection,
    scopes: Iterable[int],
    where: Filter,
    *,
    after: Cursor | None,
    limit: int | None,
) -> Sequence[Row]:
    """Turns that pass the filter: of a session in its order, else those said last first."""
    order = _TURNS if where.session is None else _SESSION
    return _page(connection, order, scopes, where, {}, after, limit)


def _page(
    connection: Connection,
    order: _Order,
    scopes: Iterable[int],
    where: Filter,
    given: dict[str, Any],
    after: Cursor | None,
    limit: int | None,
) -> Sequence[Row]:
    statement = _statement(order, where, after is not None, limit is not None)
    if after is not None:
        given = {**given, "after_place": after.at, "after_id": after.id}
    if limit is not None:
        given = {**given, "most": limit}
    parts = [statement.by_name(connection, {**given, "scope": scope}) for scope in scopes]
    if len(parts) == 1:
        return parts[0]
    in_order = merge(
        *parts, key=lambda row: (row[order.column], row["id"]), reverse=order.is_falling
    )
    return list(islice(in_order, limit))


# Building a statement costs more than running it, so those of the common filters are kept.
@lru_cache(maxsize=KEPT_STATEMENTS)
def _statement(order: _Order, where: Filter, is_continued: bool, is_limited: bool) -> Quick:
    table = order.table.c
    place: ColumnElement[Any] = table[order.column]
    ident = table.id
    scope_id: ColumnElement[int] = table.scope_id
    if order is _RECORDS and _has_few(where):
        # Adding nothing keeps SQLite from walking through all in order instead of sorting the few.
        place = place + 0
        scope_id = scope_id if where.session is not None else scope_id + 0
    parts = [scope_id == bindparam("scope", 0, type_=BigInteger()), order.condition(where)]
    if is_continued:
        # Compared together, a page begins in the midst of the index.
        last = tuple_(bindparam("after_place", 0, type_=BigInteger()), bindparam("after_id", ""))
        here = tuple_(place, ident)
        parts.append(here < last if order.is_falling else here > last)
    chosen = select(order.table).where(and_(*parts))
    columns = (place.desc(), ident.desc()) if order.is_falling else (place, ident)
    chosen = chosen.order_by(*columns)
    return Quick(chosen.limit(bindparam("most", 0)) if is_limited else chosen)


def _has_few(where: Filter) -> bool:
    """Whether another index finds the few records that are meant: by session or by status."""
    return where.session is not None or Status.ACTIVE not in where.statuses
