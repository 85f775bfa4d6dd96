"""The OpenAI Agents SDK with its own scripted model: session, filter, tools and handoffs."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from agents import (
    Agent,
    MaxTurnsExceeded,
    Runner,
    WebSearchTool,
    function_tool,
    set_tracing_disabled,
)
from agents.exceptions import UserError
from agents.testing import ScriptedModel, assistant_message, function_call

from recollect import Memory
from recollect.adapters.openai_agents import AgentMemory

_LONG = "\n".join(f"Row {n}: container {n} is at berth {n % 40}." for n in range(2_000))

set_tracing_disabled(True)


@pytest.fixture
async def ann(tmp_path: Path) -> AsyncIterator[Memory]:
    async with Memory.open(tmp_path / "memory.db") as opened:
        yield opened.scope(user="ann")


def scripted(*answers: Any) -> ScriptedModel:
    return ScriptedModel([[assistant_message(it) if isinstance(it, str) else it] for it in answers])


def calling(name: str, /, **arguments: Any) -> Any:
    return function_call(name, json.dumps(arguments), call_id=f"call-{name}")


async def test_a_preference_is_remembered_and_told_to_every_agent_but_stored_nowhere(ann: Memory):
    known = AgentMemory(ann, session="monday")
    model = scripted(calling("memory_save", content="Ann wants metric units"), "Noted.")
    first = known.agent(Agent(name="helper", model=model))
    said = "Remember that I want metric units"
    assert (await known.run(first, said, session=known.session)).final_output == "Noted."

    known = AgentMemory(ann, session="tuesday")
    worker, expert = scripted("3 km."), scripted("About 3 km.")
    tool = Agent(name="worker", model=worker).as_tool("ask_worker", "Ask a worker.")
    target = Agent(name="expert", model=expert, instructions="Be exact.")
    handing = function_call("transfer_to_expert", "{}", call_id="call-handoff")
    task = "Which units does Ann want for distances?"
    model = scripted(calling("ask_worker", input=task), handing)
    boss = known.agent(Agent(name="boss", model=model, tools=[tool], handoffs=[target]))
    question = "In which units does Ann want the distance?"
    done = await known.run(boss, question, session=known.session)
    assert done.final_output == "About 3 km."
    for sent in (model.calls[0], worker.calls[0], expert.calls[0]):
        assert "Ann wants metric units" in sent.system_instructions
    assert expert.calls[0].system_instructions.startswith("Be exact.")
    # What was sent is not in the session; what the worker was asked is no word of the user.
    assert "<memory>" not in str(await known.session.get_items())
    spoken = [it.content for it in (await ann.turns(session="tuesday")).items]
    assert question in spoken
    assert "About 3 km." in spoken
    assert task not in spoken
    assert all("by words" in it for it in known.degraded)


async def test_a_large_result_is_archived_in_the_session_too(ann: Memory):
    @function_tool
    def fetch(name: str) -> str:
        """Fetch a report."""
        return _LONG

    known = AgentMemory(ann, session="s")
    model = scripted(calling("fetch", name="harbour"), "It has 2000 rows.")
    agent = known.agent(Agent(name="helper", model=model, tools=[fetch]), with_tools=False)
    await known.run(agent, "Fetch the harbour report", session=known.session)
    (kept,) = [it for it in await known.session.get_items() if "output" in it]
    assert len(kept["output"]) < len(_LONG) / 4
    assert "load_tool_history" in kept["output"]
    (archive,) = (await ann.archives.list()).items
    assert await ann.archives.load(archive.id) == _LONG


async def test_a_long_chat_is_compressed_and_answers_stay_whole(ann: Memory):
    known = AgentMemory(ann, session="s", context_tokens=3_000)
    history: list[Any] = []
    for number in range(40):
        history += [
            {"role": "user", "content": f"Question {number}"},
            {"type": "reasoning", "id": f"rs_{number}", "summary": []},
            {
                "type": "function_call",
                "call_id": f"c{number}",
                "name": "fetch",
                "arguments": "{}",
            },
            {"type": "function_call_output", "call_id": f"c{number}", "output": f"It is {number}"},
        ]
    await known.session.add_items(history)
    model = scripted("Yes.")
    await known.run(Agent(name="helper", model=model), "Are you there?", session=known.session)
    sent = model.calls[0].input
    assert len(sent) < len(history) / 2
    assert sent[-1]["content"] == "Are you there?"
    kinds = [it.get("type", "message") for it in sent]
    # Reasoning, call and result are sent together or not at all.
    assert kinds.count("reasoning") == kinds.count("function_call")
    assert kinds.count("function_call_output") == kinds.count("function_call") > 0
    assert len(await known.session.get_items()) == len(history) + 2
    assert len((await ann.turns(session="s", limit=500)).items) == 122


async def test_a_run_that_fails_is_read_and_a_memory_that_fails_stops_nobody(tmp_path: Path):
    async with Memory.open(tmp_path / "memory.db") as opened:
        memory = opened.scope(user="ann")
        known = AgentMemory(memory, session="s")
        model = scripted(calling("memory_recall", query="tea"), calling("memory_search"))
        agent = known.agent(Agent(name="helper", model=model))
        with pytest.raises(MaxTurnsExceeded):
            await known.run(agent, "I prefer green tea, always.", max_turns=2)
        roles = [it.role for it in (await memory.turns(session="s")).items]
        assert roles[:3] == ["user", "assistant", "tool"]
        with pytest.raises(UserError):
            await known.run(agent, "x", session=known.session, conversation_id="conv_1")
    known = AgentMemory(memory, session="t")
    model = scripted("Still here.")
    done = await known.run(Agent(name="helper", model=model), "Are you there?")
    assert done.final_output == "Still here."
    assert known.degraded


async def test_a_streamed_run_is_told_and_observed_and_hosted_tools_stay(ann: Memory):
    await ann.remember("Ann wants metric units")
    known = AgentMemory(ann, session="s")
    model = scripted("Metric.")
    hosted = WebSearchTool()
    agent = known.agent(Agent(name="helper", model=model, tools=[hosted]), with_tools=False)
    assert agent.tools == [hosted]
    question = "Which units does Ann want?"
    streamed = Runner.run_streamed(
        agent, question, run_config=known.run_config(), hooks=known.hooks, session=known.session
    )
    async for _ in streamed.stream_events():
        pass
    await known.leave(streamed)
    told = model.calls[0].system_instructions
    assert "metric units" in told
    # Without the memory tools nothing tells the model to use them.
    assert "memory_save" not in told
    spoken = [it.content for it in (await ann.turns(session="s")).items]
    assert spoken == [question, "Metric."]


async def test_a_history_that_the_provider_keeps_is_told_and_left_alone(ann: Memory):
    await ann.remember("Ann wants metric units")
    known = AgentMemory(ann, session="s")
    model = scripted("Metric.")
    agent = Agent(name="helper", model=model)
    await known.run(agent, "Which units does Ann want?", previous_response_id="resp_1")
    assert "metric units" in model.calls[0].system_instructions
    assert (await ann.turns(session="s")).items == ()


async def test_a_mistaken_call_of_a_memory_tool_is_told_and_ends_no_run(ann: Memory):
    known = AgentMemory(ann, session="s")
    broken = function_call("memory_save", "{not json", call_id="call-broken")
    model = scripted(broken, calling("memory_recall"), "I try again.")
    done = await known.run(known.agent(Agent(name="helper", model=model)), "Remember it")
    assert done.final_output == "I try again."
    told = [
        it["output"] for it in model.calls[-1].input if it.get("type") == "function_call_output"
    ]
    assert [json.loads(it)["error"]["code"] for it in told] == ["invalid_json", "missing_field"]
