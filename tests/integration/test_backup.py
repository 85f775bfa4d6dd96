"""A backup is whole even while others write, and a restore loses nothing it replaces."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from recollect import Memory, RecollectError
from recollect.assemble.stores import restore


@pytest.mark.sqlite(reason="a server has its own tool for backups")
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


@pytest.mark.sqlite(reason="a server has its own tool for backups")
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


@pytest.mark.sqlite(reason="a server has its own tool for backups")
async def test_a_database_in_use_is_not_replaced(database_path: Path, tmp_path: Path):
    copy = tmp_path / "copy.db"
    async with Memory.open(database_path) as memory:
        await memory.remember("Still here")
        await memory.backup(copy)
        with pytest.raises(RecollectError) as refused:
            await restore(copy, database_path)
        assert refused.value.code == "database_in_use"
        assert len(await memory.list()) == 1


@pytest.mark.sqlite(reason="a server has its own tool for backups")
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


@pytest.mark.sqlite(reason="a server has its own tool for backups")
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


def _sqlite_file(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path


@pytest.mark.sqlite(reason="a server has its own tool for backups")
@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("empty", "backup_damaged"),
        ("foreign", "not_our_database"),
        ("newer", "database_newer"),
    ],
)
async def test_only_a_database_that_can_be_opened_replaces_another(
    database_path: Path, tmp_path: Path, kind: str, code: str
):
    copy = tmp_path / "copy.db"
    async with Memory.open(database_path) as memory:
        await memory.remember("The real data")
        if kind == "newer":
            await memory.backup(copy)
    if kind == "empty":
        copy.touch()
    elif kind == "foreign":
        _sqlite_file(copy, "CREATE TABLE songs (title)")
    else:
        _sqlite_file(copy, "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(RecollectError) as refused:
        await restore(copy, database_path)
    assert refused.value.code == code
    async with Memory.open(database_path) as memory:
        assert [record.content for record in await memory.list()] == ["The real data"]


@pytest.mark.sqlite(reason="a server has its own tool for backups")
async def test_every_database_that_a_restore_replaces_is_kept(database_path: Path, tmp_path: Path):
    copy = tmp_path / "copy.db"
    async with Memory.open(database_path) as memory:
        await memory.backup(copy)
        await memory.remember("The real data")
    for _ in range(3):
        await restore(copy, database_path)
    kept = sorted(tmp_path.glob("memory.db.before-restore*"))
    assert len(kept) == 3
    async with Memory.open(kept[0].rename(tmp_path / "first.db")) as memory:
        assert [record.content for record in await memory.list()] == ["The real data"]


async def _archived(memory: Memory, text: str) -> str:
    await memory.session("s").archive.process_tool_result("search", {"query": "q"}, text, "s")
    return (await memory.archives.list(limit=1))[0].id


@pytest.mark.sqlite(reason="a server has its own tool for backups")
@pytest.mark.parametrize("text", ["a long result " * 1_000, "很长的结果，" * 2_000])
async def test_a_backup_has_the_contents_of_archives(
    database_path: Path, tmp_path: Path, text: str
):
    copy = tmp_path / "copies" / "monday.db"
    async with Memory.open(database_path) as memory:
        archive = await _archived(memory, text)
        made = await memory.backup(copy)
        assert (made.copied, made.lost) == (1, ())
        with pytest.raises(RecollectError, match="file_exists"):
            await memory.backup(copy)
    # A copy is a database like any other.
    async with Memory.open(copy) as memory:
        assert text in await memory.load_tool_history(archive)
    moved = tmp_path / "elsewhere" / "memory.db"
    moved.parent.mkdir()
    await restore(copy, moved)
    async with Memory.open(moved) as memory:
        assert text in await memory.load_tool_history(archive)


@pytest.mark.sqlite(reason="a server has its own tool for backups")
async def test_a_content_that_is_lost_or_damaged_is_told_and_the_rest_is_copied(
    database_path: Path, tmp_path: Path
):
    copy = tmp_path / "copy.db"
    async with Memory.open(database_path) as memory:
        for number in range(3):
            archive = await _archived(memory, f"{number} a long result " * 1_000)
        first, second, _ = sorted(tmp_path.glob("memory.db-blobs/**/*.zst"))
        first.unlink()
        second.write_bytes(b"damaged")
        made = await memory.backup(copy)
        assert made.copied == 1
        assert {Path(key).name for key in made.lost} == {first.name, second.name}
    await restore(copy, tmp_path / "elsewhere.db")
    async with Memory.open(tmp_path / "elsewhere.db") as memory:
        assert len(await memory.archives.list()) == 3
        assert archive


async def test_a_backup_that_fails_leaves_nothing_behind(database_path: Path, tmp_path: Path):
    (tmp_path / "copy.db-blobs").mkdir()
    async with Memory.open(database_path) as memory:
        await _archived(memory, "a long result " * 1_000)
        with pytest.raises(RecollectError, match="file_exists"):
            await memory.backup(tmp_path / "copy.db")
    assert [it.name for it in tmp_path.glob("copy.db*")] == ["copy.db-blobs"]


@pytest.mark.sqlite(reason="a server has its own tool for backups")
async def test_a_place_that_cannot_be_written_is_named(database_path: Path, tmp_path: Path):
    copy = tmp_path / "copy.db"
    (tmp_path / "file").write_text("in the way")
    blocked = tmp_path / "file" / "sub" / "copy.db"
    async with Memory.open(database_path) as memory:
        await memory.backup(copy)
        with pytest.raises(RecollectError) as unwritten:
            await memory.backup(blocked)
    (tmp_path / "memory.db.unfinished").mkdir()
    with pytest.raises(RecollectError) as unrestored:
        await restore(copy, database_path)
    for refused, place in ((unwritten, blocked), (unrestored, database_path)):
        assert refused.value.code == "file_unwritable"
        assert str(place) in refused.value.message
