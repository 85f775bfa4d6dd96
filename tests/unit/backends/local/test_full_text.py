"""The database's full text over scope-prefixed terms."""

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.backends.sql.database import Database
from recollect.backends.sql.dialects import dialect_of
from recollect.backends.sql.dialects.base import token
from recollect.backends.sql.full_text import add_many, candidates, remove_many
from recollect.domain.scope import Scope
from tests.unit.backends.local.unit_writer import UnitWriter, fresh_scope

_KEYS = st.integers(0, 2**64 - 1)
_SCOPES = st.integers(1, 2**31 - 1)


@given(scope=_SCOPES, key=_KEYS)
def test_a_token_is_one_plain_word(scope, key):
    assert re.fullmatch("[0-9a-f]{24}", token(scope, key))


@given(one=st.tuples(_SCOPES, _KEYS), other=st.tuples(_SCOPES, _KEYS))
def test_no_two_terms_or_scopes_share_a_token(one, other):
    assert (token(*one) == token(*other)) == (one == other)


def _frequencies(database: Database, scope_id: int, keys: list[int]) -> dict[int, int]:
    return database.read_here(lambda it: dialect_of(it).frequencies(it, scope_id, keys))


def _candidates(database: Database, scope_id: int, keys: list[int], budget: int) -> list[int]:
    def work(connection):
        found = dialect_of(connection).frequencies(connection, scope_id, keys)
        return [unit & 0xFF for unit in candidates(connection, scope_id, found, budget)]

    return database.read_here(work)


def test_frequencies_count_units_once_and_forget_removed_ones(database: Database):
    keys = [np.array(text, "<u8").tobytes() for text in ([1, 1, 2], [2, 2**64 - 1], [2])]

    def write(connection):
        for unit, terms in enumerate(keys, 1):
            add_many(connection, 1, [(1 << 32 | unit, terms)])
        remove_many(connection, 1, [(1 << 32 | 3, keys[2])])

    database.write_here(write)
    assert _frequencies(database, 1, [1, 2, 3, 2**64 - 1]) == {1: 1, 2: 2, 2**64 - 1: 1}


@pytest.mark.server
def test_a_term_that_no_unit_has_any_more_is_not_used(database: Database):
    keys = [np.array(text, np.uint64) for text in ([1, 2, 2**64 - 1], [2, 3])]

    def write(connection):
        for unit, terms in enumerate(keys, 1):
            add_many(connection, 1, [(1 << 32 | unit, terms)])
        add_many(connection, 2, [(2 << 32 | 1, keys[1])])
        remove_many(connection, 1, [(1 << 32 | 1, keys[0])])
        return dialect_of(connection).used_keys(connection, [1, 2, 3, 2**64 - 1])

    assert database.write_here(write) == {2, 3}
    assert _frequencies(database, 1, [1, 2, 3]) == {2: 1, 3: 1}


def test_another_scope_with_the_same_terms_is_not_counted(writer: UnitWriter, database: Database):
    writer.add(Scope(user="ann"), [1, 2], [1])
    writer.add(Scope(user="bob"), [1, 2], [1], [1])
    assert _frequencies(database, 1, [1, 2]) == {1: 2, 2: 1}
    assert _candidates(database, 1, [1, 2], 100) == [1, 2]


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (0, []),
        (1, [3]),
        (2, [3, 8]),
        (4, [3, 6, 7, 8]),
        (8, [2, 3, 4, 5, 6, 7, 8]),
        (9, [1, 2, 3, 4, 5, 6, 7, 8]),
    ],
)
def test_candidates_are_the_rarest_terms_units_then_the_newest(
    writer: UnitWriter, database: Database, budget: int, expected: list[int]
):
    writer.add(Scope(), [1], [1], [1, 9], [1], [1], [1], [1], [1], [5])
    assert _candidates(database, 1, [1, 9], budget) == expected


@settings(max_examples=30, deadline=None)
@given(
    texts=st.lists(st.lists(st.integers(1, 9), max_size=5), min_size=1, max_size=10),
    query=st.lists(st.integers(1, 9), min_size=1, unique=True),
)
def test_with_room_for_all_every_unit_that_matches_is_a_candidate(
    shared_database: Database, texts, query
):
    units = UnitWriter(shared_database).add(fresh_scope(), *texts)
    scope_id = units[0] >> 32
    expected = [place for place, text in enumerate(texts, 1) if set(text) & set(query)]
    assert _candidates(shared_database, scope_id, query, 1_000) == expected
    counted = Counter(key for text in texts for key in set(text) if key in query)
    assert _frequencies(shared_database, scope_id, query) == counted
