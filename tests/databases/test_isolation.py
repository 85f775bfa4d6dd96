"""What the memory asks of a server so that several may write: snapshots, and locks of rows."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from struct import pack

import pytest
from sqlalchemy import Connection, select, update

from recollect.backends.sql.database import Database
from recollect.backends.sql.dialects import dialect_of
from recollect.backends.sql.dialects.server import SEAL, counters, lock_counter
from tests.database_servers import open_at

pytestmark = pytest.mark.server

_SPACE = 1
_KEY = 77
_TERMS = pack("<Q", _KEY)
_NAMES = select(counters.c.name).order_by(counters.c.name)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_at(tmp_path / "any.db")
    yield opened
    opened.close_here()


def _seal(connection: Connection) -> int:
    return connection.execute(select(counters.c.value).where(counters.c.name == SEAL)).scalar_one()


def _set_seal(connection: Connection, value: int) -> None:
    connection.execute(update(counters).where(counters.c.name == SEAL).values(value=value))


def _units(connection: Connection) -> list[int]:
    return dialect_of(connection).newest_with(connection, _SPACE, [_KEY], 10)


def _add(connection: Connection, unit: int) -> None:
    dialect_of(connection).add_tokens(connection, _SPACE, [(unit, _TERMS)])


def _remove(connection: Connection, unit: int) -> None:
    dialect_of(connection).remove_tokens(connection, _SPACE, [(unit, _TERMS)])


def test_a_read_sees_one_moment_however_much_is_written_meanwhile(database: Database):
    database.write_here(lambda it: _add(it, 1))

    def change(connection: Connection) -> None:
        _set_seal(connection, 5)
        _remove(connection, 1)

    def read(connection: Connection) -> list[object]:
        before = [_seal(connection), _units(connection)]
        database.write_here(change)
        return [before, [_seal(connection), _units(connection)]]

    assert database.read_here(read) == [[0, [1]], [0, [1]]]
    assert database.read_here(lambda it: [_seal(it), _units(it)]) == [5, []]


def test_the_full_text_goes_with_its_transaction(database: Database):
    def write(connection: Connection) -> list[list[int]]:
        _add(connection, 1)
        others = database.read_here(_units)
        connection.rollback()
        return [others, database.read_here(_units)]

    assert database.write_here(write) == [[], []]
    database.write_here(lambda it: _add(it, 2))
    assert database.read_here(_units) == [2]


def test_who_locks_a_row_sees_what_the_one_before_has_written(database: Database):
    def raise_seal(connection: Connection) -> None:
        lock_counter(connection, SEAL)
        _set_seal(connection, _seal(connection) + 1)

    with ThreadPoolExecutor(6) as threads:
        done = [threads.submit(database.write_here, raise_seal) for _ in range(90)]
    assert [it.result() for it in done] == [None] * 90
    assert database.read_here(_seal) == 90


def test_who_skips_locked_rows_waits_for_none(database: Database):
    every = database.read_here(lambda it: list(it.scalars(_NAMES)))

    def look(connection: Connection) -> list[str]:
        lock_counter(connection, SEAL)
        free = _NAMES.with_for_update(skip_locked=True)
        return database.write_here(lambda it: list(it.scalars(free)))

    assert database.write_here(look) == [name for name in every if name != SEAL]


def test_two_that_wait_for_each_other_both_succeed(database: Database):
    names = database.read_here(lambda it: list(it.scalars(_NAMES)))
    both_hold_one = threading.Barrier(2)
    has_waited = set[str]()

    def lock(connection: Connection, first: str, second: str) -> None:
        lock_counter(connection, first)
        if first not in has_waited:
            has_waited.add(first)
            both_hold_one.wait(30)
        lock_counter(connection, second)
        _set_seal(connection, _seal(connection) + 1)

    with ThreadPoolExecutor(2) as threads:
        done = [
            threads.submit(database.write_here, lambda it, pair=pair: lock(it, *pair))
            for pair in ((SEAL, names[0]), (names[0], SEAL))
        ]
    assert [it.result() for it in done] == [None, None]
    assert database.read_here(_seal) == 2


@pytest.mark.soak
def test_a_statement_may_take_longer_than_ten_seconds(database: Database):
    def wait(connection: Connection) -> int:
        is_postgresql = connection.dialect.name == "postgresql"
        connection.exec_driver_sql("SELECT pg_sleep(12)" if is_postgresql else "SELECT SLEEP(12)")
        return _seal(connection)

    assert database.read_here(wait) == 0
