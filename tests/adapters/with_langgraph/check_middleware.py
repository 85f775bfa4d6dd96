"""The LangChain middleware in a real agent with a scripted model."""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from recollect import Memory
from recollect.adapters.langchain import RecollectMiddleware
from recollect.sync import Memory as BlockingMemory
from tests.adapters.with_langgraph.scripted import calling, scripted

_LONG = "\n".join(f"Row {n}: container {n} is at berth {n % 40}." for n in range(2_000))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[BlockingMemory]:
    with BlockingMemory.open(tmp_path / "memory.db") as opened:
        yield opened


def of(user: str, thread: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread, "user_id": user}}


def test_a_preference_is_remembered_across_two_runs_and_never_stored_twice(memory: BlockingMemory):
    middleware = RecollectMiddleware(memory)
    first = create_agent(
        scripted(calling("memory_save", content="Ann wants metric units", type="user"), "Done."),
        middleware=[middleware],
    )
    said = {"messages": [HumanMessage("Remember that I want metric units")]}
    done = first.invoke(said, of("ann", "monday"))
    (kept,) = [it for it in done["messages"] if isinstance(it, ToolMessage)]
    assert json.loads(kept.content)["status"] == "created"

    model = scripted("About 3 km.")
    second = create_agent(model, system_prompt="Be brief.", middleware=[middleware])
    asked = {"messages": [HumanMessage("Which units does Ann want?")]}
    done = second.invoke(asked, of("ann", "tuesday"))
    (sent,) = model.sent
    assert isinstance(sent[0], SystemMessage)
    assert sent[0].text.startswith("Be brief.")
    assert "Ann wants metric units" in sent[0].text
    # It was sent, and is not in the agent's state.
    assert all("<memory>" not in str(it.content) for it in done["messages"])
    # Bob's memory is another one.
    model = scripted("I do not know.")
    create_agent(model, middleware=[middleware]).invoke(asked, of("bob", "wednesday"))
    assert "metric units" not in str(model.sent)
    # The tests search by words; nothing else is missing.
    assert all("by words" in it for it in done["memory_degraded"])


@tool
def fetch(name: str) -> str:
    """Fetch a report."""
    return _LONG


@tool
def delegate(name: str) -> Command:
    """Fetch a report as a command."""
    return Command(update={"messages": [ToolMessage(_LONG, tool_call_id="call-delegate")]})


@pytest.mark.parametrize("name", ["fetch", "delegate"])
def test_a_large_tool_result_is_archived_in_the_state_too(memory: BlockingMemory, name: str):
    middleware = RecollectMiddleware(memory, with_tools=False)
    model = scripted(calling(name, name="harbour"), "It has 2000 rows.", "Berth 7.")
    agent = create_agent(
        model, tools=[fetch, delegate], middleware=[middleware], checkpointer=InMemorySaver()
    )
    asked = {"messages": [HumanMessage("Fetch the harbour report: where is container 7?")]}
    done = agent.invoke(asked, of("ann", "s"))
    (result,) = [it for it in done["messages"] if isinstance(it, ToolMessage)]
    assert len(result.text) < len(_LONG) / 4
    assert "load_tool_history" in result.text
    # Without the memory tools nothing tells the model to use them.
    assert "memory_save" not in str(model.sent[0])
    # In the next turn the placeholder alone is shown.
    agent.invoke({"messages": [HumanMessage("And container 8?")]}, of("ann", "s"))
    (shown,) = [it for it in model.sent[-1] if isinstance(it, ToolMessage)]
    assert len(shown.text) <= len(result.text)
    ann = memory.scope(user="ann")
    (archive,) = ann.archives.list().items
    assert ann.archives.load(archive.id) == _LONG


def test_a_long_chat_is_compressed_and_calls_keep_their_results(memory: BlockingMemory):
    history: list[Any] = []
    for number in range(40):
        history += [
            HumanMessage(f"Question {number}"),
            AIMessage(
                [{"type": "thinking", "thinking": "Hm.", "signature": f"sig{number}"}],
                tool_calls=calling("fetch", name=str(number)).tool_calls,
            ),
            ToolMessage(f"Answer {number}", tool_call_id="call-fetch"),
            AIMessage(f"It is {number}"),
        ]
    model = scripted("Yes.")
    middleware = RecollectMiddleware(memory, context_tokens=3_000)
    agent = create_agent(model, middleware=[middleware])
    done = agent.invoke({"messages": [*history, HumanMessage("Are you there?")]}, of("ann", "s"))
    (sent,) = model.sent
    assert len(sent) < 60
    assert sent[-1].text == "Are you there?"
    for before, after in pairwise(sent):
        assert not isinstance(after, ToolMessage) or before.tool_calls
    # What was thought is sent as it was signed.
    thoughts = [it for it in sent if isinstance(it.content, list)]
    assert thoughts
    assert all(it in history for it in thoughts)
    assert len(done["messages"]) == len(history) + 2


async def test_async_runs_work_with_a_memory_of_the_same_loop(tmp_path: Path):
    async with Memory.open(tmp_path / "memory.db") as memory:
        await memory.scope(user="ann").remember("Ann keeps bees")
        middleware = RecollectMiddleware(memory)
        model = scripted(calling("memory_recall", query="bees"), "Bees.")
        agent = create_agent(model, middleware=[middleware])
        asked = {"messages": [HumanMessage("What does Ann keep?")]}
        done = await agent.ainvoke(asked, of("ann", "s"))
        (found,) = [it for it in done["messages"] if isinstance(it, ToolMessage)]
        assert "Ann keeps bees" in found.text
        turns = await memory.scope(user="ann").turns(session="s")
        assert [it.role for it in turns.items] == ["user", "assistant", "tool", "assistant"]
    # A memory that was closed stops nobody, and says so.
    model = scripted("I go on.")
    done = await create_agent(model, middleware=[middleware]).ainvoke(asked, of("ann", "s"))
    assert done["messages"][-1].text == "I go on."
    assert any(it.startswith("closed") for it in done["memory_degraded"])


@tool
def fetch_in_parts(name: str) -> list[dict[str, str]]:
    """Fetch a report in two parts."""
    half = len(_LONG) // 2
    return [{"type": "text", "text": it} for it in (_LONG[:half], _LONG[half:])]


def test_what_was_said_before_a_failure_is_kept_and_mistakes_are_told(memory: BlockingMemory):
    middleware = RecollectMiddleware(memory)
    agent = create_agent(scripted(calling("memory_recall", query=3)), middleware=[middleware])
    said = HumanMessage("Remember that my cat is called Momo")
    # The script is at its end when the tool has answered: the second call of the model fails.
    with pytest.raises(Exception, match="StopIteration"):
        agent.invoke({"messages": [said]}, of("ann", "s"))
    ann = memory.scope(user="ann")
    spoken = ann.turns(session="s").items
    assert [it.role for it in spoken] == ["user", "assistant", "tool"]
    assert "query" in spoken[2].content
    # LangChain tells nobody that the run has failed: it is read when the next one ends.
    later = create_agent(scripted("Hello."), middleware=[middleware])
    later.invoke({"messages": [said, AIMessage("Noted."), HumanMessage("Hi")]}, of("ann", "s"))
    memory.drain()
    assert any("Momo" in it.content for it in ann.list().items)


def test_two_memories_with_their_own_names_serve_one_agent_and_parts_are_archived(
    memory: BlockingMemory,
):
    memory.scope(user="ann").remember("Ann wants metric units")
    own = RecollectMiddleware(memory, with_tools=False)
    team = RecollectMiddleware(memory.scope(agent="team"), with_tools=False, name="team")
    model = scripted(calling("fetch_in_parts", name="harbour"), "Done.")
    agent = create_agent(model, tools=[fetch_in_parts], middleware=[own, team])
    asked = {"messages": [HumanMessage("Which units does Ann want?")]}
    done = agent.invoke(asked, of("ann", "s"))
    assert "Ann wants metric units" in model.sent[0][0].text
    (result,) = [it for it in done["messages"] if isinstance(it, ToolMessage)]
    assert len(result.text) < len(_LONG) / 4
