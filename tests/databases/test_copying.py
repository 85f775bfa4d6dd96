"""A whole memory moves from one kind of store to another and back."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from recollect import Memory
from recollect.assemble.stores import copy_store
from recollect.errors import InvalidInput, NotFound, StorageError
from recollect.settings import Settings
from tests.conftest import TurnedClock
from tests.database_servers import Server

pytestmark = pytest.mark.server


def _file(folder: Path) -> Settings:
    return Settings.load({"data_dir": folder, "storage": {"path": folder / "memory.db"}})


def _on(server: Server, name: str, folder: Path) -> Settings:
    return Settings.load({"data_dir": folder, "storage": {"url": server.url(name)}})


@pytest.fixture
def empty(server: Server) -> object:
    name = "copied"
    server.run(f"CREATE DATABASE {name}", server.root)
    yield name
    server.run(f"DROP DATABASE {name}", server.root)


async def _fill(memory: Memory) -> str:
    ann = memory.scope(user="ann")
    tea = await ann.remember("Ann drinks green tea", tags=["drink"])
    await ann.update(tea.id, "Ann drinks black tea", confidence=0.1 + 0.2)
    await ann.observe({"role": "user", "content": "我喜欢绿茶"}, session="s")
    long = "a long result of a tool " * 800
    await ann.session("s").archive.process_tool_result("search", {"q": "tea"}, long, "s")
    gone = await memory.scope(user="bob").remember("Bob's locker code is 4417")
    await memory.scope(user="bob").forget(gone.id)
    await ann.remember_many(
        f"note {number} about bicycles, harbours and {number % 7} maps " * 8
        for number in range(300)
    )
    return tea.id


async def test_everything_is_the_same_after_moving_there_and_back(
    server: Server, empty: str, tmp_path: Path, clock: TurnedClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.undo()
    monkeypatch.setenv("RECOLLECT_EMBEDDING__MODEL", "none")
    monkeypatch.setenv("RECOLLECT_WRITING__CLOSE_SECONDS", "0")
    first, there, back = (tmp_path / name for name in ("first", "there", "back"))
    for folder in (first, there, back):
        folder.mkdir()
    async with Memory.open(_file(first), clock=clock) as memory:
        tea = await _fill(memory)
        asked = await memory.scope(user="ann").recall("maps of harbours", min_score=0.0)
    copied = await copy_store(_file(first), _on(server, empty, there))
    assert copied.rows["records"] == 301
    assert copied.contents == 1
    await copy_store(_on(server, empty, there), _file(back))
    for settings in (_on(server, empty, there), _file(back)):
        async with Memory.open(settings, clock=clock) as memory:
            ann = memory.scope(user="ann")
            again = await ann.recall("maps of harbours", min_score=0.0)
            assert [it.item for it in again.hits] == [it.item for it in asked.hits]
            assert len(await ann.history(tea)) == 2
            (archive,) = (await ann.archives.list()).items
            assert "long result" in await ann.load_tool_history(archive.id)
            assert (await memory.audit.verify()).is_intact
            new = await memory.scope(user="new").remember("numbers go on")
            assert (await memory.scope(user="new").get(new.id)).content == "numbers go on"


async def test_a_copy_that_was_interrupted_is_no_memory_and_goes_on(
    server: Server, empty: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.undo()
    monkeypatch.setenv("RECOLLECT_EMBEDDING__MODEL", "none")
    source, target = _file(tmp_path), _on(server, empty, tmp_path / "there")
    async with Memory.open(source) as memory:
        await memory.remember_many([f"note {number}" for number in range(30)])

    def stop(done: int, total: int) -> None:
        if done > total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await copy_store(source, target, progress=stop)
    with pytest.raises(StorageError, match="not finished"):
        await Memory.open(target)
    assert (await copy_store(source, target)).rows["records"] == 30
    async with Memory.open(target) as memory:
        assert len((await memory.list(limit=100)).items) == 30
    with pytest.raises(StorageError, match="has memory in it already"):
        await copy_store(source, target)


async def test_a_copy_is_a_memory_only_when_its_contents_are_there_too(
    server: Server, empty: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.undo()
    monkeypatch.setenv("RECOLLECT_EMBEDDING__MODEL", "none")
    source, target = _file(tmp_path), _on(server, empty, tmp_path / "there")
    async with Memory.open(source) as memory:
        await _fill(memory)

    async def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        killed.setattr("recollect.transfer.backup.copy_contents", stop)
        with pytest.raises(KeyboardInterrupt):
            await copy_store(source, target)
    with pytest.raises(StorageError, match="not finished"):
        await Memory.open(target)
    assert (await copy_store(source, target)).contents == 1


async def test_a_place_without_a_memory_is_not_copied_and_not_made(
    server: Server, empty: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.undo()
    monkeypatch.setenv("RECOLLECT_EMBEDDING__MODEL", "none")
    for source in (_on(server, empty, tmp_path), _file(tmp_path)):
        with pytest.raises(NotFound, match="no memory"):
            await copy_store(source, _file(tmp_path / "there"))
    assert not (tmp_path / "memory.db").exists()
    async with Memory.open(_file(tmp_path)) as memory:
        await memory.remember("something")
    for pair in ((_file(tmp_path), "in_memory://"), ("in_memory://", _file(tmp_path))):
        with pytest.raises(InvalidInput, match="ends with"):
            await copy_store(*(Settings.at(it) if isinstance(it, str) else it for it in pair))


async def test_a_file_of_another_program_is_not_copied_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.undo()
    monkeypatch.setenv("RECOLLECT_EMBEDDING__MODEL", "none")
    async with Memory.open(_file(tmp_path)) as memory:
        await memory.remember("something")
    theirs = tmp_path / "theirs.db"
    with closing(sqlite3.connect(theirs)) as connection:
        connection.execute("CREATE TABLE jobs (id)")
    before = theirs.read_bytes()
    with pytest.raises(StorageError, match="another program"):
        await copy_store(_file(tmp_path), Settings.at(theirs))
    assert theirs.read_bytes() == before
