"""Session notes in the OpenAI Agents SDK: what tools have found is not fetched twice."""

import json
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, function_tool, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

from recollect import Memory
from recollect.adapters.openai_agents import AgentMemory
from tests.regulation import CHAPTER, PAGE, Regulation, wants_contents

set_tracing_disabled(True)


def calling(name: str, /, **arguments: Any) -> list[Any]:
    return [function_call(name, json.dumps(arguments), call_id=f"call-{name}")]


def saying(text: str) -> list[Any]:
    return [assistant_message(text)]


class Following(ScriptedModel):
    """A model that fetches what its prompt does not have."""

    def __init__(self) -> None:
        super().__init__([])
        self.told: list[str] = []

    async def get_response(self, system_instructions: str | None, *rest: Any, **more: Any) -> Any:
        self.told.append(system_instructions or "")
        said = saying("两人。")
        if wants_contents(self.told[-1]):
            said = calling("get_toc", reg_id="angui_2024")
        elif "angui_2024 P85-86" not in self.told[-1]:
            said = calling("read_page_range", reg_id="angui_2024", start_page=85, end_page=86)
        self.enqueue(said)
        return await super().get_response(system_instructions, *rest, **more)


def tools_of(regulation: Regulation) -> list[Any]:
    return [function_tool(regulation.get_toc), function_tool(regulation.read_page_range)]


async def test_the_second_question_does_not_fetch_the_contents_again(tmp_path: Path):
    regulation, model = Regulation(), Following()
    async with Memory.open(tmp_path / "memory.db") as opened:
        memory = opened.scope(user="ann")
        known = AgentMemory(memory, session="s")
        agent = known.agent(Agent(name="reader", model=model, tools=tools_of(regulation)))
        await known.run(agent, "倒闸操作由几个人进行？", session=known.session)
        await known.run(agent, "倒闸操作时谁监护？", session=known.session)
        assert regulation.calls == ["get_toc", "read_page_range"]
        (archive,) = (await memory.archives.list()).items
        assert f'load_tool_history(uuid="{archive.id}")' in model.told[-1]
        assert PAGE in model.told[-1]

        regulation.is_down = True
        down = ScriptedModel([calling("get_toc", reg_id="angui_2024"), saying("Empty.")])
        agent = known.agent(Agent(name="reader", model=down, tools=tools_of(regulation)))
        await known.run(agent, "Look again", session=known.session)
        notes = await known.notes()
        assert notes is not None
        assert CHAPTER in notes.get_toc_cache_hint()
        # What the SDK makes of a result that is no text is not noted beside the result itself.
        assert len(notes.relevant_chunks) == 1
        await known.reset()
        assert not notes.relevant_chunks
        await known.reset_all()
        assert not notes.toc_cache


@pytest.mark.parametrize("answers", [True, False])
async def test_an_equal_call_is_answered_from_the_notes_where_that_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: bool
):
    monkeypatch.setenv("RECOLLECT_NOTES__ANSWER_FROM_CACHE", str(answers).lower())
    regulation = Regulation()
    call = calling("get_toc", reg_id="angui_2024")
    model = ScriptedModel([call, saying("Yes."), call, saying("Yes.")])
    async with Memory.open(tmp_path / "memory.db") as opened:
        memory = opened.scope(user="ann")
        known = AgentMemory(memory, session="s")
        agent = known.agent(Agent(name="reader", model=model, tools=tools_of(regulation)))
        await known.run(agent, "What is in it?", session=known.session)
        done = await known.run(agent, "Look again", session=known.session)
        (archive,) = (await memory.archives.list()).items
    assert regulation.calls == ["get_toc"] * (1 if answers else 2)
    results = [it for it in done.to_input_list() if it.get("type") == "function_call_output"]
    assert archive.id in results[-1]["output"]
