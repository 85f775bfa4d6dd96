"""What a `State` promises, whatever keeps it.

A new back-end joins with a class that inherits `StateContract` and a fixture `state`.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.backends.sql.database import Database
from recollect.backends.sql.state import SqlState
from recollect.domain.scope import Scope
from recollect.errors import InvalidInput, StaleVersion
from recollect.ports.state import ABSENT, State, StateKey
from tests.conftest import TurnedClock
from tests.database_servers import open_at
from tests.process_state import ProcessState

_ANN = Scope(user="ann")
_PAD = StateKey(scope=_ANN, session="s1", name="scratchpad")
_HALF_HOUR = timedelta(minutes=30)


async def _value(state: State, key: StateKey = _PAD) -> str | None:
    entry = await state.get(key)
    return None if entry is None else entry.value


class StateContract:
    async def test_what_was_put_is_there_and_the_last_put_counts(self, state: State):
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
    async def test_scopes_sessions_and_names_do_not_see_each_other(
        self, state: State, other: StateKey
    ):
        await state.put(_PAD, "1")
        assert await state.get(other) is None
        await state.put(other, "2")
        assert (await _value(state), await _value(state, other)) == ("1", "2")
        await state.delete(other)
        assert (await _value(state), await _value(state, other)) == ("1", None)

    async def test_a_value_is_gone_when_its_time_is_over(self, state: State, clock: TurnedClock):
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

    async def test_without_a_time_a_value_stays(self, state: State, clock: TurnedClock):
        await state.put(_PAD, "1")
        clock.turn(days=4_000)
        assert await _value(state) == "1"
        assert await state.sweep() == 0

    async def test_putting_again_says_anew_how_long_a_value_lives(
        self, state: State, clock: TurnedClock
    ):
        await state.put(_PAD, "1", ttl=_HALF_HOUR)
        await state.put(_PAD, "2")
        clock.turn(hours=1)
        assert await _value(state) == "2"

    async def test_each_touch_starts_the_time_anew_and_changes_nothing_else(
        self, state: State, clock: TurnedClock
    ):
        version = await state.put(_PAD, "1", ttl=_HALF_HOUR)
        for _ in range(3):
            clock.turn(minutes=29)
            assert await state.touch(_PAD, _HALF_HOUR)
        entry = await state.get(_PAD)
        assert entry is not None
        assert (entry.value, entry.version) == ("1", version)
        clock.turn(minutes=30)
        assert await state.get(_PAD) is None

    async def test_touching_what_was_never_there_says_so(self, state: State):
        assert not await state.touch(_PAD, _HALF_HOUR)
        assert await state.get(_PAD) is None

    async def test_a_write_that_expects_another_version_is_refused(self, state: State):
        first = await state.put(_PAD, "1", expected=ABSENT)
        second = await state.put(_PAD, "2", expected=first)
        assert second > first
        for stale in (first, ABSENT, second + 1):
            with pytest.raises(StaleVersion):
                await state.put(_PAD, "3", expected=stale)
        entry = await state.get(_PAD)
        assert entry is not None
        assert (entry.value, entry.version) == ("2", second)

    async def test_a_version_is_never_used_twice_even_if_the_clock_is_set_back(
        self, state: State, clock: TurnedClock
    ):
        first = await state.put(_PAD, "1")
        clock.turn(hours=-1)
        second = await state.put(_PAD, "2")
        assert second > first

    async def test_an_expired_value_counts_as_absent(self, state: State, clock: TurnedClock):
        old = await state.put(_PAD, "1", ttl=_HALF_HOUR)
        clock.turn(hours=1)
        with pytest.raises(StaleVersion):
            await state.put(_PAD, "2", expected=old)
        assert await state.put(_PAD, "2", expected=ABSENT) > old

    async def test_of_many_who_change_the_same_version_one_succeeds(self, state: State):
        version = await state.put(_PAD, "0")
        outcomes = await asyncio.gather(
            *(state.put(_PAD, str(number), expected=version) for number in range(1, 9)),
            return_exceptions=True,
        )
        refused = [outcome for outcome in outcomes if isinstance(outcome, StaleVersion)]
        assert len(refused) == 7
        assert await _value(state) != "0"

    async def test_a_sessions_names_are_listed_in_order_until_it_ends(self, state: State):
        for name in ("window", "笔记", "notes"):
            await state.put(StateKey(scope=_ANN, session="s1", name=name), "1")
        await state.put(StateKey(scope=_ANN, session="s2", name="window"), "1")
        assert await state.names(_ANN, "s1") == ["notes", "window", "笔记"]
        await state.clear(_ANN, "s1")
        assert await state.names(_ANN, "s1") == []
        assert await state.names(_ANN, "s2") == ["window"]

    async def test_deleting_and_clearing_what_is_not_there_is_no_fault(self, state: State):
        await state.delete(_PAD)
        await state.clear(_ANN, "s1")
        assert await state.names(_ANN, "s1") == []

    async def test_a_sweep_removes_what_has_expired_and_nothing_else(
        self, state: State, clock: TurnedClock
    ):
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
    async def test_a_name_that_cannot_be_kept_is_refused(self, state: State, bad: str):
        with pytest.raises(InvalidInput):
            await state.put(StateKey(scope=_ANN, session="s1", name=bad), "1")
        with pytest.raises(InvalidInput):
            await state.put(StateKey(scope=_ANN, session=bad, name="x"), "1")

    async def test_a_value_that_cannot_be_kept_is_refused(self, state: State):
        with pytest.raises(InvalidInput):
            await state.put(_PAD, '"\ud800"')
        assert await state.get(_PAD) is None


class TestProcessState(StateContract):
    @pytest.fixture
    def state(self, clock: TurnedClock) -> State:
        return ProcessState(clock)


class TestSqlState(StateContract):
    @pytest.fixture
    async def state(self, database_path: Path, clock: TurnedClock) -> AsyncIterator[State]:
        database = open_at(database_path)
        yield SqlState(database, clock)
        await database.close()


async def test_a_session_goes_on_after_a_restart(database_path: Path, clock: TurnedClock):
    database = open_at(database_path)
    version = await SqlState(database, clock).put(_PAD, "halfway", ttl=_HALF_HOUR)
    await database.close()

    clock.turn(minutes=20)
    database = open_at(database_path)
    state = SqlState(database, clock)
    entry = await state.get(_PAD)
    assert entry is not None
    assert (entry.value, entry.version) == ("halfway", version)
    await state.put(_PAD, "done", expected=version)
    assert await _value(state) == "done"
    await database.close()


# What may happen to one value, as (name of the step, number that says how).
_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "put_ttl", "put_seen", "touch", "delete", "clear", "sweep"]),
        st.integers(0, 5),
        st.integers(0, 20),
    ),
    max_size=12,
)
_SCOPE_NUMBERS = count()


@pytest.fixture(scope="module")
def shared_database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    database = open_at(tmp_path_factory.mktemp("state") / "state.db")
    yield database
    database.close_here()


@settings(max_examples=25, deadline=None)
@given(steps=_STEPS)
def test_the_database_and_the_process_agree_on_any_story(shared_database: Database, steps):
    clock = TurnedClock()
    scope = Scope(user=f"u{next(_SCOPE_NUMBERS)}")
    told = asyncio.run(_story(SqlState(shared_database, clock), clock, scope, steps))
    clock = TurnedClock()
    assert told == asyncio.run(_story(ProcessState(clock), clock, scope, steps))


async def _story(
    state: State, clock: TurnedClock, scope: Scope, steps: list[tuple[str, int, int]]
) -> list[object]:
    """Everything that can be seen of a state while the steps are taken."""
    seen = ABSENT
    told: list[object] = []
    for step, number, minutes in steps:
        key = StateKey(scope=scope, session=f"s{number % 2}", name=f"n{number % 3}")
        try:
            told.append(await _take(state, key, step, timedelta(minutes=10 + number), seen))
        except StaleVersion as refused:
            told.append(refused.code)
        entry = await state.get(key)
        told.append((entry, await state.names(scope, key.session)))
        seen = ABSENT if entry is None else entry.version
        clock.turn(minutes=minutes)
    return told


async def _take(state: State, key: StateKey, step: str, ttl: timedelta, seen: int) -> object:
    match step:
        case "put":
            return await state.put(key, step)
        case "put_ttl":
            return await state.put(key, step, ttl=ttl)
        case "put_seen":
            return await state.put(key, step, ttl=ttl, expected=seen)
        case "touch":
            return await state.touch(key, ttl)
        case "delete":
            return await state.delete(key)
        case "clear":
            return await state.clear(key.scope, key.session)
        case _:
            # How many is not compared: the shared database holds other stories' values too.
            await state.sweep()
            return None
