"""A backup is whole even while others write, and a restore loses nothing it replaces."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from recollect import Memory, RecollectError
from recollect.assemble import restore


async def test_a_backup_taken_during_writes_is_whole(database_path: Path, tmp_path: Path):
    copy = tmp_path / "copies" / "monday.db"
    async with Memory.open(database_path) as memory:
        before = await memory.remember_many([f"note {number}" for number in range(300)])

        async def keep_writing() -> None:
            for number in range(100):
                await memory.remember(f"later {number}")

        writing = asyncio.create_task(keep_writing())
        await memory.backup(copy)
        await writing

    async with Memory.open(copy) as copied:
        stored = (await copied.stats()).store
        assert 300 <= stored.records <= 400
        assert stored.units == stored.records
        assert (await copied.recall("note 42"))[0].id == before[42].id


async def test_a_restore_brings_the_copy_back_and_keeps_what_it_replaces(
    database_path: Path, tmp_path: Path
):
    copy = tmp_path / "copy.db"
    async with Memory.open(database_path) as memory:
        await memory.remember("Known on Monday")
        await memory.backup(copy)
        await memory.remember("Learnt on Tuesday")

    assert await restore(copy, database_path) == database_path
    async with Memory.open(database_path) as memory:
        assert [record.content for record in await memory.list()] == ["Known on Monday"]
    kept = database_path.with_name("memory.db.before-restore")
    kept.rename(tmp_path / "tuesday.db")
    async with Memory.open(tmp_path / "tuesday.db") as memory:
        assert len(await memory.list()) == 2


async def test_a_backup_never_overwrites(database_path: Path, tmp_path: Path):
    target = tmp_path / "precious.db"
    target.write_text("do not touch")
    async with Memory.open(database_path) as memory:
        with pytest.raises(RecollectError) as refused:
            await memory.backup(target)
    assert refused.value.code == "file_exists"
    assert target.read_text() == "do not touch"


async def test_a_database_in_use_is_not_replaced(database_path: Path, tmp_path: Path):
    copy = tmp_path / "copy.db"
    async with Memory.open(database_path) as memory:
        await memory.remember("Still here")
        await memory.backup(copy)
        with pytest.raises(RecollectError) as refused:
            await restore(copy, database_path)
        assert refused.value.code == "database_in_use"
        assert len(await memory.list()) == 1


@pytest.mark.parametrize("damage", ["missing", "text", "torn"])
async def test_a_bad_backup_leaves_the_database_as_it_was(
    database_path: Path, tmp_path: Path, damage: str
):
    copy = tmp_path / "copy.db"
    async with Memory.open(database_path) as memory:
        await memory.remember_many([f"note {number} " + "x" * 400 for number in range(200)])
        if damage == "torn":
            await memory.backup(copy)
            whole = copy.read_bytes()
            copy.write_bytes(whole[: len(whole) // 2])
    if damage == "text":
        copy.write_text("not a database " * 1000)
    with pytest.raises(RecollectError) as refused:
        await restore(copy, database_path)
    assert refused.value.code in {"backup_missing", "backup_damaged"}
    async with Memory.open(database_path) as memory:
        assert (await memory.stats()).store.records == 200


async def test_a_damaged_database_can_be_replaced_by_a_good_copy(
    database_path: Path, tmp_path: Path
):
    copy = tmp_path / "copy.db"
    async with Memory.open(database_path) as memory:
        await memory.remember("Safe in the copy")
        await memory.backup(copy)
    database_path.write_bytes(b"\xff" * 20_000)
    await restore(copy, database_path)
    async with Memory.open(database_path) as memory:
        assert len(await memory.list()) == 1
    connection = sqlite3.connect(database_path)
    assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    connection.close()
