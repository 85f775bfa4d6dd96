"""An agent's memory moves between a file and a server, and back, while somebody writes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from recollect import Memory
from recollect.assemble import moves
from recollect.settings import Settings
from tests.database_servers import Server, kind_of

pytestmark = pytest.mark.server


@pytest.fixture(autouse=True)
def _known_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moves, "FOLLOW_SECONDS", 0.1)
    monkeypatch.setattr(moves, "KNOWN_EVERYWHERE_SECONDS", 0.3)


async def _write(memory: Memory, written: list[str]) -> None:
    sql = memory.scope(agent="sql", user="bob")
    while True:
        record = await sql.remember(f"parcel {len(written)} 包裹{len(written)}")
        written.append(record.id)
        await asyncio.sleep(0.01)


async def _is_whole(memory: Memory, written: list[str]) -> None:
    ann, bob = (memory.scope(agent="sql", user=user) for user in ("ann", "bob"))
    acknowledged = set(written)
    assert {it.id for it in (await bob.list(limit=1000)).items} >= acknowledged
    assert len([it for it in (await ann.list(limit=100)).items if "note" in it.content]) == 30
    assert (await ann.recall("note 笔记7", min_score=0.0)).hits
    (archive,) = (await ann.archives.list()).items
    assert "long result" in await ann.load_tool_history(archive.id)
    assert (await memory.audit.verify()).is_intact


@pytest.mark.parametrize("is_common", [False, True])
async def test_there_and_back_while_somebody_writes(
    server: Server, tmp_path: Path, is_common: bool, monkeypatch: pytest.MonkeyPatch
):
    # Otherwise every file of a test is a database of the server.
    monkeypatch.undo()
    monkeypatch.setattr(moves, "FOLLOW_SECONDS", 0.1)
    monkeypatch.setattr(moves, "KNOWN_EVERYWHERE_SECONDS", 0.3)
    monkeypatch.setenv("RECOLLECT_EMBEDDING__MODEL", "none")
    url = server.url_for(tmp_path / "agents.db")
    # Described as a design document does: a kind of database and its connection.
    backend = "mysql" if kind_of(server) != "postgresql" else "postgresql"
    there = {"backend": backend, "url": url}
    common = {"url": url} if is_common else {"path": tmp_path / "memory.db"}
    settings = Settings.load({"data_dir": tmp_path, "storage": common})
    steps = [{"to": "sql.db"}, {"to": "common"}] if is_common else [there, {"to": "common"}]
    async with Memory.open(settings) as memory, Memory.open(settings) as other:
        ann = memory.scope(agent="sql", user="ann")
        await ann.remember_many(f"note {number} 笔记{number}" for number in range(30))
        await ann.session("s").archive.process_tool_result(
            "search", {"q": "tea"}, "a long result of a tool " * 800, "s"
        )
        written: list[str] = []
        writing = asyncio.create_task(_write(other, written))
        for step in steps:
            await memory.agents.move("sql", **step)
            before = len(written)
            while len(written) < before + 5:
                await asyncio.sleep(0.05)
                assert not writing.done()
            await _is_whole(memory, written)
            await _is_whole(other, written)
            assert await memory.agents.purge_copy("sql") > 0
            await _is_whole(memory, written)
        writing.cancel()
    async with Memory.open(settings) as memory:
        await _is_whole(memory, written)
