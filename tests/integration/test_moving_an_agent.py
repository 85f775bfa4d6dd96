"""An agent's memory is moved to another store while it is in use."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.assemble import moves
from recollect.assemble.doctor import diagnose
from recollect.errors import Conflict, RecollectError
from recollect.settings import Settings
from tests.command_line import CommandLine


@pytest.fixture(autouse=True)
def _known_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moves, "FOLLOW_SECONDS", 0.1)
    monkeypatch.setattr(moves, "KNOWN_EVERYWHERE_SECONDS", 0.3)


def _settings(place: Path, **changed: Any) -> Settings:
    stores = {"own": {"path": "own.db"}, "other": {"path": "other.db"}}
    return Settings.load({"data_dir": place, "stores": stores, **changed})


async def _fill(memory: Memory) -> str:
    sql = memory.scope(agent="sql", user="ann")
    tea = await sql.remember("Ann drinks green tea", tags=["drink"])
    await sql.update(tea.id, "Ann drinks black tea")
    await sql.observe({"role": "user", "content": "我喜欢绿茶"}, session="s")
    long = "a long result of a tool " * 800
    await sql.session("s").archive.process_tool_result("search", {"q": "tea"}, long, "s")
    await sql.items.put(("notes",), "a", {"text": "an item"})
    await memory.scope(agent="sql", user="bob").remember("Bob deploys on Friday")
    await memory.scope(agent="other", user="ann").remember("Somebody else's memory")
    return tea.id


async def _is_whole(memory: Memory, tea: str) -> None:
    sql = memory.scope(agent="sql", user="ann")
    assert (await sql.get(tea)).content == "Ann drinks black tea"
    assert len([it for it in await sql.list() if "black" in it.content]) == 1
    assert len(await sql.history(tea)) == 2
    assert [it.content for it in await sql.recall("black tea", min_score=0.0)]
    assert (await sql.turns(session="s")).items[0].content == "我喜欢绿茶"
    (archive,) = (await sql.archives.list()).items
    assert "long result" in await sql.load_tool_history(archive.id)
    assert (await sql.items.get(("notes",), "a")).value == {"text": "an item"}
    assert len(await memory.scope(agent="sql", user="bob").list()) == 1
    actions = {it.action for it in (await sql.audit.tail()).items}
    assert "remember" in actions
    assert (await memory.audit.verify()).is_intact
    agents = [it.name for it in (await memory.scope(user=None).workspace.agents()).items]
    assert sorted(agents) == ["other", "sql"]


async def test_it_is_all_there_and_then_moves_back(tmp_path: Path):
    async with Memory.open(_settings(tmp_path)) as memory:
        tea = await _fill(memory)
        told: list[tuple[int, int]] = []
        agent = await memory.agents.move("sql", "own", progress=lambda *it: told.append(it))
        assert agent.store == "own"
        assert agent.move is not None
        assert agent.move.state == "moved"
        assert told[-1][0] == told[-1][1] > 0
        await _is_whole(memory, tea)
    async with Memory.open(_settings(tmp_path)) as memory:
        await _is_whole(memory, tea)
        await memory.scope(agent="sql", user="cy").remember("Cy is new")
        with pytest.raises(Conflict) as refused:
            await memory.agents.move("sql", "other")
        assert refused.value.code == "old_copy_kept"
        await memory.agents.move("sql", "common")
        assert (await memory.agents.get("sql")).store == ""
        await _is_whole(memory, tea)
        assert await memory.agents.purge_copy("sql") > 0
        assert (await memory.agents.get("sql")).move is None
        await _is_whole(memory, tea)
        assert len(await memory.scope(agent="sql", user="cy").list()) == 1
    async with Memory.open(_settings(tmp_path)) as memory:
        await _is_whole(memory, tea)


async def test_a_store_is_tried_before_a_move(tmp_path: Path):
    stores = {"own": {"path": "own.db"}, "brief": {"backend": "in_memory"}}
    async with Memory.open(_settings(tmp_path, stores=stores)) as memory:
        (tmp_path / "notes.db").write_text("a shopping list")
        for place, problem in (("brief", "temporary_store"), ("notes.db", "database_corrupt")):
            with pytest.raises(RecollectError) as refused:
                await memory.agents.try_store("sql", place)
            assert refused.value.code == problem
        await memory.agents.try_store("sql", "own")
        assert not (await memory.agents.list()).items, "nothing was moved"


async def test_nothing_is_forgotten_while_a_copy_would_keep_it(tmp_path: Path):
    async with Memory.open(_settings(tmp_path)) as memory:
        tea = await _fill(memory)
        await memory.agents.move("sql", "own")
        sql = memory.scope(agent="sql", user="ann")
        ann = memory.scope(user="ann")
        for wish in (sql.forget(tea), sql.forget(everything=True), ann.forget(user="ann")):
            with pytest.raises(Conflict) as refused:
                await wish
            assert refused.value.code == "old_copy_kept"
            assert "agents move sql --purge" in refused.value.hint
        await memory.agents.purge_copy("sql")
        forgotten = await ann.forget(user="ann", verify=True)
        assert forgotten.verification is not None
        assert forgotten.verification.is_gone
    for name in ("own.db", "memory/memory.db"):
        assert b"black tea" not in (tmp_path / name).read_bytes()


async def test_what_is_there_already_is_never_mixed_with_what_comes(tmp_path: Path):
    declared = {"agents": {"sql": {"store": "own"}}}
    async with Memory.open(_settings(tmp_path, **declared)) as memory:
        await memory.scope(agent="sql").remember("It was here before")
    async with Memory.open(_settings(tmp_path)) as memory:
        await memory.scope(agent="sql").remember("It is here now")
        with pytest.raises(Conflict) as refused:
            await memory.agents.move("sql", "own")
        assert refused.value.code == "target_not_empty"
        assert [it.content for it in await memory.scope(agent="sql").list()] == ["It is here now"]
        await memory.agents.move("sql", "other")


async def test_the_doctor_names_memory_that_nobody_reads(tmp_path: Path):
    async with Memory.open(_settings(tmp_path)) as memory:
        await _fill(memory)
    changed = _settings(tmp_path, agents={"sql": {"store": "own"}})
    (finding,) = [it for it in (await diagnose(changed)).findings if it.part == "agents"]
    assert finding.verdict == "warning"
    assert "sql has memory that nobody reads: 2 records" in finding.message
    assert "recollect agents move sql --to" in finding.hint
    # A store that the settings no longer name at all.
    async with Memory.open(_settings(tmp_path, agents={"new": {"sqlite_path": "x.db"}})) as memory:
        await memory.scope(agent="new").remember("It is in a file of its own")
    (finding,) = [
        it for it in (await diagnose(_settings(tmp_path))).findings if it.part == "agents"
    ]
    assert "new has memory that nobody reads: 1 records" in finding.message
    assert str(tmp_path / "x.db") in finding.message


async def test_a_move_leaves_the_doctor_content(tmp_path: Path):
    async with Memory.open(_settings(tmp_path)) as memory:
        await _fill(memory)
        await memory.agents.move("sql", "own")
    diagnosis = await diagnose(_settings(tmp_path), deep=True)
    assert [it for it in diagnosis.findings if it.verdict == "problem"] == []
    (finding,) = [it for it in diagnosis.findings if it.part == "agents"]
    assert "its copy in the common store is kept" in finding.message


def test_copying_one_agent_copies_nobody_else(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
):
    recollect = CommandLine(capfdbinary)
    here, there = tmp_path / "a.db", tmp_path / "b.db"

    async def fill() -> None:
        async with Memory.open(here) as memory:
            await _fill(memory)
            await memory.scope(user="ann").remember("Ann's own", category="user-profile")

    async def look() -> None:
        async with Memory.open(there) as memory:
            everybody = memory.scope(user=None).workspace
            assert [it.name for it in (await everybody.agents()).items] == ["sql"]
            assert [it.name for it in (await everybody.users()).items if it.name != "me"]
            assert len(await memory.scope(agent="sql", user="bob").list()) == 1
            assert not len(await memory.scope(user="ann").list())
            assert (await memory.audit.verify()).is_intact

    asyncio.run(fill())
    places = ("--from", str(here), "--to", str(there))
    said = recollect("--json", "copy", "--agent", "sql", *places)
    assert said.status == 0, said.err
    assert said.json["rows"]["records"] >= 2
    asyncio.run(look())
    assert (
        recollect("--json", "copy", "--agent", "sql", *places).error["code"] == "target_not_empty"
    )
    nowhere = ("--from", str(here), "--to", str(tmp_path / "c.db"))
    assert recollect("--json", "copy", "--agent", "x", *nowhere).error["code"] == "no_such_memory"
    assert not (tmp_path / "c.db").exists()


def test_an_agent_is_moved_at_the_command_line(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
):
    recollect = CommandLine(capfdbinary)
    data = ("--data", str(tmp_path / "m.db"))
    recollect(*data, "remember", "Joins are slow", "--agent", "sql")
    refused = recollect(*data, "--json", "agents", "set", "sql", "--store", "sql.db")
    assert refused.error["code"] == "agent_has_memory"
    told = refused.error["hint"].partition("recollect ")[2]
    # What it says is what works.
    moved = recollect(*data, *told.split())
    assert moved.status == 0, moved.err
    assert "The memory of sql is in sql.db" in moved.out
    assert "is kept: recollect agents move sql --purge" in moved.out
    assert "Joins are slow" in recollect(*data, "recall", "slow joins", "--agent", "sql").out
    assert recollect(*data, "agents", "move", "sql", "--purge").status == 0
    shown = recollect(*data, "--json", "agents", "show", "sql").json
    assert (shown["store"], shown["move"]) == ("sql.db", None)
    assert "Joins are slow" in recollect(*data, "recall", "slow joins", "--agent", "sql").out
