"""The store on a SQL database."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    FromClause,
    Select,
    Table,
    and_,
    bindparam,
    func,
    or_,
    select,
    tuple_,
)

from recollect.backends.sql import schema
from recollect.backends.sql.conditions import NOT_ACTIVE, records_where, turns_where
from recollect.backends.sql.portable import count_where, listed, listed_numbers
from recollect.backends.sql.prepared_statement import KEPT_STATEMENTS, PreparedStatement
from recollect.backends.sql.rows import (
    BEFORE,
    STANDING,
    Row,
    link_from,
    past_row,
    record_from,
    rows_of,
    standings_of_records,
    standings_of_turns,
    to_json,
    turn_from,
    version_from,
)
from recollect.backends.sql.scopes import find_scopes, read_versions
from recollect.domain.hit import Standing
from recollect.domain.record import Kind, Record, Status, Version
from recollect.domain.times import from_micros, to_micros

if TYPE_CHECKING:
    from sqlalchemy.sql.base import ReadOnlyColumnCollection

    from recollect.backends.sql.database import Database
    from recollect.domain.change import ChangeSet, Committed
    from recollect.domain.filters import Filter
    from recollect.domain.page import Cursor
    from recollect.domain.relation import Link
    from recollect.domain.scope import Scope
    from recollect.domain.stats import StoreCounts
    from recollect.domain.turn import Turn
    from recollect.ports.runtime import Clock

# So many are read in less time than it takes to hand them to a thread,
_FEW: Final = 50
# so many are written,
_FEW_WRITTEN: Final = 4
# and of so many what is weighed of them.
_FEW_STANDINGS: Final = 200


class SqlStore:
    """Records, versions, turns and units as rows; see `schema`."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        # Called after each write that was made durable.
        self.on_commit: Callable[[Committed], None] | None = None
        self._has_written = False

    async def commit(self, changes: ChangeSet) -> Committed:
        def write(connection: Connection) -> Committed:
            # Imported by the first write, in a thread: who only reads does not need it.
            from recollect.backends.sql import commit

            self._has_written = True
            # The time is taken inside the transaction, so that later commits have later times.
            return commit.write(connection, changes, self._clock.now())

        is_quick = self._has_written and _is_small(changes)
        committed = await self._database.write(
            write, is_removal=changes.is_removal, is_quick=is_quick
        )
        if self.on_commit is not None:
            self.on_commit(committed)
        return committed

    async def records(
        self,
        scopes: Sequence[Scope],
        where: Filter,
        *,
        now: datetime,
        ids: Sequence[str] | None = None,
        after: Cursor | None = None,
        limit: int | None = None,
    ) -> list[Record]:
        def read(connection: Connection) -> list[Record]:
            found = find_scopes(connection, scopes)
            moment = to_micros(where.as_of or now)
            if ids is not None:
                given = {"now": moment, **_lists(found, ids)}
                rows = _records_by_id(where).by_name(connection, given)
            else:
                rows = list_records(connection, found, where, now=moment, after=after, limit=limit)
            current = [record_from(row, found[row["scope_id"]]) for row in rows]
            if where.as_of is None:
                return current
            past = past_records(connection, found, where, moment, ids=ids, after=after)
            return in_order([*current, *past])[:limit]

        return await self._database.read(read, is_quick=_are_few(ids))

    async def turns(
        self,
        scopes: Sequence[Scope],
        where: Filter,
        *,
        ids: Sequence[str] | None = None,
        after: Cursor | None = None,
        limit: int | None = None,
    ) -> list[Turn]:
        def read(connection: Connection) -> list[Turn]:
            found = find_scopes(connection, scopes)
            if ids is not None:
                rows = _turns_by_id(where).by_name(connection, _lists(found, ids))
            else:
                rows = list_turns(connection, found, where, after=after, limit=limit)
            return [turn_from(row, found[row["scope_id"]]) for row in rows]

        return await self._database.read(read, is_quick=_are_few(ids))

    async def standings(
        self,
        scopes: Sequence[Scope],
        where: Filter,
        *,
        now: datetime,
        records: Sequence[str],
        turns: Sequence[str],
        whole: int,
    ) -> dict[str, Standing]:
        def read(connection: Connection) -> dict[str, Standing]:
            found = find_scopes(connection, scopes)
            others = _of_others(found, scopes[0])
            standings: dict[str, Standing] = {}
            given = {"now": to_micros(now), **_lists(found, records[:whole])}
            if records:
                rows = _records_in_any_order(where).by_name(connection, given)
                standings |= standings_of_records(rows, found, others)
            if len(records) > whole:
                given |= _lists(found, records[whole:])
                rows = _standings_of_records(where).rows(connection, given)
                standings |= standings_of_records(rows, None, others)
            if turns:
                rows = _turns_in_any_order(where).by_name(connection, _lists(found, turns))
                standings |= standings_of_turns(rows, found)
            return standings

        are_few = len(records) <= _FEW_STANDINGS and len(turns) <= _FEW
        return await self._database.read(read, is_quick=are_few)

    async def links(self, scopes: Sequence[Scope], ids: Sequence[str]) -> list[Link]:
        def read(connection: Connection) -> list[Link]:
            found = find_scopes(connection, scopes)
            rows = _LINKS.by_name(connection, _lists(found, ids))
            return [link_from(row, found[row["scope_id"]]) for row in rows]

        return await self._database.read(read, is_quick=_are_few(ids)) if ids else []

    async def history(self, scopes: Sequence[Scope], record_id: str) -> list[Version]:
        def read(connection: Connection) -> list[Version]:
            found = find_scopes(connection, scopes)
            table = schema.versions
            past = (
                select(table.c.body, table.c.scope_id, table.c.replaced_at)
                .where(table.c.record_id == record_id, table.c.scope_id.in_(found))
                .order_by(table.c.version)
            )
            current = select(schema.records).where(
                schema.records.c.id == record_id, schema.records.c.scope_id.in_(found)
            )
            return [
                version_from(past_row(row["body"]), found[row["scope_id"]], row["replaced_at"])
                for row in rows_of(connection, past)
            ] + [
                version_from(row, found[row["scope_id"]], None)
                for row in rows_of(connection, current)
            ]

        return await self._database.read(read)

    async def versions(self, scopes: Sequence[Scope]) -> tuple[int, ...]:
        return await self._database.read(
            lambda connection: read_versions(connection, scopes), is_quick=True
        )

    async def counts(self, scopes: Sequence[Scope]) -> StoreCounts:
        # The figures of a memory are many classes, which few processes need.
        from recollect.domain.stats import StoreCounts

        def read(connection: Connection) -> StoreCounts:
            found = find_scopes(connection, scopes)
            turns, units = schema.turns.c, schema.scopes.c
            by_kind, by_status = _tallies(connection, found)
            return StoreCounts(
                records=sum(by_kind.values()),
                by_kind=by_kind,
                by_status=by_status,
                turns=_number(connection, func.count(), turns.scope_id.in_(found)),
                sessions=_number(
                    connection, func.count(turns.session.distinct()), turns.scope_id.in_(found)
                ),
                units=_number(connection, func.sum(units.unit_count), units.id.in_(found)),
                links=_links_by_relation(connection, found),
            )

        return await self._database.read(read)

    async def close(self) -> None:
        await self._database.close()


_LINKS: Final = PreparedStatement(
    select(schema.links)
    .where(
        or_(schema.links.c.newer.in_(listed("ids")), schema.links.c.older.in_(listed("ids"))),
        # Adding nothing keeps SQLite from walking the scope's index instead of looking up the ids.
        (schema.links.c.scope_id + 0).in_(listed_numbers("scopes")),
    )
    .order_by(schema.links.c.at, schema.links.c.newer)
)


# Building a statement costs more than running it, so those of the common filters are kept.
@lru_cache(maxsize=KEPT_STATEMENTS)
def _records_by_id(where: Filter) -> PreparedStatement:
    table = schema.records.c
    return PreparedStatement(
        _records_statement(where).order_by(table.observed_at.desc(), table.id.desc())
    )


@lru_cache(maxsize=KEPT_STATEMENTS)
def _turns_by_id(where: Filter) -> PreparedStatement:
    table = schema.turns.c
    in_order = (
        (table.at.desc(), table.id.desc())
        if where.session is None
        else (table.ordinal.asc(), table.id.asc())
    )
    return PreparedStatement(_turns_statement(where).order_by(*in_order))


@lru_cache(maxsize=KEPT_STATEMENTS)
def _records_in_any_order(where: Filter) -> PreparedStatement:
    return PreparedStatement(_with_terms(_records_statement(where), schema.records))


@lru_cache(maxsize=KEPT_STATEMENTS)
def _standings_of_records(where: Filter) -> PreparedStatement:
    table = schema.records.c
    return PreparedStatement(
        _records_statement(where).with_only_columns(*(table[name] for name in STANDING))
    )


@lru_cache(maxsize=KEPT_STATEMENTS)
def _turns_in_any_order(where: Filter) -> PreparedStatement:
    """Turns with the terms of their units, each with the turn that it follows."""
    turns, before = schema.turns, schema.turns.alias()
    follows = and_(
        *(before.c[name] == turns.c[name] for name in ("scope_id", "session")),
        before.c.ordinal == turns.c.ordinal - 1,
    )
    columns = (column.label(BEFORE + column.name) for column in before.c)
    statement = _turns_statement(where).add_columns(*columns)
    return PreparedStatement(_with_terms(statement, turns, turns.outerjoin(before, follows)))


def _with_terms(
    statement: Select[*tuple[Any, ...]], owners: Table, beside: FromClause | None = None
) -> Select[*tuple[Any, ...]]:
    """Return the statement with the first unit of each owner, which stands for the whole text."""
    units = schema.units
    first = and_(units.c.owner_id == owners.c.id, units.c.ordinal == 0)
    from_all = (owners if beside is None else beside).outerjoin(units, first)
    return statement.add_columns(units.c.id.label("unit"), units.c.terms).select_from(from_all)


def _records_statement(where: Filter) -> Select[*tuple[Any, ...]]:
    return select(schema.records).where(_by_id(schema.records.c), records_where(where))


def _turns_statement(where: Filter) -> Select[*tuple[Any, ...]]:
    return select(schema.turns).where(_by_id(schema.turns.c), turns_where(where))


def _of_others(scopes: Mapping[int, Scope], own: Scope) -> set[int]:
    """Return those of these scopes that hold what other agents know: a caller's own comes first."""
    return {it for it, scope in scopes.items() if scope.agent not in (None, own.agent)}


def _lists(scopes: Iterable[int], ids: Sequence[str]) -> dict[str, Any]:
    return {"scopes": to_json(list(scopes)), "ids": to_json(list(ids))}


def _by_id(table: ReadOnlyColumnCollection[str, Column[Any]]) -> ColumnElement[bool]:
    """Rows with the given ids in the given scopes."""
    # Adding nothing keeps SQLite from walking the scope's index instead of looking up the ids.
    return and_(table.id.in_(listed("ids")), (table.scope_id + 0).in_(listed_numbers("scopes")))


def _tallies(
    connection: Connection, scopes: Collection[int]
) -> tuple[dict[str, int], dict[str, int]]:
    """Return how many records there are by kind and by status, of which there are any."""
    table = schema.records.c
    # One walk through the records, in which nothing is sorted as grouping would.
    kinds = select(
        *(count_where(table.kind == kind.value).label(kind.value) for kind in Kind)
    ).where(table.scope_id.in_(scopes))
    by_kind = {name: count for name, count in rows_of(connection, kinds)[0].items() if count}
    # Adding nothing lets SQLite find what is not active by its small index.
    others = (
        select(table.status, func.count())
        .where(NOT_ACTIVE, (table.scope_id + 0).in_(scopes))
        .group_by(table.status)
    )
    by_status = {row[0]: row[1] for row in connection.execute(others)}
    if active := sum(by_kind.values()) - sum(by_status.values()):
        by_status[Status.ACTIVE.value] = active
    return by_kind, by_status


def _links_by_relation(connection: Connection, scopes: Collection[int]) -> dict[str, int]:
    table = schema.links.c
    counted = select(table.relation, func.count()).where(table.scope_id.in_(scopes))
    return {row[0]: row[1] for row in connection.execute(counted.group_by(table.relation))}


def _number(connection: Connection, figure: ColumnElement[Any], where: ColumnElement[bool]) -> int:
    return int(connection.scalar(select(figure).where(where)) or 0)


def _is_small(changes: ChangeSet) -> bool:
    """Return whether a few records or turns are added or changed, and no more."""
    others = (
        *(changes.purged, changes.archives, changes.removed_archives),
        *(changes.documents, changes.removed_documents, changes.vectors),
    )
    return len(changes.units) <= _FEW_WRITTEN and not any(others)


def _are_few(ids: Sequence[str] | None) -> bool:
    return ids is not None and len(ids) <= _FEW


# --- Pages of records and turns in the order of their time, each read along an index --------------
#
# Asked for several scopes at once, SQLite reads and sorts all they have for every page. So each
# scope is asked for its own first rows, which its index has in order, and the first of all are
# taken.


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
def _statement(
    order: _Order, where: Filter, is_continued: bool, is_limited: bool
) -> PreparedStatement:
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
    return PreparedStatement(chosen.limit(bindparam("most", 0)) if is_limited else chosen)


def _has_few(where: Filter) -> bool:
    """Return whether an index by session or status finds the few records that match."""
    return where.session is not None or Status.ACTIVE not in where.statuses


# --- Records as they were at a past moment, of which there is a newer state now -------------------
#
# Each version of a record stood from one time to the next. What has not changed since is read as
# any current record is, so only what changed is looked for here.


_TABLE: Final = schema.versions.c
_STOOD: Final = select(_TABLE.body, _TABLE.scope_id).where(
    _TABLE.recorded_at <= bindparam("moment"), _TABLE.replaced_at > bindparam("moment")
)
_IN_SCOPES: Final = PreparedStatement(_STOOD.where(_TABLE.scope_id.in_(listed_numbers("scopes"))))
# Adding nothing keeps SQLite from walking the scope's index instead of looking up the ids.
_BY_ID: Final = PreparedStatement(
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
    """Return past versions that held then and pass the filter, after the cursor."""
    given = {"moment": moment, "scopes": to_json(list(scopes))}
    if ids is None:
        rows = _IN_SCOPES.rows(connection, given)
    else:
        rows = _BY_ID.rows(connection, {**given, "ids": to_json(list(ids))})
    known = (record_from(past_row(row["body"]), scopes[row["scope_id"]]) for row in rows)
    now = from_micros(moment)
    return [it for it in known if where.accepts_record(it, now) and _is_behind(it, after)]


def in_order(records: Iterable[Record]) -> list[Record]:
    """Return the records newest first, in the order of the database."""
    return sorted(records, key=_place, reverse=True)


def _is_behind(record: Record, after: Cursor | None) -> bool:
    return after is None or _place(record) < (after.at, after.id)


def _place(record: Record) -> tuple[int, str]:
    return to_micros(record.observed_at), record.id
