"""What a `UnitIndex` promises, on a real SQLite file that others write to."""

import asyncio
import itertools
import logging
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.backends.local import keyword_index
from recollect.backends.local.keyword_index import LocalKeywordIndex
from recollect.backends.local.unit_metadata import Catalogue
from recollect.backends.sql.database import Database
from recollect.backends.sql.store import SqlStore
from recollect.domain.filters import Filter
from recollect.domain.scope import Scope
from recollect.domain.unit import UNIT_OWNERS
from recollect.errors import StorageError
from recollect.ports.runtime import SystemClock
from recollect.ports.store import Store
from recollect.ports.units import Matches, UnitIndex
from recollect.testing import UnitsContract
from tests.database_servers import open_at
from tests.unit.backends.local.unit_writer import UnitWriter, fresh_scope

_NOW = datetime(2026, 3, 1, tzinfo=UTC)
_ANN = Scope(user="ann")
_BOB = Scope(user="bob")
_MEGABYTE = 1 << 20
_QUESTIONS = itertools.count()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_at(tmp_path / "units.db")
    yield opened
    opened.close_here()


@pytest.fixture
def writer(database: Database) -> UnitWriter:
    return UnitWriter(database)


@pytest.fixture
def index(database: Database) -> LocalKeywordIndex:
    return _index(database, _MEGABYTE)


@pytest.fixture(scope="module")
def shared_database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    opened = open_at(tmp_path_factory.mktemp("shared") / "units.db")
    yield opened
    opened.close_here()


def _index(database: Database, budget: int, **options: int) -> LocalKeywordIndex:
    return LocalKeywordIndex(database, Catalogue(_MEGABYTE), budget, **options)


class TestLocalKeywordIndex(UnitsContract):
    @pytest.fixture(params=[1, _MEGABYTE], ids=["in the database", "packed"])
    def units(self, request: pytest.FixtureRequest, database: Database) -> UnitIndex:
        return _index(database, request.param)

    @pytest.fixture
    def store(self, database: Database) -> Store:
        return SqlStore(database, SystemClock())


class UnitMatch(NamedTuple):
    """A row of the answer, as a value that can be compared."""

    unit: int
    owner_kind: str
    owner_id: str
    span: tuple[int, int]
    raw: float
    score: float


def _listed(matches: Matches) -> list[UnitMatch]:
    names = ("unit", "kind", "owner", "start", "end")
    columns = (matches.column(name).tolist() for name in names)
    return [
        UnitMatch(unit, UNIT_OWNERS[kind], owner, (start, end), raw, score)
        for unit, kind, owner, start, end, raw, score in zip(
            *columns, matches.raw, matches.scores, strict=True
        )
    ]


async def _search(
    index: UnitIndex, *terms: int, scopes: tuple[Scope, ...] = (_ANN,), within: Filter | None = None
) -> list[UnitMatch]:
    now = _NOW + timedelta(seconds=next(_QUESTIONS))
    return _listed(await index.search(scopes, terms, 10, now=now, within=within))


def _units(matches: list[UnitMatch]) -> list[int]:
    return [match.unit for match in matches]


@pytest.mark.parametrize("budget", [1, _MEGABYTE])
async def test_a_question_with_more_terms_than_sqlite_takes_parameters_is_answered(
    database, writer, budget
):
    (unit,) = writer.add(_ANN, [1, 2])
    index = _index(database, budget)
    assert _units(await _search(index, *range(33_000))) == [unit]


async def test_whatever_was_committed_before_a_search_is_seen_by_it(index, writer):
    (first,) = writer.add(_ANN, [1])
    assert _units(await _search(index, 1)) == [first]
    (second,) = writer.add(_ANN, [1, 1])
    assert _units(await _search(index, 1)) == [second, first]
    (third,) = writer.write(_ANN, add=[[1, 1, 1]], remove=[second])
    assert _units(await _search(index, 1)) == [third, first]
    writer.remove(_ANN, first, third)
    assert await _search(index, 1) == []


@pytest.mark.several_programs
async def test_what_another_program_commits_is_seen(index, writer, database):
    writer.add(_ANN, [1])
    assert len(await _search(index, 1)) == 1
    other = open_at(database.path)
    UnitWriter(other).add(_ANN, [1])
    other.close_here()
    assert len(await _search(index, 1)) == 2


async def test_searches_beside_a_writer_never_miss_what_was_there_when_they_began(index, writer):
    """A record that is replaced again and again is always found in one of its states."""
    (unit,) = writer.add(_ANN, [1])
    done = False

    def replace_often() -> None:
        nonlocal unit, done
        for _ in range(60):
            (unit,) = writer.write(_ANN, add=[[1]], remove=[unit])
        done = True

    async def search_often() -> int:
        for count in itertools.count(1):
            before = unit
            (match,) = await _search(index, 1)
            assert match.unit >= before
            if done:
                return count
        raise AssertionError

    counts = await asyncio.gather(
        asyncio.to_thread(replace_often), *(search_often() for _ in range(4))
    )
    assert sum(count or 0 for count in counts) > 4


@pytest.mark.sqlite(reason="a server is always read beside the event loop")
async def test_what_came_in_the_meantime_is_read_beside_the_event_loop_if_it_is_much(
    index, writer, monkeypatch
):
    searched_in: list[str] = []
    search = LocalKeywordIndex._search

    def noting(*given):
        searched_in.append(threading.current_thread().name)
        return search(*given)

    monkeypatch.setattr(LocalKeywordIndex, "_search", noting)
    here = threading.current_thread().name
    writer.add(_ANN, [1, 2], [1])
    assert len(await _search(index, 1)) == 2
    assert searched_in == [here]

    writer.add(_ANN, [1, *range(100, 40_000)])
    assert len(await _search(index, 1)) == 3
    assert here not in searched_in[1:]

    searched_in.clear()
    writer.add(_ANN, [1, 5])
    assert len(await _search(index, 1)) == 4
    assert searched_in == [here]


async def test_one_scope_does_not_see_another_nor_score_by_it(index, writer, database):
    writer.add(_ANN, [1, 2], [1], [3])
    alone = await _search(index, 1, 2, 3)
    writer.add(_BOB, *([1, 2, 3, place] for place in range(4, 40)))
    assert await _search(index, 1, 2, 3) == alone
    assert await _search(_index(database, _MEGABYTE), 1, 2, 3) == alone
    assert await _search(_index(database, 1), 1, 2, 3) == alone


async def test_a_large_scope_is_answered_at_once_and_packed_in_the_background(database, writer):
    index = _index(database, _MEGABYTE, at_once=10)
    writer.add(_ANN, *([1, 2 + place % 5] for place in range(20)))
    from_full_text = await _search(index, 1, 3)
    assert (len(from_full_text), index.stats().scopes) == (10, 0)
    # One question alone is not worth it, however often it is looked up.
    another_index = _index(database, _MEGABYTE, at_once=10)
    for _ in range(3):
        await another_index.search((_ANN,), (1, 3), 10, now=_NOW)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    async with asyncio.timeout(10):
        while not index.stats().scopes:
            assert await _search(index, 1, 3) == from_full_text
    assert index.stats().units == 20
    assert await _search(index, 1, 3) == from_full_text


async def test_a_large_scope_is_packed_at_once_when_many_searches_come(database, writer):
    index = _index(database, _MEGABYTE, at_once=10)
    writer.add(_ANN, *([1, 2 + place % 5] for place in range(20)))
    from_full_text = await _search(index, 1, 3)
    await index.expect_many((_ANN,))
    assert index.stats().units == 20
    assert await _search(index, 1, 3) == from_full_text


async def test_a_packed_scope_that_grew_much_is_packed_again_without_anybody_waiting(
    database, writer
):
    index = _index(database, _MEGABYTE, at_once=10)
    writer.add(_ANN, [1, 2])
    await _search(index, 1)
    assert index.stats().units == 1
    writer.add(_ANN, *([1, 2 + place % 5] for place in range(20)))
    assert len(await _search(index, 1)) == 10
    assert index.stats().units == 1
    async with asyncio.timeout(10):
        while index.stats().units != 21:
            assert len(await _search(index, 1)) == 10


async def test_a_scope_beyond_the_memory_budget_is_always_searched_in_the_database(
    database, writer
):
    index = _index(database, 100)
    units = writer.add(_ANN, *([1] * (1 + place) for place in range(9)))
    for _ in range(3):
        assert set(_units(await _search(index, 1))) == set(units)
    assert (index.stats().scopes, index.stats().bytes, index.stats().budget_bytes) == (0, 0, 100)


async def test_packing_that_fails_is_told_and_harms_nothing(
    database, writer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    index = _index(database, _MEGABYTE, at_once=1)
    units = writer.add(_ANN, [1], [1])

    def fail(*_: object) -> None:
        raise StorageError("The disk is gone")

    monkeypatch.setattr(keyword_index, "load", fail)
    with caplog.at_level(logging.WARNING):
        async with asyncio.timeout(10):
            while "The disk is gone" not in caplog.text:
                assert _units(await _search(index, 1)) == units


async def test_stats_tell_what_is_packed(index, writer):
    writer.add(_ANN, [1], [2])
    writer.add(_BOB, [1])
    await _search(index, 1)
    await _search(index, 1, scopes=(_BOB,))
    stats = index.stats()
    assert (stats.scopes, stats.units, stats.budget_bytes) == (2, 3, _MEGABYTE)
    assert 0 < stats.bytes < 1_000


_TEXTS = st.lists(st.lists(st.integers(1, 12), max_size=8), max_size=5)


@settings(max_examples=20, deadline=None)
@given(
    commits=st.lists(st.tuples(_TEXTS, st.integers(0, 4)), min_size=1, max_size=5),
    query=st.lists(st.integers(1, 14), min_size=1, max_size=6),
)
def test_an_index_that_followed_equals_one_rebuilt_and_one_without_memory(
    shared_database: Database, commits, query
):
    writer, scope = UnitWriter(shared_database), fresh_scope()
    followed = _index(shared_database, _MEGABYTE)
    left: list[int] = []

    def answer(index: LocalKeywordIndex) -> list[UnitMatch]:
        return asyncio.run(_search(index, *query, scopes=(scope,)))

    for texts, removals in commits:
        removed, left = left[:removals], left[removals:]
        left += writer.write(scope, add=texts, remove=removed)
        found = answer(followed)
        assert found == answer(_index(shared_database, _MEGABYTE))
        assert found == answer(_index(shared_database, 1))
        assert all(0 < match.score <= 1 for match in found)
        assert {match.unit for match in found} <= set(left)
