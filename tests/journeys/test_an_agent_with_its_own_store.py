"""One agent has a database of its own, and still knows its user and what the workspace shares.

On SQLite both are files. With a server the agent's lies there, and the common one there too or in
SQLite: that of a memory which ends with the process.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.settings import Settings
from tests.database_servers import Server

_TOLD = (
    "I am allergic to peanuts.",
    "We decided to use PostgreSQL for the billing project.",
    "I prefer black tea from now on.",
    "Please remember that the deploy script lives in tools/deploy.sh.",
)


@pytest.fixture
def stores(tmp_path: Path, database_server: Server | None) -> dict[str, Any]:
    """The settings of memories in which one agent has a store of its own."""
    own: dict[str, Any] = {"path": "own.db"}
    if database_server is not None:
        own = {"url": database_server.url_for(tmp_path / "own.db")}
    agents = {"own": {"store": "own", "role": "reviewer"}, "boss": {"role": "coordinator"}}
    return {"data_dir": tmp_path, "stores": {"own": own}, "agents": agents}


@pytest.fixture(params=["sqlite", "in_memory"])
def settings(request: pytest.FixtureRequest, stores: dict[str, Any]) -> Settings:
    return Settings.load({**stores, "storage": {"backend": request.param}})


async def _tell(agent: Memory, session: str) -> None:
    async with agent.session(session) as conversation:
        for text in _TOLD:
            await conversation.observe({"role": "user", "content": text})
            await conversation.observe({"role": "assistant", "content": "All right."})
    await agent.drain()


async def test_it_knows_its_user_and_what_is_shared(settings: Settings):
    async with Memory.open(settings) as memory:
        ann, own = memory.scope(user="ann"), memory.scope(user="ann", agent="own")
        profile = await ann.remember("Ann drinks oolong tea", category="user-profile")
        proposal = await own.shared.propose("Tea is served at four", "convention")
        await memory.scope(agent="boss").shared.approve(proposal.id)
        await own.remember("The tea shop opens at nine")

        everything = {
            "Ann drinks oolong tea",
            "Tea is served at four",
            "The tea shop opens at nine",
        }
        assert {hit.content for hit in await own.recall("tea", min_score=0.0)} == everything
        assert {it.content for it in await own.list()} == everything
        prompt = (await own.context("When is tea served, and which does Ann drink?")).text
        assert "at four" in prompt
        assert "oolong" in prompt
        await own.update(profile.id, "Ann drinks white tea")
        assert len(await ann.history(profile.id)) == 2
        # What is the agent's alone nobody else sees.
        assert "The tea shop opens at nine" not in {it.content for it in await ann.list()}


async def test_what_a_user_tells_it_lies_where_it_belongs_and_only_once(settings: Settings):
    async with Memory.open(settings) as memory:
        ann, own = memory.scope(user="ann"), memory.scope(user="ann", agent="own")
        await _tell(own, "monday")
        theirs = {it.content for it in await ann.list()}
        known = {it.content for it in await own.list()}
        assert {"User is allergic to peanuts", "User prefers black tea from now on"} == theirs
        assert theirs < known
        assert any("deploy script" in it for it in known - theirs)
        assert any("PostgreSQL" in it for it in known - theirs)

        await _tell(own, "tuesday")
        assert {it.content for it in await own.list()} == known
        assert {it.evidence_count for it in await ann.list()} == {2}
        assert {it.content for it in await memory.scope(user="ann", agent="boss").list()} == theirs


async def test_it_is_all_there_again_tomorrow(stores: dict[str, Any]):
    settings = Settings.load(stores)
    async with Memory.open(settings) as memory:
        await memory.scope(user="ann").remember("Ann lives in Bath", category="user-profile")
        await memory.scope(user="ann", agent="own").remember("The bath mat is blue")
    async with Memory.open(settings) as memory:
        own = memory.scope(user="ann", agent="own")
        assert len(await own.recall("bath", min_score=0.0)) == 2
        forgotten = await own.forget(user="ann", all_agents=True, verify=True)
        assert forgotten.records == 2
        assert forgotten.verification is not None
        assert forgotten.verification.traces == ()
        assert not len(await own.list())
