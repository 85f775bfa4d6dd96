"""The full text follows large scopes in steps, and a search through it misses nothing."""

from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Connection, text

from recollect import Memory
from recollect.backends.local.bm25 import Weights
from recollect.backends.local.keyword_index import FullTextSearch, load
from recollect.backends.local.postings import PackedSearch
from recollect.backends.sql import commit
from recollect.backends.sql.dialects import dialect_of
from recollect.backends.sql.scopes import ScopeRow, read_scopes
from recollect.domain.scope import Scope
from recollect.health.deep_check import IndexFault, Sample, index_faults, mend
from recollect.language.analysis import query_terms, term_key
from tests.database_servers import Running, open_at

_QUESTIONS = ("Where does parcel 7 lie?", "包裹放在哪个柜子里", "the blue shelf", "shelf 39 moved")


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scope is large with a few texts, and some of them are always behind."""
    monkeypatch.setattr(commit, "_LARGE_SCOPE_TERMS", 60)
    monkeypatch.setattr(commit, "_BEHIND", 7)


async def _move_parcels(memory: Memory) -> Scope:
    records = [
        await memory.remember(f"Parcel {number} lies on the blue shelf {number % 5}")
        for number in range(40)
    ]
    kept = [record.id for record in records]
    await memory.remember_many([f"第{number}号包裹放在柜子里" for number in range(10)])
    for number in (3, 38, 39):
        await memory.update(kept[number], f"Parcel {number} moved to shelf 39")
    for number in (5, 37):
        await memory.delete(kept[number])
        await memory.purge(kept[number])
    return records[0].scope


@pytest.mark.usefixtures("small_steps")
async def test_what_is_in_the_full_text_and_what_is_not_yet_are_found_alike(database_path: Path):
    async with Memory.open(database_path) as memory:
        scope = await _move_parcels(memory)
    database = open_at(database_path)

    def compare(connection: Connection) -> ScopeRow:
        (row,) = read_scopes(connection, [scope])
        for question in _QUESTIONS:
            keys = np.array([*map(term_key, query_terms(question))], np.uint64)
            packed = PackedSearch(load(connection, row).postings, keys)
            full_text = FullTextSearch(connection, row, keys)
            assert full_text.statistics == packed.statistics
            weights = Weights(packed.statistics)
            expected, found = (it.score(weights).top(100) for it in (packed, full_text))
            assert found.units.tolist() == expected.units.tolist()
            assert found.scores.tolist() == expected.scores.tolist()
        return row

    try:
        row = database.read_here(compare)
    finally:
        database.close_here()
    assert 0 < row.full_text_to < row.next_unit - 1


async def test_a_small_scope_is_in_no_full_text(database_path: Path):
    async with Memory.open(database_path) as memory:
        scope = await _move_parcels(memory)
        assert await memory.recall("Where does parcel 8 lie?")
    database = open_at(database_path)
    table = "unit_vocabulary" if Running.server is None else "unit_tokens"
    count = text(f"SELECT count(*) FROM {table}")
    try:
        assert database.read_here(lambda connection: connection.scalar(count)) == 0
        rows = database.read_here(lambda connection: read_scopes(connection, [scope]))
        assert [row.full_text_to for row in rows] == [0]
    finally:
        database.close_here()


@pytest.mark.usefixtures("small_steps")
async def test_a_full_text_that_is_not_that_of_its_units_is_found_and_made_anew(
    database_path: Path,
):
    async with Memory.open(database_path) as memory:
        await _move_parcels(memory)
    database = open_at(database_path)

    def faults() -> list[IndexFault]:
        return database.read_here(lambda it: [*index_faults(it, Sample(0), lambda *_: None)])

    try:
        assert faults() == []
        database.write_here(lambda it: dialect_of(it).clear_tokens(it))
        (fault,) = faults()
        assert "the full text" in fault.message
        database.write_here(lambda it: mend(it, [fault]))
        assert faults() == []
    finally:
        database.close_here()
