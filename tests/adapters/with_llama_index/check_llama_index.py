"""The memory block in LlamaIndex's own memory."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import Memory as ChatMemory
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context

from recollect import Memory
from recollect.adapters.llama_index import RecollectBlock
from tests.regulation import Regulation, wants_contents

_LONG = "\n".join(f"Row {n}: container {n} is at berth {n % 40}." for n in range(2_000))


async def test_each_step_is_told_what_is_remembered_and_the_history_is_kept(tmp_path: Path):
    async with Memory.open(tmp_path / "memory.db") as opened:
        memory = opened.scope(user="ann")
        await memory.remember("Ann wants metric units")
        block = RecollectBlock(memory, session="s")
        # Its own counter of tokens would be downloaded.
        history = ChatMemory.from_defaults(
            session_id="s", memory_blocks=[block], tokenizer_fn=str.split
        )
        # At the start of a run nothing was said yet.
        assert await history.aget() == []
        await history.aput(ChatMessage(role="user", content="Which units does Ann want?"))
        told, said = await history.aget()
        assert "Ann wants metric units" in told.content
        assert said.content == "Which units does Ann want?"
        await history.aput(ChatMessage(role="assistant", content="Metric."))
        stored = await history.aget_all()
        assert "<memory>" not in str(stored)
        for _ in range(2):
            await block.leave(stored)
        spoken = [it.content for it in (await memory.turns(session="s")).items]
        assert spoken == ["Which units does Ann want?", "Metric."]

        (save,) = [it for it in block.tools() if it.metadata.name == "memory_save"]
        saved = await save.acall(content="Ann lives in Lisbon")
        assert "created" in saved.content
    await block.aget([ChatMessage(role="user", content="Are you there?")])
    assert block.degraded


async def test_the_block_may_stand_in_the_users_message(tmp_path: Path):
    async with Memory.open(tmp_path / "memory.db") as opened:
        memory = opened.scope(user="ann")
        await memory.remember("Ann wants metric units")
        history = ChatMemory.from_defaults(
            session_id="s",
            memory_blocks=[RecollectBlock(memory, session="s")],
            insert_method="user",
            tokenizer_fn=str.split,
        )
        await history.aput(ChatMessage(role="user", content="Which units does Ann want?"))
        # A second system message is what some providers refuse.
        (said,) = await history.aget()
        assert said.role == "user"
        assert "Ann wants metric units" in said.content
        assert "<memory>" not in str(await history.aget_all())


class Scripted:
    """A model that says what is written, and remembers what it was sent."""

    def __init__(self, *answers: ToolCallBlock | str) -> None:
        self._answers = iter(answers)
        self.sent: list[list[ChatMessage]] = []
        self.llm = MockFunctionCallingLLM(response_generator=self._answer)

    def _answer(self, messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        self.sent.append(list(messages))
        said = next(self._answers)
        if isinstance(said, str):
            return ChatMessage(role="assistant", content=said)
        return ChatMessage(role="assistant", blocks=[said])


def calling(name: str, /, **arguments: Any) -> ToolCallBlock:
    return ToolCallBlock(tool_call_id=name, tool_name=name, tool_kwargs=arguments)


async def fetch(ctx: Context, name: str) -> str:
    """Fetch a report."""
    await ctx.store.set("fetched", name)
    return _LONG


async def test_agents_that_work_together_are_told_and_large_results_are_archived(tmp_path: Path):
    async with Memory.open(tmp_path / "memory.db") as opened:
        memory = opened.scope(user="ann")
        await memory.remember("Ann wants metric units")
        block = RecollectBlock(memory, session="s")
        boss = Scripted(calling("handoff", to_agent="worker", reason="It knows."))
        worker = Scripted(calling("fetch", name="harbour"), "In metric units.")
        workflow = AgentWorkflow(
            [
                FunctionAgent(
                    name="boss", description="Leads", llm=boss.llm, tools=[], streaming=False
                ),
                FunctionAgent(
                    name="worker",
                    description="Works",
                    llm=worker.llm,
                    tools=[block.archiving(FunctionTool.from_defaults(fetch))],
                    streaming=False,
                ),
            ],
            root_agent="boss",
        )
        history = ChatMemory.from_defaults(
            session_id="s", memory_blocks=[block], tokenizer_fn=str.split
        )
        done = await workflow.run("Which units does Ann want?", memory=history)
        assert str(done) == "In metric units."
        for sent in (boss.sent[0], worker.sent[0]):
            assert "Ann wants metric units" in str(sent)
        (result,) = [it.content for it in worker.sent[-1] if "Row 7:" in str(it.content)]
        assert len(result) < len(_LONG) / 4
        assert "load_tool_history" in result


async def test_the_second_question_does_not_fetch_the_contents_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RECOLLECT_NOTES__ANSWER_FROM_CACHE", "true")
    regulation = Regulation()
    call = calling("get_toc", reg_id="angui_2024")
    async with Memory.open(tmp_path / "memory.db") as memory:
        block = RecollectBlock(memory, session="s")
        script = Scripted(call, "两人。", call, "一人。")
        tools = [block.archiving(FunctionTool.from_defaults(regulation.get_toc))]
        agent = FunctionAgent(name="reader", llm=script.llm, tools=tools, streaming=False)
        history = ChatMemory.from_defaults(
            session_id="s", memory_blocks=[block], tokenizer_fn=str.split
        )
        await agent.run("倒闸操作由几个人进行？", memory=history)
        await agent.run("倒闸操作时谁监护？", memory=history)
        prompts = [str([it.content for it in sent if it.role == "system"]) for sent in script.sent]
        assert wants_contents(prompts[0])
        assert not wants_contents(prompts[2])
        # A model that asks all the same is answered with what is known.
        assert regulation.calls == ["get_toc"]
        await block.reset_all()
        notes = await block.notes()
        assert notes is not None
        assert not notes.toc_cache
