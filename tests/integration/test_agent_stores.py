"""An agent may have a store of its own; its user and what is shared it knows all the same."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.errors import InvalidInput, SettingsError, StorageError
from recollect.settings import Settings


def _settings(place: Path, agent: str | None = None, **changed: Any) -> Settings:
    agents = {
        "own": {"sqlite_path": place / "own.db"},
        "brief": {"backend": "in_memory"},
        "usual": {"backend": "sqlite"},
    }
    return Settings.load(
        {"data_dir": place, "scope": {"agent": agent}, "agents": agents, "storage": {}, **changed}
    )


async def _contents(settings: Settings) -> list[str]:
    async with Memory.open(settings) as memory:
        return [it.content for it in (await memory.list()).items]


async def test_an_agent_keeps_its_memory_in_its_own_file(tmp_path: Path):
    async with Memory.open(_settings(tmp_path, "own")) as memory:
        await memory.remember("茶要绿茶")
        assert memory.settings.database == tmp_path / "own.db"

    assert await _contents(_settings(tmp_path, "own")) == ["茶要绿茶"]
    assert await _contents(_settings(tmp_path, "usual")) == []
    assert (tmp_path / "memory" / "memory.db").exists()


async def test_memory_that_an_agent_has_for_a_while_is_gone_with_the_process(tmp_path: Path):
    settings = _settings(tmp_path, "brief")
    async with Memory.open(settings) as memory:
        await memory.remember("Tea is green")
        assert (await memory.list()).items
    assert await _contents(settings) == []


async def test_an_agent_with_its_own_store_knows_its_user_and_what_is_shared(tmp_path: Path):
    async with Memory.open(_settings(tmp_path)) as memory:
        ann = memory.scope(user="ann")
        await ann.remember("Ann drinks oolong tea", category="user-profile")
        own = memory.scope(user="ann", agent="own")
        await own.remember("The tea shop opens at nine")
        mine = await own.remember("Ann likes tea from Taiwan", category="user-profile")

        known = {hit.content for hit in await own.recall("tea", min_score=0.0)}
        assert known == {
            "Ann drinks oolong tea",
            "The tea shop opens at nine",
            "Ann likes tea from Taiwan",
        }
        assert len(await own.list()) == 3
        assert "oolong" in (await own.context("Which tea does Ann drink?")).text
        # The profile is the user's, whoever wrote it; the rest is the agent's alone.
        for other in (ann, memory.scope(user="ann", agent="usual")):
            told = {it.content for it in await other.list()}
            assert told == {"Ann drinks oolong tea", "Ann likes tea from Taiwan"}
        await own.update(mine.id, "Ann likes tea from Japan")
        assert (await ann.get(mine.id)).content == "Ann likes tea from Japan"
        with pytest.raises(InvalidInput) as refused:
            await own.remember_many(["mine", {"content": "x", "category": "user-profile"}])
        assert refused.value.code == "two_stores"

    with closing(sqlite3.connect(tmp_path / "own.db")) as file:
        assert file.execute("SELECT count(*) FROM records").fetchone() == (1,)


@pytest.mark.parametrize("agent", [None, "own", "brief"])
async def test_whoever_is_forgotten_is_forgotten_in_every_store(tmp_path: Path, agent: str | None):
    async with Memory.open(_settings(tmp_path, agent)) as memory:
        everybody = [memory.scope(user="ann", agent=it) for it in (None, "own", "brief", "usual")]
        for place, its in enumerate(everybody):
            await its.remember(f"Ann's locker code is 44{place}7")
        done = await everybody[0].forget(user="ann", verify=True)
        assert done.records == 4
        for its in everybody:
            assert not (await its.list()).items
    assert await _contents(_settings(tmp_path, "own")) == []


async def test_a_store_that_cannot_be_opened_keeps_only_its_agent_out(tmp_path: Path):
    away = {"away": {"url": "postgresql://nobody@127.0.0.1:1/nothing"}}
    settings = _settings(tmp_path, stores=away, agents={"far": {"store": "away"}})
    async with Memory.open(settings) as memory:
        assert (await memory.remember("Tea is green")).id
        with pytest.raises(StorageError) as refused:
            memory.scope(agent="far")
        assert refused.value.code == "database_unreachable"
        # Nobody is told to be forgotten while a store may still know them.
        with pytest.raises(StorageError) as refused:
            await memory.forget(user="ann", all_agents=True)
        assert refused.value.code == "store_unopened"


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"backend": "oracle"}, "agents.a.backend = 'oracle'"),
        ({"backend": "mysql"}, "backend = 'mysql' needs a url"),
        ({"backend": "mysql", "url": "postgresql://u@h/d"}, "url is for backend postgresql"),
        ({"backend": "mysql", "url": "mysql://u@h/d", "password_env": "HOME"}, "password_env"),
        ({"backend": "in_memory", "sqlite_path": "a.db"}, "has no sqlite_path"),
    ],
)
def test_a_store_that_cannot_be_is_told(tmp_path: Path, wanted: dict[str, str], told: str):
    with pytest.raises(SettingsError, match=told):
        _settings(tmp_path, agents={"a": wanted})
