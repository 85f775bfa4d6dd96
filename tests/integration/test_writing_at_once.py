"""What is small is written in the thread that asks, unless somebody else is in the way."""

import asyncio
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from recollect import Memory
from recollect.backends.sql import commit, sqlite_database
from recollect.backends.sql.sqlite_database import SqliteDatabase
from tests.fakes import FakeEmbedder

pytestmark = [
    pytest.mark.sqlite("a server is written to in threads"),
    pytest.mark.usefixtures("nobody_works"),
]


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The thread of every change set that is written."""
    names: list[str] = []
    write = commit.write

    def noted(*given: Any) -> Any:
        names.append(threading.current_thread().name)
        return write(*given)

    monkeypatch.setattr(commit, "write", noted)
    # However busy the machine is.
    monkeypatch.setattr(sqlite_database, "_SLOW_SECONDS", 60.0)
    return names


async def test_one_save_needs_no_other_thread_and_a_batch_does(
    threads: list[str], database_path: Path
):
    async with Memory.open(database_path, embedder=FakeEmbedder()) as memory:
        await memory.remember("the first one")
        threads.clear()
        await memory.remember("Ann lives in Paris")
        await memory.remember_many([f"plant {number}" for number in range(50)])

    assert threads == ["MainThread", "recollect-write"]


async def test_bringing_the_full_text_up_to_date_is_left_to_the_writer(
    threads: list[str], database_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(commit, "_LARGE_SCOPE_TERMS", 1)
    monkeypatch.setattr(commit, "_BEHIND", 3)
    async with Memory.open(database_path, embedder=FakeEmbedder()) as memory:
        await memory.remember("the first one")
        threads.clear()
        saved = [await memory.remember(f"parcel {number}") for number in range(3)]
        found = await memory.recall("parcel", limit=10, min_score=0)

    # The second one is begun in the loop, and done by the writer.
    assert threads == ["MainThread", "MainThread", "recollect-write", "MainThread"]
    assert {it.id for it in saved} <= {hit.id for hit in found}


async def test_saves_at_the_same_time_share_a_commit(database_path: Path):
    async with Memory.open(database_path, embedder=FakeEmbedder()) as memory:
        await memory.remember("the first one")
        with sqlite3.connect(database_path) as other:
            before = other.execute("PRAGMA data_version").fetchone()
            saves = [memory.remember(f"parcel {number}") for number in range(30)]
            saved = await asyncio.gather(*saves)
            after = other.execute("PRAGMA data_version").fetchone()
        found = await memory.list(limit=100)

    assert {it.id for it in saved} < {it.id for it in found}
    assert after[0] - before[0] < 10


async def test_where_writing_takes_long_it_is_left_to_the_writer(
    threads: list[str], database_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sqlite_database, "_REST_SECONDS", 60.0)
    async with Memory.open(database_path, embedder=FakeEmbedder()) as memory:
        await memory.remember("the first one")
        monkeypatch.setattr(sqlite_database, "_SLOW_SECONDS", 0.0)
        threads.clear()
        for text in ("Ann lives in Paris", "Ann plays chess", "Ann has a cat"):
            await memory.remember(text)

    assert threads == ["MainThread", "recollect-write", "recollect-write"]


async def test_nobody_waits_in_the_loop_while_another_process_writes(database_path: Path):
    async with Memory.open(database_path, embedder=FakeEmbedder()) as memory:
        await memory.remember("the first one")
        with sqlite3.connect(database_path, isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            saving = asyncio.create_task(memory.remember("Ann lives in Paris"))
            began = time.monotonic()
            await asyncio.sleep(0.2)
            assert time.monotonic() - began < 1.0
            assert not saving.done()
            other.execute("ROLLBACK")
        saved = await saving
        found = await memory.recall("Where does Ann live?", min_score=0)

    assert saved.id in [hit.id for hit in found]


async def test_a_process_that_writes_for_too_long_is_not_waited_for(database_path: Path):
    database = SqliteDatabase(database_path, busy_timeout=0.1)
    try:
        with sqlite3.connect(database_path, isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(Exception, match="Another process kept the database locked"):
                await database.write(lambda _: None, is_quick=True)
            other.execute("ROLLBACK")
        await database.write(lambda _: None, is_quick=True)
    finally:
        await database.close()


async def test_only_what_somebody_is_told_of_waits_for_the_disk(database_path: Path):
    told: list[str] = []

    def connected(connection: sqlite3.Connection, _: object) -> None:
        connection.set_trace_callback(told.append)

    event.listen(Engine, "connect", connected)
    database = SqliteDatabase(database_path)
    try:
        await database.write(lambda _: None)
        told.clear()
        for is_durable in (True, False, False, True):
            await database.write(lambda _: None, is_durable=is_durable)
    finally:
        event.remove(Engine, "connect", connected)
        await database.close()

    commit = ["BEGIN IMMEDIATE", "COMMIT"]
    noted = ["PRAGMA synchronous=normal", *commit, *commit]
    assert told == [*commit, *noted, "PRAGMA synchronous=full", *commit]


# --- What an earlier save left behind may not be so any more --------------------------------------


async def test_two_who_save_by_turns_see_what_the_other_saved(database_path: Path):
    async with (
        Memory.open(database_path, embedder=FakeEmbedder()) as one,
        Memory.open(database_path, embedder=FakeEmbedder()) as other,
    ):
        ids: list[str] = []
        for number in range(6):
            ids.append((await one.remember(f"parcel {number} came from one")).id)
            ids.append((await one.remember(f"letter {number} came from one")).id)
            ids.append((await other.remember(f"parcel {number} came from the other")).id)
        for memory in (one, other):
            found = await memory.recall("parcel letter came", limit=50, min_score=0)
            assert {hit.id for hit in found} == set(ids)
        assert (await one.stats()).store.units == len(ids)


async def test_a_user_who_was_forgotten_by_another_process_begins_anew(database_path: Path):
    async with (
        Memory.open(database_path, embedder=FakeEmbedder()) as here,
        Memory.open(database_path, embedder=FakeEmbedder()) as there,
    ):
        ann = here.scope(user="ann")
        for number in range(3):
            await ann.remember(f"Ann has plant {number}")
        await there.scope(user="ann").forget(user="ann")
        saved = await ann.remember("Ann has a cat")
        await there.drain()

        assert [it.id for it in await ann.list()] == [saved.id]
        found = await there.scope(user="ann").recall("What does Ann have?", min_score=0)
        assert [hit.id for hit in found] == [saved.id]


async def test_a_change_that_is_refused_is_refused_for_what_is_there_now(database_path: Path):
    async with (
        Memory.open(database_path, embedder=FakeEmbedder()) as here,
        Memory.open(database_path, embedder=FakeEmbedder()) as there,
    ):
        saved = await here.remember("Ann lives in Paris")
        await there.update(saved.id, content="Ann lives in Rome")
        written = await here.write("Ann plays chess on Fridays")
        assert written.record is not None
        changed = await here.update(saved.id, content="Ann lives in Oslo")

        assert changed.version == 3
