"""The PydanticAI capability in real agents with a scripted model."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from recollect import Memory
from recollect.adapters.pydantic_ai import RecollectMemory
from recollect.sync import Memory as BlockingMemory
from tests.adapters.running import check_stories, run_example

_LONG = "\n".join(f"Row {n}: container {n} is at berth {n % 40}." for n in range(2_000))


class Scripted:
    """A model that says what is written, and remembers what it was sent."""

    def __init__(self, *answers: str | ToolCallPart) -> None:
        self._answers = iter(answers)
        self.sent: list[list[ModelMessage]] = []
        self.told: list[str] = []
        self.model = FunctionModel(self._answer)

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.sent.append(messages)
        self.told.append(info.instructions or "")
        said = next(self._answers)
        return ModelResponse([TextPart(said) if isinstance(said, str) else said])


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with Memory.open(tmp_path / "memory.db") as opened:
        yield opened


async def test_a_preference_is_remembered_across_two_runs_and_not_stored(memory: Memory):
    saving = ToolCallPart("memory_save", {"content": "Ann wants metric units", "type": "user"})
    capability = RecollectMemory(memory, user="ann")
    first = Scripted(saving, "Done.")
    await Agent(first.model, capabilities=[capability]).run("Remember that I want metric units")

    second = Scripted("About 3 km.")
    agent = Agent(second.model, instructions="Be brief.", capabilities=[capability])
    done = await agent.run("Which units does Ann want?")
    assert second.told[0].startswith("Be brief.")
    assert "Ann wants metric units" in second.told[0]
    assert "Ann wants metric units" not in done.all_messages_json().decode()
    other = Scripted("No idea.")
    bob = RecollectMemory(memory, user=lambda ctx: "bob")
    await Agent(other.model, capabilities=[bob]).run("Which units does Ann want?")
    assert "metric units" not in other.told[0]


async def test_a_large_tool_result_is_archived_in_the_history_too(memory: Memory):
    script = Scripted(ToolCallPart("fetch", {"name": "harbour"}), "2000 rows.", "Berth 8.")
    agent = Agent(script.model, capabilities=[RecollectMemory(memory, with_tools=False)])

    @agent.tool_plain
    def fetch(name: str) -> str:
        """Fetch a report."""
        return _LONG

    first = await agent.run("Fetch the harbour report: where is container 7?")
    (result,) = _returns(first.all_messages())
    assert len(result) < len(_LONG) / 4
    assert "load_tool_history" in result
    await agent.run("And container 8?", message_history=first.all_messages())
    (shown,) = _returns(script.sent[-1])
    assert len(shown) < len(result)
    (archive,) = (await memory.archives.list()).items
    assert await memory.archives.load(archive.id) == _LONG


def _returns(messages: list[ModelMessage]) -> list[str]:
    parts = (part for message in messages for part in message.parts)
    return [str(it.content) for it in parts if isinstance(it, ToolReturnPart)]


async def test_a_long_chat_is_compressed_and_the_history_stays_whole(memory: Memory):
    history: list[ModelMessage] = []
    for number in range(40):
        call = ToolCallPart("look", {"n": number}, tool_call_id=f"c{number}")
        history += [
            ModelRequest([UserPromptPart(f"Question {number}")]),
            ModelResponse([call]),
            ModelRequest([ToolReturnPart("look", f"Answer {number}", tool_call_id=f"c{number}")]),
            ModelResponse([TextPart(f"It is {number}")]),
        ]
    script = Scripted("Yes.")
    agent = Agent(script.model, capabilities=[RecollectMemory(memory, context_tokens=3_000)])
    done = await agent.run("Are you there?", message_history=history)
    (sent,) = script.sent
    assert len(sent) < 60
    assert len(done.all_messages()) == len(history) + 2
    called = {it.tool_call_id for m in sent for it in m.parts if isinstance(it, ToolCallPart)}
    answered = {it.tool_call_id for m in sent for it in m.parts if isinstance(it, ToolReturnPart)}
    assert called == answered


@pytest.mark.parametrize("end", ["fails", "is cancelled"])
async def test_what_was_said_is_kept_however_the_run_ends(memory: Memory, end: str):
    async def break_off(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if end == "fails":
            raise RuntimeError("the provider is down")
        asyncio.current_task().cancel()  # pyright: ignore[reportOptionalMemberAccess]
        await asyncio.sleep(1)
        raise AssertionError

    capability = RecollectMemory(memory, session="s")
    agent = Agent(FunctionModel(break_off), capabilities=[capability])
    with pytest.raises((RuntimeError, asyncio.CancelledError)):
        await asyncio.create_task(agent.run("Remember that my cat is called Momo"))
    (turn,) = (await memory.turns(session="s")).items
    assert "Momo" in turn.content
    assert turn.act == "statement"
    await memory.drain()
    (record,) = (await memory.list()).items
    assert "Momo" in record.content


async def test_notes_of_tools_are_hinted_reset_and_reset_all(memory: Memory):
    script = Scripted(ToolCallPart("get_toc", {"reg_id": "manual"}), "It has two chapters.")
    capability = RecollectMemory(memory, session="s", with_tools=False)
    agent = Agent(script.model, capabilities=[capability])

    @agent.tool_plain
    def get_toc(reg_id: str) -> str:
        """Return the table of contents."""
        return '{"chapters": [{"title": "1 Scope"}, {"title": "2 Terms"}]}'

    await agent.run("What is in the manual?")
    notes = await capability.notes()
    assert notes.has_cached_toc("manual")
    notes.add_page_content("The limit is 30 days", "manual p. 12")
    await capability.reset()
    assert not notes.relevant_chunks
    assert notes.has_cached_toc("manual")
    await capability.reset_all()
    assert not notes.has_cached_toc("manual")


async def test_a_delegate_sees_the_user_and_keeps_its_own_memory(memory: Memory):
    ann = memory.scope(user="ann", agent="lead")
    await ann.remember("Ann wants metric units", category="user-profile")
    parent = RecollectMemory(ann)
    helper = Scripted("Done.")
    sub = Agent(helper.model)
    lead = Agent(
        Scripted(ToolCallPart("delegate", {"task": "Which units does Ann want?"}), "Ok.").model,
        capabilities=[parent],
    )

    @lead.tool_plain
    async def delegate(task: str) -> str:
        """Ask the helper."""
        return (await sub.run(task, capabilities=[parent.for_delegate("helper")])).output

    await lead.run("Ask the helper")
    assert "Ann wants metric units" in helper.told[0]
    spoken = await memory.scope(user="ann", agent="helper").turns()
    assert [it.content for it in spoken.items][-1] == "Which units does Ann want?"


def test_a_blocking_memory_serves_any_event_loop(tmp_path: Path):
    with BlockingMemory.open(tmp_path / "memory.db") as memory:
        memory.remember("Ann keeps bees")
        script = Scripted("Bees.")
        agent = Agent(script.model, capabilities=[RecollectMemory(memory)])
        assert asyncio.run(agent.run("What does Ann keep?")).output == "Bees."
        assert "Ann keeps bees" in script.told[0]


async def test_a_closed_memory_stops_nobody(tmp_path: Path):
    async with Memory.open(tmp_path / "memory.db") as memory:
        capability = RecollectMemory(memory)
    script = Scripted("I go on.")
    done = await Agent(script.model, capabilities=[capability]).run("Are you there?")
    assert done.output == "I go on."
    assert any(it.startswith("closed") for it in capability.degraded)


def test_the_example_runs(tmp_path: Path):
    check_stories(run_example("pydantic_ai_agent.py", tmp_path))
