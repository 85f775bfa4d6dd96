"""The contract of `recollect.ports.units.UnitIndex`."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from recollect.domain.change import ChangeSet
from recollect.domain.filters import Filter
from recollect.domain.scope import Scope
from recollect.domain.turn import Turn, new_turn
from recollect.domain.unit import UNIT_OWNERS, OwnerUnits, Unit
from recollect.ports.store import Store
from recollect.ports.units import Matches, UnitIndex

_NOW: Final = datetime(2026, 3, 1, tzinfo=UTC)
_ANN: Final = Scope(user="ann")
_BOB: Final = Scope(user="bob")
_SECONDS: Final = itertools.count()


class UnitsContract:
    """Provide the fixtures `store`, which is empty, and `units`, the index of what it holds."""

    async def test_the_best_match_comes_first(self, store: Store, units: UnitIndex) -> None:
        both, one, _ = await _add(store, [1, 2, 3], [2, 5, 6], [7, 8, 9])
        matches = await _search(units, 2, 9_999, 1)
        assert _owners(matches) == [both, one]
        assert matches.raw[0] > matches.raw[1] > 0
        assert 1 > matches.scores[0] > matches.scores[1] > 0
        best = int(matches.column("unit")[0])
        assert await units.terms_of([best]) == {best: {1, 2, 3}}
        assert UNIT_OWNERS[matches.column("kind")[0]] == "turn"
        assert (matches.column("start")[0], matches.column("end")[0]) == (0, 3)

    async def test_a_repeated_term_counts_once(self, store: Store, units: UnitIndex) -> None:
        await _add(store, [1, 2], [3])
        assert _rows(await _search(units, 1, 1, 2)) == _rows(await _search(units, 1, 2))

    async def test_all_64_bits_of_a_term_count(self, store: Store, units: UnitIndex) -> None:
        owners = await _add(store, [2**64 - 1, 0])
        assert _owners(await _search(units, 2**64 - 1)) == owners
        assert _owners(await _search(units, 0)) == owners

    @pytest.mark.parametrize("terms", [(), (404,)])
    async def test_no_match_is_an_empty_result(
        self, store: Store, units: UnitIndex, terms: tuple[int, ...]
    ) -> None:
        await _add(store, [1])
        assert len(await _search(units, *terms)) == 0

    async def test_a_new_scope_is_empty_until_it_is_written_to(
        self, store: Store, units: UnitIndex
    ) -> None:
        assert len(await _search(units, 1)) == 0
        owners = await _add(store, [1])
        assert _owners(await _search(units, 1)) == owners

    async def test_the_limit_is_kept(self, store: Store, units: UnitIndex) -> None:
        owners = await _add(store, *([1] for _ in range(5)))
        found = await units.search([_ANN], [1], 3, now=_NOW)
        assert _owners(found) == owners[:3]

    async def test_a_search_sees_what_was_committed_before(
        self, store: Store, units: UnitIndex
    ) -> None:
        (first,) = await _add(store, [1])
        assert _owners(await _search(units, 1)) == [first]
        (second,) = await _add(store, [1, 1])
        assert _owners(await _search(units, 1)) == [second, first]
        await store.commit(
            ChangeSet(principal="test", scope=_ANN, units=(_units(second), _units(first)))
        )
        assert len(await _search(units, 1)) == 0

    async def test_other_scopes_change_no_score(self, store: Store, units: UnitIndex) -> None:
        await _add(store, [1, 2], [1], [3])
        alone = _rows(await _search(units, 1, 2, 3))
        await _add(store, *([1, 2, 3, number] for number in range(4, 40)), scope=_BOB)
        assert _rows(await _search(units, 1, 2, 3)) == alone

    async def test_several_scopes_are_ranked_as_one(self, store: Store, units: UnitIndex) -> None:
        texts = [[1, 2], [1], [3, 3], [2, 3, 4]]
        together = Scope(user="both")
        await _add(store, *texts[:2])
        await _add(store, *texts[2:], scope=_BOB)
        await _add(store, *texts, scope=together)
        apart = await _search(units, 1, 2, 3, scopes=(_ANN, _BOB, _ANN))
        joined = await _search(units, 1, 2, 3, scopes=(together,))
        assert len(apart) == 4
        assert apart.raw.tolist() == joined.raw.tolist()
        assert apart.scores.tolist() == joined.scores.tolist()

    async def test_a_filter_removes_matches_and_changes_no_score(
        self, store: Store, units: UnitIndex
    ) -> None:
        await _add(store, [1, 2], [1], session="monday")
        on_tuesday = await _add(store, [1, 1], [2], session="tuesday")
        everything = _rows(await _search(units, 1))
        found = _rows(await _search(units, 1, within=Filter(session="tuesday")))
        assert len(everything) == 3
        assert found == [row for row in everything if row[0] in on_tuesday]
        assert len(await _search(units, 1, within=Filter(session="sunday"))) == 0

    async def test_the_latest_units_come_first(self, store: Store, units: UnitIndex) -> None:
        old, new = await _add(store, [1], [2])
        found = await units.recent(
            [_ANN], _NOW - timedelta(days=1), 10, until=_NOW + timedelta(days=1)
        )
        assert _owners(found) == [new, old]
        assert len(await units.recent([_ANN], _NOW - timedelta(days=1), 10, until=_NOW)) == 0

    async def test_the_terms_of_owners_are_known(self, store: Store, units: UnitIndex) -> None:
        (owner,) = await _add(store, [1, 2])
        known = await units.known_terms([owner, "turn_unknown"], "test")
        assert {key: list(terms) for key, terms in known.items()} == {(owner, 1): [1, 2]}
        assert not await units.known_terms([owner], "another analyzer")

    async def test_texts_outside_the_index_are_ranked(self, units: UnitIndex) -> None:
        both, none, one, empty = await units.rank([1, 2], [[1, 2, 3], [4, 5, 6], [1, 7, 8], []])
        assert 1 > both > one > none == empty == 0
        assert await units.rank([], [[1]]) == [0.0]
        assert await units.rank([1], []) == []

    async def test_a_ranked_text_scores_as_if_it_were_stored(
        self, store: Store, units: UnitIndex
    ) -> None:
        texts = [[1, 2, 3], [1], [2, 2]]
        owners = await _add(store, *texts)
        found = await _search(units, 1, 2)
        stored = dict(zip(_owners(found), found.scores.tolist(), strict=True))
        assert await units.rank([1, 2], texts) == [stored[owner] for owner in owners]

    async def test_preparing_for_many_searches_changes_no_result(
        self, store: Store, units: UnitIndex
    ) -> None:
        await _add(store, *([1, 2 + number % 5] for number in range(20)))
        before = _rows(await _search(units, 1, 3))
        await units.expect_many([_ANN])
        assert _rows(await _search(units, 1, 3)) == before


async def _add(
    store: Store, *texts: Sequence[int], scope: Scope = _ANN, session: str = "s"
) -> list[str]:
    """Write a turn for each list of terms; return their ids."""
    turns = [_turn(scope, session, second) for second, _ in enumerate(texts)]
    units = [
        _units(turn.id, scope, terms, turn.at) for turn, terms in zip(turns, texts, strict=True)
    ]
    await store.commit(
        ChangeSet(principal="test", scope=scope, turns=tuple(turns), units=tuple(units))
    )
    return [turn.id for turn in turns]


def _turn(scope: Scope, session: str, second: int) -> Turn:
    at = _NOW + timedelta(seconds=second)
    return new_turn({"role": "user", "content": "…"}, scope, session, at, None)


def _units(
    owner: str, scope: Scope = _ANN, terms: Sequence[int] = (), at: datetime = _NOW
) -> OwnerUnits:
    unit = Unit(ordinal=0, start=0, end=len(terms), text="…", terms=terms)
    return OwnerUnits(
        scope=scope,
        owner_kind="turn",
        owner_id=owner,
        observed_at=at,
        analyzer="test",
        units=(unit,) if terms else (),
    )


async def _search(
    units: UnitIndex, *terms: int, scopes: tuple[Scope, ...] = (_ANN,), within: Filter | None = None
) -> Matches:
    # Each search comes at a later time, as in practice.
    now = _NOW + timedelta(days=1, seconds=next(_SECONDS))
    return await units.search(scopes, terms, 10, now=now, within=within)


def _owners(matches: Matches) -> list[str]:
    return [str(owner) for owner in matches.column("owner")]


def _rows(matches: Matches) -> list[tuple[str, float, float]]:
    return list(zip(_owners(matches), matches.raw.tolist(), matches.scores.tolist(), strict=True))
