"""The contract of `recollect.ports.state.State`."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Final

import pytest

from recollect.domain.scope import Scope
from recollect.errors import InvalidInput, StaleVersion
from recollect.ports.state import ABSENT, State, StateKey
from recollect.testing.clock import ManualClock

_ANN: Final = Scope(user="ann")
_PAD: Final = StateKey(scope=_ANN, session="s1", name="scratchpad")
_HALF_HOUR: Final = timedelta(minutes=30)


class StateContract:
    """Provide the fixture `state`: empty, and reading the time from the fixture `clock`."""

    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    async def test_the_last_value_counts(self, state: State) -> None:
        assert await state.get(_PAD) is None
        await state.put(_PAD, '{"目标": "注册"}')
        assert await _value(state) == '{"目标": "注册"}'
        await state.put(_PAD, '{"目标": "登录"}')
        assert await _value(state) == '{"目标": "登录"}'

    @pytest.mark.parametrize(
        "other",
        [
            StateKey(scope=Scope(user="bob"), session="s1", name="scratchpad"),
            StateKey(scope=Scope(user="ann", agent="sql"), session="s1", name="scratchpad"),
            StateKey(scope=_ANN, session="s2", name="scratchpad"),
            StateKey(scope=_ANN, session="s1", name="notes"),
        ],
    )
    async def test_scopes_sessions_and_names_are_separate(
        self, state: State, other: StateKey
    ) -> None:
        await state.put(_PAD, "1")
        assert await state.get(other) is None
        await state.put(other, "2")
        assert (await _value(state), await _value(state, other)) == ("1", "2")
        await state.delete(other)
        assert (await _value(state), await _value(state, other)) == ("1", None)

    async def test_a_value_expires(self, state: State, clock: ManualClock) -> None:
        await state.put(_PAD, "1", ttl=_HALF_HOUR)
        entry = await state.get(_PAD)
        assert entry is not None
        assert entry.expires_at == clock.now() + _HALF_HOUR
        clock.turn(minutes=29, seconds=59)
        assert await _value(state) == "1"
        clock.turn(seconds=1)
        assert await state.get(_PAD) is None
        assert await state.names(_ANN, "s1") == []
        assert not await state.touch(_PAD, _HALF_HOUR), "what is gone is not brought back"
        assert await state.get(_PAD) is None

    async def test_without_a_time_to_live_a_value_stays(
        self, state: State, clock: ManualClock
    ) -> None:
        await state.put(_PAD, "1")
        clock.turn(days=4_000)
        assert await _value(state) == "1"
        assert await state.sweep() == 0

    async def test_putting_again_replaces_the_time_to_live(
        self, state: State, clock: ManualClock
    ) -> None:
        await state.put(_PAD, "1", ttl=_HALF_HOUR)
        await state.put(_PAD, "2")
        clock.turn(hours=1)
        assert await _value(state) == "2"

    async def test_touching_restarts_the_time_to_live_only(
        self, state: State, clock: ManualClock
    ) -> None:
        version = await state.put(_PAD, "1", ttl=_HALF_HOUR)
        for _ in range(3):
            clock.turn(minutes=29)
            assert await state.touch(_PAD, _HALF_HOUR)
        entry = await state.get(_PAD)
        assert entry is not None
        assert (entry.value, entry.version) == ("1", version)
        clock.turn(minutes=30)
        assert await state.get(_PAD) is None

    async def test_touching_a_missing_value_returns_false(self, state: State) -> None:
        assert not await state.touch(_PAD, _HALF_HOUR)
        assert await state.get(_PAD) is None

    async def test_a_write_that_expects_another_version_is_refused(self, state: State) -> None:
        first = await state.put(_PAD, "1", expected=ABSENT)
        second = await state.put(_PAD, "2", expected=first)
        assert second > first
        for stale in (first, ABSENT, second + 1):
            with pytest.raises(StaleVersion):
                await state.put(_PAD, "3", expected=stale)
        entry = await state.get(_PAD)
        assert entry is not None
        assert (entry.value, entry.version) == ("2", second)

    async def test_versions_rise_even_if_the_clock_is_set_back(
        self, state: State, clock: ManualClock
    ) -> None:
        first = await state.put(_PAD, "1")
        clock.turn(hours=-1)
        second = await state.put(_PAD, "2")
        assert second > first

    async def test_an_expired_value_counts_as_absent(
        self, state: State, clock: ManualClock
    ) -> None:
        old = await state.put(_PAD, "1", ttl=_HALF_HOUR)
        clock.turn(hours=1)
        with pytest.raises(StaleVersion):
            await state.put(_PAD, "2", expected=old)
        assert await state.put(_PAD, "2", expected=ABSENT) > old

    async def test_one_of_several_concurrent_changes_succeeds(self, state: State) -> None:
        version = await state.put(_PAD, "0")
        outcomes = await asyncio.gather(
            *(state.put(_PAD, str(number), expected=version) for number in range(1, 9)),
            return_exceptions=True,
        )
        refused = [outcome for outcome in outcomes if isinstance(outcome, StaleVersion)]
        assert len(refused) == 7
        assert await _value(state) != "0"

    async def test_names_are_listed_in_order_until_the_session_is_cleared(
        self, state: State
    ) -> None:
        for name in ("window", "笔记", "notes"):
            await state.put(StateKey(scope=_ANN, session="s1", name=name), "1")
        await state.put(StateKey(scope=_ANN, session="s2", name="window"), "1")
        assert await state.names(_ANN, "s1") == ["notes", "window", "笔记"]
        await state.clear(_ANN, "s1")
        assert await state.names(_ANN, "s1") == []
        assert await state.names(_ANN, "s2") == ["window"]

    async def test_deleting_and_clearing_ignore_missing_values(self, state: State) -> None:
        await state.delete(_PAD)
        await state.clear(_ANN, "s1")
        assert await state.names(_ANN, "s1") == []

    async def test_a_sweep_removes_expired_values_only(
        self, state: State, clock: ManualClock
    ) -> None:
        for number, minutes in enumerate((10, 20, 40)):
            key = StateKey(scope=Scope(user=f"u{number}"), session="s", name="x")
            await state.put(key, "1", ttl=timedelta(minutes=minutes))
        await state.put(_PAD, "1")
        clock.turn(minutes=30)
        assert await state.sweep() == 2
        assert await state.sweep() == 0
        assert await _value(state) == "1"
        assert await state.names(Scope(user="u2"), "s") == ["x"]

    @pytest.mark.parametrize("bad", ["", "x" * 101, "a\x00b", "\ud800"])
    async def test_an_invalid_name_is_refused(self, state: State, bad: str) -> None:
        with pytest.raises(InvalidInput):
            await state.put(StateKey(scope=_ANN, session="s1", name=bad), "1")
        with pytest.raises(InvalidInput):
            await state.put(StateKey(scope=_ANN, session=bad, name="x"), "1")

    async def test_an_invalid_value_is_refused(self, state: State) -> None:
        with pytest.raises(InvalidInput):
            await state.put(_PAD, '"\ud800"')
        assert await state.get(_PAD) is None


async def _value(state: State, key: StateKey = _PAD) -> str | None:
    entry = await state.get(key)
    return None if entry is None else entry.value
