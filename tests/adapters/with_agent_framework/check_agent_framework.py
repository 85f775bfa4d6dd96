"""The context provider in a real agent of Microsoft's framework with a scripted client."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from agent_framework import Agent, tool

from recollect import Memory
from recollect.adapters.agent_framework import RecollectProvider
from tests.adapters.with_agent_framework.scripted import Scripted, calling
from tests.regulation import Regulation, wants_contents

_LONG = "\n".join(f"Row {n}: container {n} is at berth {n % 40}." for n in range(2_000))


@pytest.fixture
async def ann(tmp_path: Path) -> AsyncIterator[Memory]:
    async with Memory.open(tmp_path / "memory.db") as opened:
        yield opened.scope(user="ann")


async def test_a_preference_is_remembered_across_two_sessions_and_stored_in_neither(ann: Memory):
    known = RecollectProvider(ann)
    client = Scripted(calling("memory_save", content="Ann wants metric units"), "Noted.")
    agent = Agent(client, instructions="Be brief.", context_providers=[known])
    session = agent.create_session(session_id="monday")
    said = "Remember that I want metric units"
    assert (await agent.run(said, session=session)).text == "Noted."
    (saved,) = (await ann.list()).items
    assert saved.content == "Ann wants metric units"

    client = Scripted("About 3 km.", "Yes.")
    agent = Agent(client, instructions="Be brief.", context_providers=[known])
    session = agent.create_session(session_id="tuesday")
    await agent.run("Which units does Ann want?", session=session)
    assert client.told[0].startswith("Be brief.")
    assert "memory_save" in client.told[0]
    assert "Ann wants metric units" in client.told[0]
    assert "<memory>" not in str(session.to_dict())
    # The framework keeps the history; each word of it is observed once.
    await agent.run("Are you sure?", session=session)
    assert [it.text for it in client.sent[1]] == [
        "Which units does Ann want?",
        "About 3 km.",
        "Are you sure?",
    ]
    turns = (await ann.turns(session="tuesday")).items
    assert [it.content for it in turns] == [*(it.text for it in client.sent[1]), "Yes."]
    assert all("by words" in it for it in known.degraded)


async def test_a_large_tool_result_is_archived_in_the_history_too(ann: Memory):
    @tool
    def fetch(name: str) -> str:
        """Fetch a report."""
        return _LONG

    client = Scripted(calling("fetch", name="harbour"), "It has 2000 rows.", "Berth 7.")
    agent = Agent(client, tools=[fetch], context_providers=[RecollectProvider(ann)])
    session = agent.create_session(session_id="s")
    await agent.run("Fetch the harbour report", session=session)
    await agent.run("Where is container 7?", session=session)
    (shown,) = [it.result for said in client.sent[-1] for it in said.contents if it.result]
    assert len(shown) < len(_LONG) / 4
    assert "load_tool_history" in shown
    (archive,) = (await ann.archives.list()).items
    assert await ann.archives.load(archive.id) == _LONG


async def test_a_closed_memory_stops_nobody(tmp_path: Path):
    async with Memory.open(tmp_path / "memory.db") as memory:
        known = RecollectProvider(memory)
    agent = Agent(Scripted("I go on."), context_providers=[known])
    assert (await agent.run("Are you there?")).text == "I go on."
    assert any(it.startswith("closed") for it in known.degraded)


async def test_a_run_that_fails_is_not_observed(ann: Memory):
    agent = Agent(Scripted(), context_providers=[RecollectProvider(ann)])
    with pytest.raises(IndexError):
        await agent.run("Are you there?", session=agent.create_session(session_id="s"))
    assert (await ann.turns(session="s")).items == ()


async def test_the_second_question_does_not_fetch_the_contents_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RECOLLECT_NOTES__ANSWER_FROM_CACHE", "true")
    regulation = Regulation()
    call = calling("get_toc", reg_id="angui_2024")
    client = Scripted(call, "两人。", call, "一人。")
    async with Memory.open(tmp_path / "memory.db") as memory:
        known = RecollectProvider(memory)
        agent = Agent(client, tools=[tool(regulation.get_toc)], context_providers=[known])
        session = agent.create_session(session_id="s")
        await agent.run("倒闸操作由几个人进行？", session=session)
        await agent.run("倒闸操作时谁监护？", session=session)
        assert wants_contents(client.told[0])
        assert not wants_contents(client.told[-1])
        # A model that asks all the same is answered with what is known.
        assert regulation.calls == ["get_toc"]
        await known.reset(session)
        notes = await known.notes(session)
        assert notes is not None
        assert notes.has_cached_toc("angui_2024")
        await known.reset_all(session)
        assert not notes.toc_cache
