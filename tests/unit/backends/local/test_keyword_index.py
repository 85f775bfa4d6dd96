"""Both ways to search a scope give the same answer, and both keep up with what is written."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from recollect.backends.local import keyword_index
from recollect.backends.local.bm25 import Weights
from recollect.backends.local.keyword_index import (
    FullTextSearch,
    PackedScope,
    PackedScopes,
    ScopeSearch,
    follow,
    load,
)
from recollect.backends.local.postings import PackedSearch, most_bytes
from recollect.backends.sql.database import Database
from recollect.backends.sql.scopes import AGENTS_OF, ScopeRow, find_scopes, read_scopes
from recollect.domain.scope import Scope
from tests.unit.backends.local.unit_writer import UnitWriter, fresh_scope

_TEXTS = st.lists(st.lists(st.integers(1, 12), max_size=8), max_size=6)
_COMMITS = st.lists(st.tuples(_TEXTS, st.integers(0, 5)), min_size=1, max_size=6)
_QUERY = st.lists(st.integers(1, 14), min_size=1, max_size=6, unique=True)
_MEGABYTE = 1 << 20


def _row(connection: Connection, scope: Scope) -> ScopeRow:
    (row,) = read_scopes(connection, [scope])
    return row


def _answer(search: ScopeSearch, allowed: list[int] | None = None):
    statistics = search.statistics
    if not statistics.units:
        return statistics, [], []
    among = None if allowed is None else np.array(allowed, np.int64)
    best = search.score(Weights(statistics), among).top(1_000)
    return statistics, best.units.tolist(), best.scores.tolist()


@settings(max_examples=30, deadline=None)
@given(commits=_COMMITS, query=_QUERY, behind=st.integers(0, 20))
def test_full_text_followed_and_loaded_postings_agree_to_the_last_bit(
    shared_database: Database, commits, query, behind
):
    writer, scope = UnitWriter(shared_database, behind=behind), fresh_scope()
    keys = np.array(query, np.uint64)
    left: list[int] = []
    followed: PackedScope | None = None

    def compare(connection: Connection) -> PackedScope:
        row = _row(connection, scope)
        loaded = load(connection, row)
        new = loaded if followed is None else follow(connection, followed, row)
        assert new is not None
        searches = (
            PackedSearch(loaded.postings, keys),
            PackedSearch(new.postings, keys),
            FullTextSearch(connection, row, keys),
        )
        for allowed in (None, left[::2]):
            expected, *others = (_answer(search, allowed) for search in searches)
            assert others == [expected, expected]
        return new

    for texts, removals in commits:
        removed, left = left[:removals], left[removals:]
        left += writer.write(scope, add=texts, remove=removed)
        followed = shared_database.read_here(compare)


def test_a_small_budget_of_candidates_still_gives_exact_scores(
    database: Database, writer: UnitWriter
):
    writer.add(Scope(), *([1, 2 + place % 3, 5 + place % 7] for place in range(60)))
    keys = np.array([1, 2, 6], np.uint64)

    def work(connection: Connection):
        row = _row(connection, Scope())
        packed = PackedSearch(load(connection, row).postings, keys)
        return _answer(packed), _answer(FullTextSearch(connection, row, keys, budget=25))

    (all_statistics, units, scores), (statistics, some, some_scores) = database.read_here(work)
    assert statistics == all_statistics
    assert 20 < len(some) <= 25
    assert set(zip(some, some_scores, strict=True)) < set(zip(units, scores, strict=True))
    assert some[0] == units[0]


def test_everything_a_filter_allows_is_scored_even_beyond_the_budget(
    database: Database, writer: UnitWriter
):
    units = writer.add(Scope(), *([1] for _ in range(30)))

    def work(connection: Connection):
        search = FullTextSearch(connection, _row(connection, Scope()), np.array([1], np.uint64), 10)
        return _answer(search, units[10:])[1]

    assert database.read_here(work) == units[10:]


def test_a_gap_in_the_changes_is_noticed(database: Database, writer: UnitWriter):
    writer.add(Scope(), [1])
    packed = database.read_here(lambda connection: load(connection, _row(connection, Scope())))
    writer.write(Scope(), add=[[2]], lists_changes=False)
    writer.add(Scope(), [3])

    def work(connection: Connection):
        return follow(connection, packed, _row(connection, Scope()))

    assert database.read_here(work) is None


def test_postings_from_a_gap_are_loaded_anew(database: Database, writer: UnitWriter):
    scopes = PackedScopes(_MEGABYTE)
    units = writer.add(Scope(), [1], [2])
    assert _found(database, scopes, 2) == [units[1]]
    new = writer.write(Scope(), add=[[2, 2]], remove=[units[1]], lists_changes=False)
    assert _found(database, scopes, 2) == new


def test_changes_that_do_not_add_up_are_not_believed(database: Database, writer: UnitWriter):
    scopes = PackedScopes(_MEGABYTE)
    units = writer.add(Scope(), [1], [2])
    assert _found(database, scopes, 2) == [units[1]]
    writer.remove(Scope(), units[1])
    # As a faulty program would leave it: the removal is listed as something else.
    database.write_here(
        lambda connection: connection.exec_driver_sql(
            "UPDATE changes SET op = 'put' WHERE op = 'remove'"
        )
    )
    assert _found(database, scopes, 2) == []


def test_a_snapshot_older_than_the_postings_is_searched_in_sql(
    database: Database, writer: UnitWriter
):
    scopes = PackedScopes(_MEGABYTE)
    (old,) = writer.add(Scope(), [1])

    def work(connection: Connection):
        row = _row(connection, Scope())
        # While this snapshot is open the unit is replaced, and another thread follows that.
        (new,) = writer.write(Scope(), add=[[1, 1]], remove=[old])
        assert _found(database, scopes, 1) == [new]
        assert scopes.postings(connection, row) is None
        return _answer(FullTextSearch(connection, row, np.array([1], np.uint64)))[1]

    assert database.read_here(work) == [old]


def test_packing_that_took_long_does_not_undo_what_was_followed_meanwhile(
    database: Database, writer: UnitWriter, monkeypatch: pytest.MonkeyPatch
):
    scopes = PackedScopes(_MEGABYTE)
    writer.add(Scope(), [1])

    def slow_load(connection: Connection, row: ScopeRow) -> PackedScope:
        loaded = load(connection, row)
        monkeypatch.setattr(keyword_index, "load", load)
        writer.add(Scope(), [1])
        assert len(_found(database, scopes, 1)) == 2
        return loaded

    monkeypatch.setattr(keyword_index, "load", slow_load)
    database.read_here(lambda connection: scopes.pack(connection, 1))
    assert scopes.stats().units == 2


def test_scopes_not_asked_for_the_longest_leave_first(database: Database, writer: UnitWriter):
    names = [Scope(user=name) for name in ("ann", "bob", "cy")]
    for scope in names:
        writer.add(scope, *([place, place + 1] for place in range(20)))
    one = database.read_here(
        lambda connection: load(connection, _row(connection, names[0])).postings.bytes
    )
    scopes = PackedScopes(most_bytes(20, 40) + one)
    for scope in (names[0], names[1], names[0], names[2]):
        assert _found(database, scopes, 1, scope)
    assert scopes.stats().scopes == 2
    assert scopes.stats().bytes == 2 * one <= scopes.stats().budget_bytes
    kept = {scope_id for scope_id in (1, 2, 3) if scopes._shelf.get(scope_id)}
    assert kept == {1, 3}


def test_a_scope_beyond_the_budget_is_never_packed(database: Database, writer: UnitWriter):
    writer.add(Scope(), *([place] for place in range(50)))
    scopes = PackedScopes(100)
    database.read_here(lambda connection: scopes.pack(connection, 1))
    assert scopes.stats().scopes == 0


def _found(
    database: Database, scopes: PackedScopes, key: int, scope: Scope | None = None
) -> list[int]:
    def work(connection: Connection) -> list[int]:
        postings = scopes.postings(connection, _row(connection, scope or Scope()))
        assert postings is not None
        return _answer(PackedSearch(postings, np.array([key], np.uint64)))[1]

    return database.read_here(work)


@pytest.mark.sqlite(reason="it reads SQLite's query plan")
def test_thousands_of_scopes_are_read_at_once_and_found_by_the_index(
    database: Database, writer: UnitWriter
):
    children = [Scope(agent=f"child{number}") for number in range(3_000)]
    others = [Scope(user="ann"), Scope(org="other")]
    for scope in (children[0], children[-1], *others):
        writer.add(scope, [1, 2])

    def work(connection: Connection) -> tuple[int, int, str]:
        rows = read_scopes(connection, [*children, *others])
        found = find_scopes(connection, [*children, *others])
        given = {"of_org": "", "of_workspace": "", "of_user": "", "agents": "[]"}
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {AGENTS_OF.sql}", given).all()
        return len(rows), len(found), str(plan)

    read, found, plan = database.read_here(work)
    assert (read, found) == (4, 4)
    assert "SCAN scopes" not in plan
