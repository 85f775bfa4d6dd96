"""What `SqlItems` promises, on every database.

A new back-end joins with a class that inherits `ItemsContract` and a fixture `items`.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect.domain.ids import new_id
from recollect.domain.item import StoredItem
from recollect.domain.scope import Scope
from recollect.items.rows import SqlItems
from tests.conftest import TurnedClock
from tests.database_servers import open_at

_ANN = Scope(user="ann")
_BOB = Scope(user="bob")
_MINUTE = timedelta(minutes=1)


def _item(clock: TurnedClock, *namespace: str, key: str = "k", **fields: Any) -> StoredItem:
    ttl = fields.pop("ttl", None)
    now = clock.now()
    return StoredItem(
        id=new_id("item"),
        scope=fields.pop("scope", _ANN),
        namespace=namespace or ("notes",),
        key=key,
        value=fields or {"n": 1},
        created_at=now,
        updated_at=now,
        expires_at=None if ttl is None else now + ttl,
        ttl=ttl,
    )


class ItemsContract:
    async def test_an_item_comes_back_as_it_was_put(self, items: SqlItems, clock: TurnedClock):
        given = _item(clock, "a", "b/c%d", key="ü/k", text="绿茶", deep=[{"x": None}, 1.5])
        (stored,) = await items.write(_ANN, [given])
        (found,) = await items.find(_ANN, [given.place], now=clock.now())
        assert found == stored
        assert found is not None
        assert (found.value, found.namespace) == (given.value, ("a", "b/c%d"))
        assert await items.find(_BOB, [given.place], now=clock.now()) == [None]

    async def test_putting_again_replaces_and_keeps_place_and_creation(
        self, items: SqlItems, clock: TurnedClock
    ):
        (first,) = await items.write(_ANN, [_item(clock, n=1)])
        await items.write(_ANN, [_item(clock, key="other")])
        clock.turn(hours=1)
        (second,) = await items.write(_ANN, [_item(clock, n=2)])
        assert (second.id, second.position) == (first.id, first.position)
        assert (second.created_at, second.updated_at) == (first.created_at, clock.now())
        listed = await items.listed(_ANN, ("notes",), now=clock.now())
        assert [it.value for it in listed] == [{"n": 2}, {"n": 1}]

    async def test_puts_and_removals_happen_together(self, items: SqlItems, clock: TurnedClock):
        gone = _item(clock, key="gone")
        await items.write(_ANN, [gone])
        await items.write(_ANN, [_item(clock, key="new")], [gone.place, (("no",), "where")])
        listed = await items.listed(_ANN, (), now=clock.now())
        assert [it.key for it in listed] == ["new"]

    async def test_a_prefix_is_whole_labels_and_letters_count_as_they_are(
        self, items: SqlItems, clock: TurnedClock
    ):
        for namespace in (("a",), ("a", "b"), ("ab",), ("A",), ("a_",), ("a%2F",), ("a/",)):
            await items.write(_ANN, [_item(clock, *namespace)])
        under = await items.listed(_ANN, ("a",), now=clock.now())
        assert [it.namespace for it in under] == [("a",), ("a", "b")]
        exact = await items.listed(_ANN, ("a",), now=clock.now(), is_exact=True)
        assert [it.namespace for it in exact] == [("a",)]
        every = await items.namespaces(_ANN, now=clock.now())
        assert every == sorted([("A",), ("a",), ("a", "b"), ("a%2F",), ("a/",), ("a_",), ("ab",)])
        assert await items.namespaces(_BOB, now=clock.now()) == []

    async def test_a_prefix_counts_letters_however_many_bytes_they_take(
        self, items: SqlItems, clock: TurnedClock
    ):
        for namespace in (("安妮",), ("安妮", "茶"), ("安妮茶",), ("安",)):
            await items.write(_ANN, [_item(clock, *namespace)])
        under = await items.listed(_ANN, ("安妮",), now=clock.now())
        assert [it.namespace for it in under] == [("安妮",), ("安妮", "茶")]

    async def test_a_page_is_cut_in_the_order_things_were_put(
        self, items: SqlItems, clock: TurnedClock
    ):
        for number in (3, 1, 2):
            await items.write(_ANN, [_item(clock, key=str(number))])
        page = await items.listed(_ANN, (), now=clock.now(), limit=1, offset=1)
        assert [it.key for it in page] == ["1"]
        last = await items.listed(_ANN, (), now=clock.now(), limit=2, last_first=True)
        assert [it.key for it in last] == ["2", "1"]

    async def test_what_expired_is_gone_until_it_is_put_again(
        self, items: SqlItems, clock: TurnedClock
    ):
        await items.write(_ANN, [_item(clock, ttl=_MINUTE), _item(clock, key="stays")])
        clock.turn(seconds=50)
        await items.refresh(_ANN, [(("notes",), "k"), (("notes",), "stays")], now=clock.now())
        clock.turn(seconds=50)
        assert len(await items.listed(_ANN, (), now=clock.now())) == 2
        clock.turn(seconds=10)
        assert await items.find(_ANN, [(("notes",), "k")], now=clock.now()) == [None]
        await items.refresh(_ANN, [(("notes",), "k")], now=clock.now())
        assert [it.key for it in await items.listed(_ANN, (), now=clock.now())] == ["stays"]
        (again,) = await items.write(_ANN, [_item(clock)])
        assert again.created_at == clock.now()
        await items.write(_ANN, [_item(clock, key="short", ttl=_MINUTE)])
        clock.turn(minutes=1)
        assert await items.sweep(now=clock.now()) == 1
        assert await items.sweep(now=clock.now()) == 0

    async def test_a_namespace_is_a_stack(self, items: SqlItems, clock: TurnedClock):
        await items.write(_ANN, [_item(clock, "s", key=it) for it in "abc"])
        await items.write(_ANN, [_item(clock, "s", "deeper", key="z")])
        popped = await asyncio.gather(*(items.pop(_ANN, ("s",), now=clock.now()) for _ in range(4)))
        assert sorted(it.key for it in popped if it is not None) == ["a", "b", "c"]
        assert await items.pop(_BOB, ("s", "deeper"), now=clock.now()) is None
        assert await items.clear(_ANN, ("s",)) == 0
        assert await items.clear(_BOB, ("s", "deeper")) == 0
        assert await items.clear(_ANN, ("s", "deeper")) == 1

    async def test_writers_at_the_same_time_get_different_positions(
        self, items: SqlItems, clock: TurnedClock
    ):
        await asyncio.gather(*(items.write(_ANN, [_item(clock, key=str(it))]) for it in range(10)))
        listed = await items.listed(_ANN, (), now=clock.now())
        assert sorted(it.position for it in listed) == list(range(1, 11))


class TestSqlItems(ItemsContract):
    @pytest.fixture
    async def items(self, tmp_path: Path) -> AsyncIterator[SqlItems]:
        database = open_at(tmp_path / "items.db")
        yield SqlItems(database)
        await database.close()
