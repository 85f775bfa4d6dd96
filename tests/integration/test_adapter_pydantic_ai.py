"""The PydanticAI capability in real agents with a scripted model."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent, ModelRetry, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RealtimeTurnCompleteEvent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturn,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.realtime import RealtimeModel
from pydantic_ai.realtime.codec import (
    InputTranscript,
    OutputTranscript,
    RealtimeCodecEvent,
    RealtimeConnection,
    RealtimeInput,
    ResponseDone,
)
from pydantic_ai.realtime.lifecycle import InferredLifecycle, LifecycleEvent, RealtimeFrame

from recollect import Memory
from recollect.adapters.pydantic_ai import RecollectMemory
from recollect.sync import Memory as BlockingMemory
from tests.adapters.running import check_stories, run_example
from tests.regulation import CHAPTER, PAGE, Regulation, wants_contents
from tests.serving import served

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
        yield opened.scope(user="ann")


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
    # Without the memory tools nothing tells the model to use them.
    assert "memory_save" not in script.told[0]
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
            ModelResponse([ThinkingPart("Hm.", signature=f"sig{number}"), call]),
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
    signed = [it.signature for m in sent for it in m.parts if isinstance(it, ThinkingPart)]
    assert set(signed) == {it.replace("c", "sig") for it in called}


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


class Unpacking(AbstractCapability[Any]):
    """Another capability, which takes the rows out of a result."""

    async def after_tool_execute(self, ctx: RunContext[Any], *, result: Any, **_: Any) -> Any:
        return result["rows"]


@pytest.mark.parametrize("is_first", [True, False])
async def test_a_result_is_archived_as_other_capabilities_leave_it(memory: Memory, is_first: bool):
    known = RecollectMemory(memory, with_tools=False)
    agent = Agent(
        Scripted(ToolCallPart("fetch"), "2000 rows.").model,
        capabilities=[known, Unpacking()] if is_first else [Unpacking(), known],
    )

    @agent.tool_plain
    def fetch() -> dict[str, str]:
        """Fetch a report."""
        return {"rows": _LONG}

    done = await agent.run("Fetch the report")
    (result,) = _returns(done.all_messages())
    assert len(result) < len(_LONG) / 4
    (archive,) = (await memory.archives.list()).items
    assert await memory.archives.load(archive.id) == _LONG


async def test_structured_results_are_archived_too(memory: Memory):
    script = Scripted(ToolCallPart("fetch"), "2000 rows.")
    agent = Agent(script.model, capabilities=[RecollectMemory(memory)])

    @agent.tool_plain
    def fetch() -> ToolReturn[dict[str, str]]:
        """Fetch a report."""
        return ToolReturn(return_value={"rows": _LONG}, metadata={"page": 1})

    done = await agent.run("Fetch the report")
    (part,) = done.all_messages()[2].parts
    assert isinstance(part, ToolReturnPart)
    assert len(str(part.content)) < len(_LONG) / 4
    assert part.metadata == {"page": 1}


async def test_mistakes_are_told_and_what_is_tried_again_is_taken_over_once(memory: Memory):
    script = Scripted(ToolCallPart("memory_recall", {"query": 3}), "wrong", "right")
    agent = Agent(script.model, capabilities=[RecollectMemory(memory, session="s")])

    @agent.output_validator
    def check(said: str) -> str:
        if said == "wrong":
            raise ModelRetry("Think again")
        return said

    done = await agent.run("What is it?")
    assert done.output == "right"
    (mistake,) = _returns(done.all_messages())
    assert '"error"' in mistake
    spoken = [it.content for it in (await memory.turns(session="s")).items]
    assert spoken[0] == "What is it?"
    assert spoken[2:] == [mistake, "wrong", spoken[4], "right"]
    assert "Think again" in spoken[4]


async def test_a_streamed_run_is_observed_to_its_end(memory: Memory):
    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        yield "Me"
        yield "tric."

    agent = Agent(
        FunctionModel(stream_function=stream), capabilities=[RecollectMemory(memory, session="s")]
    )
    async with agent.run_stream("Which units?") as streamed:
        assert await streamed.get_output() == "Metric."
    spoken = [it.content for it in (await memory.turns(session="s")).items]
    assert spoken == ["Which units?", "Metric."]


async def test_one_capability_serves_runs_side_by_side(memory: Memory):
    users = ("ann", "bob")
    for user in users:
        await memory.scope(user=user).remember(f"The cat of {user} is called Momo")
    known = RecollectMemory(memory, user=lambda ctx: ctx.deps)
    scripts = {user: Scripted("Momo.") for user in users}
    agent = Agent(deps_type=str, capabilities=[known])
    question = "What is my cat called?"
    runs = (agent.run(question, model=scripts[it].model, deps=it) for it in users)
    await asyncio.gather(*runs)
    for user, other in (users, users[::-1]):
        assert f"cat of {user}" in scripts[user].told[0]
        assert f"cat of {other}" not in scripts[user].told[0]
        spoken = (await memory.scope(user=user).turns()).items
        assert {it.content for it in spoken} == {question, "Momo."}


class SpokenWith(RealtimeModel):
    """A realtime model that hears one sentence and answers it."""

    def __init__(self, heard: str, answer: str) -> None:
        super().__init__(profile={"supports_session_seeding": True})
        self._events = [
            InputTranscript(heard, is_final=True),
            OutputTranscript(answer, is_final=True),
            ResponseDone(),
        ]
        self.told = ""

    @property
    def model_name(self) -> str:
        return "spoken"

    @property
    def system(self) -> str:
        return "test"

    @asynccontextmanager
    async def connect(
        self, *, messages: Sequence[ModelMessage], **_: Any
    ) -> AsyncIterator[RealtimeConnection]:
        self.told = str(messages[-1].instructions)
        yield SpokenConnection(self._events)


class SpokenConnection(RealtimeConnection):
    """Plays what is heard and said, whatever is sent."""

    def __init__(self, events: Sequence[RealtimeCodecEvent]) -> None:
        self._events = events
        self._lifecycle = InferredLifecycle()

    async def send(self, content: RealtimeInput) -> Sequence[LifecycleEvent] | None:
        with self._lifecycle.sending(content):
            return self._lifecycle.take_pending()

    async def frames(self) -> AsyncIterator[RealtimeFrame]:
        for event in self._events:
            yield self._lifecycle.frame_for([event])


async def test_a_spoken_session_is_told_what_is_remembered_and_observed(memory: Memory):
    await memory.remember("Ann wants metric units")
    model = SpokenWith("How far is it?", "About 3 km.")
    agent = Agent(instructions="Be brief.", capabilities=[RecollectMemory(memory, session="s")])
    before: list[ModelMessage] = [ModelRequest([UserPromptPart("Which units does Ann want?")])]

    async def speak() -> None:
        async with agent.realtime(model, message_history=before).session() as session:
            async for event in session:
                if isinstance(event, RealtimeTurnCompleteEvent):
                    return

    # The framework says that it has no model requests to prepare.
    with pytest.warns(UserWarning, match="prepare_model_request"):
        await speak()
    assert model.told.startswith("Be brief.")
    assert "Ann wants metric units" in model.told
    assert "memory_save" in model.told
    spoken = [it.content for it in (await memory.turns(session="s")).items]
    assert spoken == ["Which units does Ann want?", "How far is it?", "About 3 km."]


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
    with BlockingMemory.open(tmp_path / "memory.db") as opened:
        memory = opened.scope(user="ann")
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


def _reader(regulation: Regulation, capability: RecollectMemory, model: FunctionModel) -> Any:
    agent = Agent(model, capabilities=[capability])
    agent.tool_plain(regulation.get_toc)
    agent.tool_plain(regulation.read_page_range)
    return agent


async def test_the_second_question_does_not_fetch_the_contents_again(memory: Memory):
    regulation = Regulation()
    told: list[str] = []

    def follow(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        told.append(info.instructions or "")
        if wants_contents(told[-1]):
            return ModelResponse([ToolCallPart("get_toc", {"reg_id": "angui_2024"})])
        if "angui_2024 P85-86" not in told[-1]:
            pages = {"reg_id": "angui_2024", "start_page": 85, "end_page": 86}
            return ModelResponse([ToolCallPart("read_page_range", pages)])
        return ModelResponse([TextPart("两人。")])

    capability = RecollectMemory(memory, session="s")
    agent = _reader(regulation, capability, FunctionModel(follow))
    await agent.run("倒闸操作由几个人进行？")
    await agent.run("倒闸操作时谁监护？")
    assert regulation.calls == ["get_toc", "read_page_range"]
    # The whole of it is archived, and the hint says where.
    (archive,) = (await memory.archives.list()).items
    assert f'load_tool_history(uuid="{archive.id}")' in told[-1]
    assert PAGE in told[-1]

    # A service that is down takes nothing away.
    regulation.is_down = True
    broken = Scripted(ToolCallPart("get_toc", {"reg_id": "angui_2024"}), "空的。", "有。")
    agent = _reader(regulation, capability, broken.model)
    await agent.run("再看一次目录")
    await agent.run("有第三章吗？")
    assert CHAPTER in broken.told[-1]
    await capability.reset()
    assert (await capability.notes()).get_memory_context() == ""
    await capability.reset_all()
    assert not (await capability.notes()).has_cached_toc("angui_2024")


@asynccontextmanager
async def _opened(path: Path, place: str) -> AsyncIterator[Memory]:
    """Open a memory here, or on a server."""
    if place == "here":
        async with Memory.open(path) as memory:
            yield memory
    else:
        async with served(path) as address, Memory.open(address) as memory:
            yield memory


@pytest.mark.parametrize("place", ["here", "on a server"])
async def test_an_equal_call_is_answered_from_the_notes_where_that_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
):
    monkeypatch.setenv("RECOLLECT_NOTES__ANSWER_FROM_CACHE", "true")
    regulation = Regulation()
    call = ToolCallPart("get_toc", {"reg_id": "angui_2024"})
    async with _opened(tmp_path / "m.db", place) as opened:
        memory = opened.scope(user="ann")
        capability = RecollectMemory(memory, session="s", with_tools=False)
        script = Scripted(call, "好。", call, "好。")
        agent = _reader(regulation, capability, script.model)
        await agent.run("目录里有什么？")
        done = await agent.run("再看一次目录")
        (archive,) = (await memory.archives.list()).items
    assert regulation.calls == ["get_toc"]
    (result,) = _returns(done.all_messages())
    assert archive.id in result
    assert CHAPTER in script.told[-1]
    assert f'load_tool_history(uuid="{archive.id}")' in script.told[-1]
