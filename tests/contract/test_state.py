"""What a `State` promises, in a database and in this process."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.backends.redis.keys import Keys
from recollect.backends.redis.link import RedisLink, RedisPlace
from recollect.backends.redis.state import MirroredState
from recollect.backends.sql.database import Database
from recollect.backends.sql.state import SqlState
from recollect.domain.scope import Scope
from recollect.errors import StaleVersion
from recollect.ports.state import ABSENT, State, StateKey
from recollect.testing import StateContract
from tests.conftest import TurnedClock
from tests.database_servers import open_at
from tests.process_state import ProcessState
from tests.redis_servers import RedisServer

_PAD = StateKey(scope=Scope(user="ann"), session="s1", name="scratchpad")
_HALF_HOUR = timedelta(minutes=30)


@pytest.mark.sqlite(reason="no database takes part")
class TestProcessState(StateContract):
    @pytest.fixture
    def state(self, clock: TurnedClock) -> State:
        return ProcessState(clock)


@pytest.fixture(scope="module")
def redis_server() -> Iterator[RedisServer]:
    server = RedisServer()
    yield server
    server.stop()


@pytest.mark.sqlite(reason="it passes on what TestSqlState proves")
class TestMirroredState(StateContract):
    @pytest.fixture
    async def state(
        self, database_path: Path, clock: TurnedClock, redis_server: RedisServer
    ) -> AsyncIterator[State]:
        redis_server.ask("FLUSHALL")
        place = RedisPlace(url=redis_server.url, name=redis_server.url)
        link, database = RedisLink(place), open_at(database_path)
        yield MirroredState(SqlState(database, clock), link, Keys(place.prefix), clock)
        assert not link.stats().failures
        await link.close()
        await database.close()


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
    entry = await state.get(_PAD)
    assert entry is not None
    assert entry.value == "done"
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
