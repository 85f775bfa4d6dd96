"""A store that is derived from the database follows its changes, whatever happens on the way."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from sqlalchemy import select

from recollect import Memory
from recollect.backends.sql import schema
from recollect.backends.sql.database import Database
from recollect.domain.followers import Place
from recollect.errors import StoreAway
from recollect.followers.following import Following
from recollect.followers.rows import SqlFollowers
from recollect.jobs.queue import SqlJobs
from recollect.testing import ManualClock
from tests.database_servers import open_at


@dataclass
class NotebookStore:
    """Notes the version of each scope, in two steps for a new one."""

    database: Database
    kind: str = "notebook"
    name: str = "notebook:test"
    fewest_units: int = 0
    held: dict[int, int] = field(default_factory=dict[int, int])
    is_away: bool = False
    steps: int = 0

    async def advance(self, place: Place) -> Place:
        await self.check()
        self.steps += 1
        version = select(schema.scopes.c.version).where(schema.scopes.c.id == place.scope)
        newest = await self.database.read(lambda it: it.scalar(version)) or 0
        if not place.version and not place.position:
            return replace(place, target=newest, position=1)
        self.held[place.scope] = newest
        return Place(scope=place.scope, version=place.target or newest)

    async def drop(self, scope: int) -> None:
        await self.check()
        self.held.pop(scope, None)

    async def check(self) -> None:
        if self.is_away:
            raise StoreAway("nobody is there")


@pytest.fixture
async def database(database_path: Path) -> AsyncIterator[Database]:
    opened = open_at(database_path)
    yield opened
    await opened.close()


@pytest.fixture
def store(database: Database) -> NotebookStore:
    return NotebookStore(database)


def following(database: Database, store: NotebookStore, clock: ManualClock) -> Following:
    rows = SqlFollowers(database, store.name, store.fewest_units)
    return Following(store, rows, SqlJobs(database, clock), clock)


async def test_a_store_catches_up_with_every_scope_and_with_later_writes(
    database_path: Path, database: Database, store: NotebookStore, clock: ManualClock
):
    its = following(database, store, clock)
    async with Memory.open(database_path) as memory:
        await memory.remember("Ann keeps bees")
        assert (await its.state()).condition == "building"
        assert await its.catch_up()
        assert len(store.held) == 1
        before = dict(store.held)
        await memory.remember("Ann sells honey")
        assert (await its.state()).condition == "behind"
        assert await its.catch_up()
        assert store.held.keys() == before.keys()
        assert store.held != before
        assert (await its.state()).condition == "current"
        steps = store.steps
        assert await its.catch_up()
        assert store.steps == steps, "a store that is current is left alone"
    kinds = await database.read(lambda it: set(it.scalars(select(schema.jobs.c.kind))))
    assert "follow_notebook" not in kinds, "finished ones are not listed"


async def test_an_interrupted_build_goes_on_where_it_was(
    database_path: Path, database: Database, store: NotebookStore, clock: ManualClock
):
    its = following(database, store, clock)
    async with Memory.open(database_path) as memory:
        await memory.remember("Ann keeps bees")
    (scope,) = await its.rows.unfollowed()
    await its.rows.follow([scope])
    first = await store.advance(Place(scope=scope))
    assert await its.rows.move(Place(scope=scope), first)
    # Another process goes on with it.
    later = NotebookStore(database)
    assert await following(database, later, clock).catch_up()
    assert later.steps == 1
    assert list(later.held) == [scope]


async def test_what_was_forgotten_while_the_store_was_away_is_erased_when_it_is_back(
    database_path: Path, database: Database, store: NotebookStore, clock: ManualClock
):
    its = following(database, store, clock)
    async with Memory.open(database_path) as memory:
        await memory.remember("Ann keeps bees")
        assert await its.catch_up()
        assert store.held
        store.is_away = True
        await memory.forget(everything=True)
        assert not await its.catch_up()
    state = await its.state()
    assert (state.condition, state.to_erase) == ("away", 1)
    assert its.breaker.is_open
    # A new process asks the store without a pause.
    store.is_away = False
    again = following(database, store, clock)
    assert await again.settle(within=5)
    assert not store.held
    assert (await again.state()).to_erase == 0


async def test_what_two_runners_did_at_once_is_not_trusted(
    database_path: Path, database: Database, store: NotebookStore, clock: ManualClock
):
    its = following(database, store, clock)
    async with Memory.open(database_path) as memory:
        await memory.remember("Ann keeps bees")
    assert await its.catch_up()
    (place,) = await its.rows.places()
    # One that was paused since the store was empty now writes what it had read then.
    assert not await its.rows.move(replace(place, position=1), replace(place, version=9))
    assert await its.rows.places() == [Place(scope=place.scope)]
    assert await its.catch_up()
    assert await its.rows.places() == [place]
