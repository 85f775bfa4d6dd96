"""An agent may have a store of its own; it is opened by itself and shares nothing with others."""

from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.errors import NotAllowed, SettingsError
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
    assert not settings.database.exists()


@pytest.mark.parametrize("agent", ["own", "brief"])
async def test_an_agent_of_another_store_is_refused(tmp_path: Path, agent: str):
    async with Memory.open(_settings(tmp_path)) as memory:
        with pytest.raises(NotAllowed) as refused:
            memory.scope(agent=agent)
        assert refused.value.code == "agent_elsewhere"
        assert memory.scope(agent="usual").caller_scope.agent == "usual"
        assert memory.scope(agent="undeclared").caller_scope.agent == "undeclared"


async def test_a_store_of_its_own_is_for_nobody_else(tmp_path: Path):
    async with Memory.open(_settings(tmp_path, "own")) as memory:
        assert memory.scope(user="ann").caller_scope.user == "ann"
        for other in (None, "usual", "brief"):
            with pytest.raises(NotAllowed):
                memory.scope(agent=other)


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"backend": "mysql"}, "agents.a.backend = 'mysql'"),
        ({"backend": "in_memory", "sqlite_path": "a.db"}, "has no sqlite_path"),
    ],
)
def test_a_store_that_cannot_be_is_told(tmp_path: Path, wanted: dict[str, str], told: str):
    with pytest.raises(SettingsError, match=told):
        _settings(tmp_path, agents={"a": wanted})
