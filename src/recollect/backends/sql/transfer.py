"""Whole histories out of a SQL database and into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar

from sqlalchemy import Column, Connection, Select, func, insert, select, true, tuple_

from recollect.backends.sql import schema
from recollect.backends.sql.commit import Commit
from recollect.backends.sql.database import Database
from recollect.backends.sql.rows import (
    Row,
    past_row,
    record_row,
    rows_of,
    scope_key,
    to_json,
    turn_from,
    turn_row,
    version_from,
)
from recollect.backends.sql.scopes import find_scopes, scopes_by_id
from recollect.domain.change import ChangeSet, RecordChange
from recollect.domain.record import Version
from recollect.domain.scope import Scope
from recollect.domain.times import to_micros
from recollect.domain.transfer import ExportCounts, Item, RecordHistory
from recollect.domain.turn import Turn
from recollect.ports.clock import Clock
from recollect.ports.transfer import Arrival, Outcome, Snapshot

T = TypeVar("T")
_Place = tuple[Scope, str, int]

_PAGE: Final = 200
_PRINCIPAL: Final = "import"


class SqlTransfer:
    """Reads in one transaction, so that an export is one moment; writes a batch in one."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def read(self, scopes: Sequence[Scope] | None, take: Callable[[Snapshot], T]) -> T:
        return await self._database.read(lambda connection: take(_snapshot(connection, scopes)))

    async def add(self, arrivals: Sequence[Arrival]) -> list[Outcome]:
        return await self._database.write(
            lambda connection: _add(connection, arrivals, self._clock.now())
        )


def _snapshot(connection: Connection, scopes: Sequence[Scope] | None) -> Snapshot:
    found = None if scopes is None else find_scopes(connection, scopes)
    records = _count(connection, schema.records.c.scope_id, found)
    return Snapshot(
        schema=schema.HEAD_REVISION,
        counts=ExportCounts(
            records=records,
            versions=records + _count(connection, schema.versions.c.scope_id, found),
            turns=_count(connection, schema.turns.c.scope_id, found),
        ),
        items=_items(connection, found),
    )


def _count(connection: Connection, scope_id: Column[int], found: Mapping[int, Scope] | None) -> int:
    within = true() if found is None else scope_id.in_(found)
    return connection.scalar(select(func.count()).select_from(scope_id.table).where(within)) or 0


def _items(connection: Connection, found: Mapping[int, Scope] | None) -> Iterator[Item]:
    """Scope after scope in the order of their names, since their ids differ between databases."""
    for scope_id, scope in _in_order(connection, found):
        scopes = {scope_id: scope}
        records = schema.records.c
        of_scope = select(schema.records).where(records.scope_id == scope_id)
        for rows in _pages(connection, of_scope, records.observed_at, records.id):
            yield from _histories(connection, rows, scopes)
        turns = schema.turns.c
        of_scope = select(schema.turns).where(turns.scope_id == scope_id)
        for rows in _pages(connection, of_scope, turns.session, turns.ordinal):
            yield from (turn_from(row, scope) for row in rows)


def _in_order(
    connection: Connection, found: Mapping[int, Scope] | None
) -> Iterator[tuple[int, Scope]]:
    if found is not None:
        yield from sorted(found.items(), key=lambda pair: tuple(scope_key(pair[1]).values()))
        return
    table = schema.scopes.c
    key = (table.org, table.workspace, table.agent, table.user)
    for rows in _pages(connection, select(schema.scopes), *key):
        scopes = scopes_by_id(connection, [row["id"] for row in rows])
        yield from ((row["id"], scopes[row["id"]]) for row in rows)


def _pages(
    connection: Connection, statement: Select[Any], *place: Column[Any]
) -> Iterator[Sequence[Row]]:
    """Pages of a query in the order of `place`, which no two rows share."""
    page = statement.order_by(*place).limit(_PAGE)
    rows = rows_of(connection, page)
    while rows:
        yield rows
        after = [rows[-1][column.name] for column in place]
        rows = rows_of(connection, page.where(tuple_(*place) > after)) if len(rows) == _PAGE else ()


def _histories(
    connection: Connection, rows: Sequence[Row], scopes: Mapping[int, Scope]
) -> Iterator[RecordHistory]:
    """The records of these rows with their past versions."""
    table = schema.versions.c
    changed = [row["id"] for row in rows if row["version"] > 1]
    past: dict[str, list[Version]] = {}
    if changed:
        statement = select(schema.versions).where(table.record_id.in_(changed))
        for row in rows_of(connection, statement.order_by(table.record_id, table.version)):
            version = version_from(
                past_row(row["body"]), scopes[row["scope_id"]], row["replaced_at"]
            )
            past.setdefault(row["record_id"], []).append(version)
    for row in rows:
        current = version_from(row, scopes[row["scope_id"]], None)
        yield RecordHistory(versions=(*past.get(row["id"], ()), current))


def _add(connection: Connection, arrivals: Sequence[Arrival], now: datetime) -> list[Outcome]:
    known = _known(connection, [arrival.item for arrival in arrivals])
    outcomes = [known.meet(arrival.item) for arrival in arrivals]
    new = [
        arrival
        for arrival, outcome in zip(arrivals, outcomes, strict=True)
        if outcome is Outcome.ADDED
    ]
    if new:
        arriving = _Arriving(connection, new, now)
        arriving.write_turns()
        arriving.write_records()
        arriving.write_units()
        arriving.write_audit("import")
        arriving.close()
    return outcomes


@dataclass(slots=True)
class _Known:
    """What is stored under the ids and in the places of a batch, growing as it is gone through."""

    histories: dict[str, RecordHistory]
    turns: dict[str, Turn]
    places: set[_Place]
    forgotten: set[str]

    def meet(self, item: Item) -> Outcome:
        ident = item.current.id if isinstance(item, RecordHistory) else item.id
        if ident in self.forgotten:
            return Outcome.FORGOTTEN
        if isinstance(item, RecordHistory):
            history = self.histories.setdefault(item.current.id, item)
            if history is item:
                return Outcome.ADDED
            return Outcome.UNCHANGED if history.holds(item) else Outcome.ID_TAKEN
        turn = self.turns.get(item.id)
        if turn is not None:
            return Outcome.UNCHANGED if turn == item else Outcome.ID_TAKEN
        if _place(item) in self.places:
            return Outcome.PLACE_TAKEN
        self.turns[item.id] = item
        self.places.add(_place(item))
        return Outcome.ADDED


def _known(connection: Connection, items: Sequence[Item]) -> _Known:
    records, turns = schema.records, schema.turns
    record_ids = [item.current.id for item in items if isinstance(item, RecordHistory)]
    arrived = [item for item in items if isinstance(item, Turn)]
    record_rows = rows_of(connection, select(records).where(records.c.id.in_(record_ids)))
    turn_rows = rows_of(
        connection, select(turns).where(turns.c.id.in_([turn.id for turn in arrived]))
    )
    scopes = scopes_by_id(connection, {row["scope_id"] for row in (*record_rows, *turn_rows)})
    histories = _histories(connection, record_rows, scopes)
    stones = schema.tombstones.c.id
    ids = [*record_ids, *(turn.id for turn in arrived)]
    return _Known(
        histories={history.current.id: history for history in histories},
        turns={row["id"]: turn_from(row, scopes[row["scope_id"]]) for row in turn_rows},
        places=_taken_places(connection, arrived),
        forgotten=set(connection.scalars(select(stones).where(stones.in_(ids)))),
    )


def _taken_places(connection: Connection, arrived: Sequence[Turn]) -> set[_Place]:
    scopes = find_scopes(connection, list({turn.scope for turn in arrived}))
    ids = {scope: scope_id for scope_id, scope in scopes.items()}
    wanted = [(ids[it.scope], it.session, it.ordinal) for it in arrived if it.scope in ids]
    table = schema.turns.c
    place = (table.scope_id, table.session, table.ordinal)
    rows = connection.execute(select(*place).where(tuple_(*place).in_(wanted)))
    return {(scopes[scope_id], session, ordinal) for scope_id, session, ordinal in rows}


def _place(turn: Turn) -> _Place:
    return turn.scope, turn.session, turn.ordinal


class _Arriving(Commit):
    """A change set of things that bring their own times, versions and places along."""

    def __init__(self, connection: Connection, arrivals: Sequence[Arrival], now: datetime) -> None:
        items = [arrival.item for arrival in arrivals]
        self._histories = [item for item in items if isinstance(item, RecordHistory)]
        changes = ChangeSet(
            principal=_PRINCIPAL,
            scope=arrivals[0].units.scope,
            records=tuple(RecordChange(record=history.current) for history in self._histories),
            turns=tuple(item for item in items if isinstance(item, Turn)),
            units=tuple(arrival.units for arrival in arrivals),
        )
        super().__init__(connection, changes, now)

    def write_turns(self) -> None:
        rows: list[dict[str, Any]] = []
        for turn in self._changes.turns:
            scope = self._scope(turn.scope)
            scope.changes.append(("turn", turn.id, "put"))
            rows.append(turn_row(turn, scope.id))
        if rows:
            self._connection.execute(insert(schema.turns), rows)

    def write_records(self) -> None:
        current: list[dict[str, Any]] = []
        past: list[dict[str, Any]] = []
        for history in self._histories:
            scope = self._scope(history.current.scope)
            scope.changes.append(("record", history.current.id, "put"))
            current.append(_row(history.versions[-1], scope.id))
            past.extend(_past_row(version, scope.id) for version in history.versions[:-1])
        if current:
            self._connection.execute(insert(schema.records), current)
            self._insert_tags(history.current for history in self._histories)
        if past:
            self._connection.execute(insert(schema.versions), past)


def _row(version: Version, scope_id: int) -> dict[str, Any]:
    return record_row(version.record, scope_id, version.changed_by, version.reason)


def _past_row(version: Version, scope_id: int) -> dict[str, Any]:
    assert version.replaced_at is not None
    row = _row(version, scope_id)
    return {
        "record_id": version.record.id,
        "version": version.number,
        "scope_id": scope_id,
        "recorded_at": row["recorded_at"],
        "replaced_at": to_micros(version.replaced_at),
        "body": to_json({column.name: row[column.name] for column in schema.records.c}),
    }
