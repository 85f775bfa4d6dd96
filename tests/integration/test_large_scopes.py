"""What a large scope must not make slower: a page of it, and looking up a few of its things.

Counted in steps of SQLite's machine, which are the same however busy a computer is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection

from recollect import Memory
from recollect.backends.sql.database import Database
from recollect.backends.sql.listings import list_records, list_turns
from recollect.backends.sql.open_scope import units_of
from recollect.backends.sql.scopes import find_scopes, read_scopes
from recollect.domain.filters import Filter
from recollect.domain.page import Cursor
from recollect.domain.times import to_micros
from tests.conftest import TurnedClock

_SMALL, _LARGE = 60, 1_500
_LATER = 2**62

Work = Callable[[Connection, "_Scope"], object]


class _Scope:
    """A scope of some records and as many turns in one session, and places in their midst."""

    def __init__(self, memory: Memory, size: int) -> None:
        self.scope = memory.caller_scope
        self.record = Cursor(at=0, id="")
        self.turn = Cursor(at=0, id="")
        self.ordinal = Cursor(at=size // 2, id="")
        self.units: list[int] = []


def _rows(connection: Connection, scope: _Scope) -> list[int]:
    return list(find_scopes(connection, [scope.scope]))


def _records(connection: Connection, scope: _Scope, after: Cursor | None) -> object:
    scopes = _rows(connection, scope)
    return list_records(connection, scopes, Filter(), now=_LATER, after=after, limit=10)


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
    "the owners of a few units": lambda it, scope: units_of(it, scope.scope, scope.units),
}


async def _filled(path: Path, size: int) -> tuple[Database, _Scope]:
    clock = TurnedClock()
    async with Memory.open(path, clock=clock) as memory:
        scope = _Scope(memory, size)
        records = await memory.remember_many([f"note number {it}" for it in range(size)])
        said = [{"role": "user", "content": f"sentence number {it}"} for it in range(size)]
        turns = await memory.observe(said, session="talk")
        await memory.drain()
    middle = records[size // 2]
    scope.record = Cursor(at=to_micros(middle.observed_at), id=middle.id)
    scope.turn = Cursor(at=to_micros(turns[size // 2].at), id=turns[size // 2].id)
    database = Database(path)
    (row,) = await database.read(lambda it: read_scopes(it, [scope.scope]))
    scope.units = [row.last_unit, row.last_unit - 1, row.last_unit - 2]
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
