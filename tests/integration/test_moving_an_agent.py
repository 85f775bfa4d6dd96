"""An agent's memory is moved to another store while it is in use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.assemble import moves
from recollect.errors import Conflict
from recollect.settings import Settings


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
