"""What a large scope must not make slower: a page of it, and looking up a few of its things.

What has to go through all of it does so once, and nothing that is analysed is analysed again.

Counted in steps of SQLite's machine, which are the same however busy a computer is.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import pytest
from sqlalchemy import Connection, func, select

from recollect import Memory
from recollect.backends.local.filtered_search import best_within
from recollect.backends.local.keyword_index import LocalKeywordIndex
from recollect.backends.local.ranking import Ranking
from recollect.backends.local.unit_rows import read_accepted, read_allowed
from recollect.backends.sql import schema
from recollect.backends.sql.commit import units_of
from recollect.backends.sql.database import Database
from recollect.backends.sql.rows import Row
from recollect.backends.sql.scopes import find_scopes, read_scopes
from recollect.backends.sql.store import SqlStore, list_records, list_turns
from recollect.domain.fields import Draft
from recollect.domain.filters import Filter
from recollect.domain.page import Cursor
from recollect.domain.record import Record, Status
from recollect.domain.scope import Scope
from recollect.domain.times import from_micros, to_micros
from recollect.domain.turn import Turn
from recollect.domain.upkeep import Selection
from recollect.erasure import audit_entries
from recollect.erasure.audit_entries import erase_audit_of
from recollect.health.figures import SqlHealth
from recollect.ports.units import Matches
from recollect.recall import scan
from recollect.retention.rows import SqlRetention
from tests.conftest import TurnedClock
from tests.database_servers import open_at

_SMALL, _LARGE = 60, 1_500
_FEW = 3
_LATER = 2**62
_FAR = to_micros(datetime(2200, 1, 1, tzinfo=UTC))
_OFTEN = Filter(tags=frozenset({"often"}))

T = TypeVar("T")
Work = Callable[[Connection, "_Scope"], object]


class _Scope:
    """A scope of some records and as many turns in one session, and places in their midst."""

    def __init__(self, memory: Memory, size: int) -> None:
        self.scope = memory.caller_scope
        self.record = Cursor(at=0, id="")
        self.turn = Cursor(at=0, id="")
        self.ordinal = Cursor(at=size // 2, id="")
        self.units: list[int] = []
        self.known = from_micros(0)
        self.tagged: list[str] = []


class _Here:
    """A database in whose place one connection stands."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def read(self, work: Callable[[Connection], T], *, is_quick: bool = False) -> T:
        return work(self._connection)


def _asked(connection: Connection, ask: Callable[[Database], Coroutine[Any, Any, T]]) -> T:
    return asyncio.run(ask(cast("Database", _Here(connection))))


def _rows(connection: Connection, scope: _Scope) -> list[int]:
    return list(find_scopes(connection, [scope.scope]))


def _records(connection: Connection, scope: _Scope, after: Cursor | None) -> object:
    scopes = _rows(connection, scope)
    return list_records(connection, scopes, Filter(), now=_LATER, after=after, limit=10)


def _few(connection: Connection, scope: _Scope, where: Filter) -> object:
    scopes = _rows(connection, scope)
    found = list_records(connection, scopes, where, now=_LATER, after=None, limit=10)
    assert len(found) == _FEW
    return found


def _selected(connection: Connection, scope: _Scope, selection: Selection) -> object:
    found = _asked(connection, lambda it: SqlRetention(it).select(selection, limit=10))
    assert len(found) == _FEW
    return found


def _as_of(connection: Connection, scope: _Scope) -> list[Record]:
    where = Filter(as_of=scope.known)
    return _asked(
        connection,
        lambda it: SqlStore(it, TurnedClock()).records(
            [scope.scope], where, now=scope.known, limit=10
        ),
    )


def _tagged(connection: Connection, scope: _Scope) -> object:
    given = _OFTEN
    ask = SqlStore.records
    return _asked(
        connection,
        lambda it: ask(
            SqlStore(it, TurnedClock()), [scope.scope], given, now=scope.known, ids=scope.tagged
        ),
    )


def _all_units(connection: Connection, scope: _Scope) -> Ranking:
    """Every unit of the scope, with a score that has nothing to do with what it says."""
    (row,) = read_scopes(connection, [scope.scope])
    numbers = row.numbers()
    units = np.arange(numbers["first"], numbers["last"] + 1)
    return Ranking(units, units * 7919 % 101 / 101)


def _turns(
    connection: Connection, scope: _Scope, after: Cursor | None, session: str | None = None
) -> object:
    scopes = _rows(connection, scope)
    return list_turns(connection, scopes, Filter(session=session), after=after, limit=10)


_WORKS: dict[str, Work] = {
    "the latest records": lambda it, scope: _records(it, scope, None),
    "records from the midst": lambda it, scope: _records(it, scope, scope.record),
    "the latest turns": lambda it, scope: _turns(it, scope, None),
    "turns from the midst": lambda it, scope: _turns(it, scope, scope.turn),
    "the first turns of a session": lambda it, scope: _turns(it, scope, None, "talk"),
    "turns of a session from the midst": lambda it, scope: _turns(it, scope, scope.ordinal, "talk"),
    "the few records of a session": lambda it, scope: _few(it, scope, Filter(session="rare")),
    "the few records that are deleted": lambda it, scope: _few(
        it, scope, Filter(statuses=frozenset({Status.DELETED}))
    ),
    "what upkeep finds by its status": lambda it, scope: _selected(
        it, scope, Selection(scopes=(scope.scope,), statuses=frozenset({Status.DELETED}))
    ),
    "what upkeep finds past its time": lambda it, scope: _selected(
        it, scope, Selection(scopes=(scope.scope,), expires_by=from_micros(_FAR))
    ),
    "the latest records as of a moment": _as_of,
    "a few records with a tag that many have": _tagged,
    "the latest records with a tag that many have": lambda it, scope: list_records(
        it, _rows(it, scope), _OFTEN, now=_LATER, after=None, limit=10
    ),
    "which of a few units have such a tag": lambda it, scope: read_accepted(
        it, np.array(scope.units), _OFTEN, scope.known
    ).tolist(),
    "the best inside a filter that many pass": lambda it, scope: best_within(
        it, _all_units(it, scope), _OFTEN, scope.known, 10
    ),
    "the owners of a few units": lambda it, scope: units_of(it, scope.scope, scope.units),
}


async def _filled(path: Path, size: int) -> tuple[Database, _Scope]:
    clock = TurnedClock()
    async with Memory.open(path, clock=clock) as memory:
        scope = _Scope(memory, size)
        deleted = await memory.remember_many([f"a mistake {it}" for it in range(_FEW)])
        for record in deleted:
            await memory.delete(record.id)
        soon = clock.now() + timedelta(days=1)
        await memory.remember_many(
            [{"content": f"for a day {it}", "expires_at": soon} for it in range(_FEW)]
        )
        await memory.remember_many(
            [{"content": f"of a session {it}", "session": "rare"} for it in range(_FEW)]
        )
        notes = [Draft(content=f"note number {it}", tags=["often"]) for it in range(size)]
        records = await memory.remember_many(notes)
        scope.tagged = [record.id for record in records[:_FEW]]
        scope.known = clock.now()
        said = [{"role": "user", "content": f"sentence {it}?"} for it in range(size)]
        turns = await memory.observe(said, session="talk")
        await memory.drain()
    middle = records[size // 2]
    scope.record = Cursor(at=to_micros(middle.observed_at), id=middle.id)
    scope.turn = Cursor(at=to_micros(turns[size // 2].at), id=turns[size // 2].id)
    database = open_at(path)
    (row,) = await database.read(lambda it: read_scopes(it, [scope.scope]))
    # Those of the notes: the turns came after them.
    scope.units = [row.last_unit - size - it for it in range(_FEW)]
    return database, scope


def _steps(connection: Connection, scope: _Scope, work: Work) -> int:
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    driver.set_progress_handler(count, 10)
    found = work(connection, scope)
    driver.set_progress_handler(None, 0)
    assert found, "it must find something"
    return steps


@pytest.mark.sqlite(reason="it counts the steps of SQLite's machine")
async def test_a_large_scope_takes_no_more_steps_than_a_small_one(tmp_path: Path):
    steps: dict[int, dict[str, int]] = {}
    for size in (_SMALL, _LARGE):
        database, scope = await _filled(tmp_path / f"{size}.db", size)
        steps[size] = {
            name: await database.read(lambda it, work=work, scope=scope: _steps(it, scope, work))
            for name, work in _WORKS.items()
        }
        await database.close()

    slower = {it: (few, steps[_LARGE][it]) for it, few in steps[_SMALL].items()}
    assert all(many <= 1.5 * few + 5 for few, many in slower.values()), slower


async def test_the_best_inside_a_filter_are_the_same_wherever_they_are_looked_for(tmp_path: Path):
    database, scope = await _filled(tmp_path / "memory.db", _SMALL)

    def compare(connection: Connection) -> None:
        (row,) = read_scopes(connection, [scope.scope])
        ranking = _all_units(connection, scope)
        allowed = read_allowed(connection, row, _OFTEN, scope.known)
        for limit in (1, 10, len(allowed)):
            best = best_within(connection, ranking, _OFTEN, scope.known, limit)
            assert best is not None
            assert best.units.tolist() == ranking.only(allowed).top(limit).units.tolist()
        rare = Filter(tags=frozenset({"never"}))
        assert best_within(connection, ranking, rare, scope.known, 10) is None

    await database.read(compare)
    await database.close()


@pytest.mark.sqlite(reason="it counts the steps of SQLite's machine")
async def test_what_counts_all_records_walks_through_them_once(tmp_path: Path):
    database, scope = await _filled(tmp_path / "memory.db", _LARGE)
    records = schema.records.c

    def once(connection: Connection, scope: _Scope) -> object:
        here = records.scope_id.in_(_rows(connection, scope))
        return connection.scalar(select(func.count()).where(here, records.kind == "semantic"))

    def counts(connection: Connection, scope: _Scope) -> object:
        return _asked(connection, lambda it: SqlStore(it, TurnedClock()).counts([scope.scope]))

    def figures(connection: Connection, scope: _Scope) -> object:
        return _asked(connection, lambda it: SqlHealth(it).figures([scope.scope], now=scope.known))

    walk = await database.read(lambda it: _steps(it, scope, once))
    for work in (counts, figures):
        # Several things are counted in that walk, and the turns beside it.
        taken = await database.read(lambda it, work=work: _steps(it, scope, work))
        assert taken < 5 * walk, (work.__name__, taken, walk)
    await database.close()


async def test_health_makes_ready_before_it_searches_many_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    told: list[str] = []
    search = LocalKeywordIndex.search

    async def expect_many(index: LocalKeywordIndex, scopes: Sequence[Scope]) -> None:
        told.append("ready")

    async def searched(index: LocalKeywordIndex, *given: Any, **named: Any) -> Matches:
        told.append("search")
        return await search(index, *given, **named)

    async with Memory.open(tmp_path / "memory.db") as memory:
        await memory.remember_many([f"note number {it}" for it in range(_SMALL)])
        monkeypatch.setattr(LocalKeywordIndex, "expect_many", expect_many)
        monkeypatch.setattr(LocalKeywordIndex, "search", searched)
        await memory.upkeep.health()

    assert told == ["ready", *["search"] * _SMALL]


async def test_what_is_forgotten_of_the_audit_is_found_by_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    read: list[object] = []
    path = tmp_path / "memory.db"
    async with Memory.open(path, clock=TurnedClock()) as memory:
        for number in range(_FEW * 10):
            await memory.remember(f"note number {number}")
        last = await memory.remember("a note that goes")
        scope = memory.caller_scope
    database = open_at(path)
    named = audit_entries._named  # pyright: ignore[reportPrivateUsage]

    def counted(row: Row) -> set[str]:
        read.append(row)
        return named(row)

    monkeypatch.setattr(audit_entries, "_named", counted)

    def erase(connection: Connection) -> int:
        scopes = list(find_scopes(connection, [scope]))
        return erase_audit_of(connection, scopes, naming={last.id}, forget_id="forget_1", now=1)

    assert await database.write(erase) == 1
    assert len(read) == 1
    await database.close()


async def test_a_question_about_the_past_reads_again_only_what_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    clock = TurnedClock()
    async with Memory.open(tmp_path / "memory.db", clock=clock) as memory:
        notes = [f"the heron number {it} stands in the river" for it in range(20)]
        records = await memory.remember_many(notes)
        await memory.observe({"role": "user", "content": "a heron was here"}, session="talk")
        before = clock.now()
        clock.turn(seconds=60)
        await memory.update(records[4].id, "an otter swims in the river")
        clock.turn(seconds=60)
        analysed: list[str] = []
        record_units = scan.record_units

        def counted(record: Record, *, hidden: bool = False) -> object:
            analysed.append(record.id)
            return record_units(record, hidden=hidden)

        def never(turn: Turn) -> object:
            raise AssertionError(turn)

        monkeypatch.setattr(scan, "record_units", counted)
        monkeypatch.setattr(scan, "turn_units", never)

        found = await memory.recall("heron river", as_of=before, limit=30, min_score=0)

    assert analysed == [records[4].id]
    assert {hit.id for hit in found} >= {record.id for record in records}
