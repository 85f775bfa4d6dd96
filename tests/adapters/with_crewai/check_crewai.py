"""The memory tools in a real crew with a scripted model."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM
from crewai.tools import tool

from recollect import Memory
from recollect.adapters.crewai import archiving, memory_tools
from recollect.sync import Memory as BlockingMemory
from tests.regulation import Regulation

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

_LONG = "\n".join(f"Row {n}: container {n} is at berth {n % 40}." for n in range(2_000))


class Scripted(BaseLLM):
    """Says what is written, and remembers what it was sent."""

    answers: list[Any]
    sent: list[str]

    def call(self, messages: Any, tools: Any = None, **_: Any) -> Any:
        self.sent.append(str(messages))
        return self.answers.pop(0)


def scripted(*answers: Any) -> Scripted:
    return Scripted(model="scripted", answers=list(answers), sent=[])


def calling(name: str, /, **arguments: Any) -> str:
    return f"Thought: I need it.\nAction: {name}\nAction Input: {json.dumps(arguments)}"


def answering(text: str) -> str:
    return f"Thought: I know.\nFinal Answer: {text}"


@pytest.fixture
def ann(tmp_path: Path) -> Iterator[BlockingMemory]:
    with BlockingMemory.open(tmp_path / "memory.db") as memory:
        yield memory.scope(user="ann")


def run(model: Scripted, memory: BlockingMemory, task: str) -> str:
    agent = Agent(
        role="helper", goal="Help", backstory="Helpful", llm=model, tools=memory_tools(memory)
    )
    work = Task(description=task, expected_output="An answer", agent=agent)
    return Crew(agents=[agent], tasks=[work]).kickoff().raw


def test_a_preference_is_remembered_across_two_crews(ann: BlockingMemory):
    first = scripted(calling("memory_save", content="Ann wants metric units"), answering("Noted."))
    assert run(first, ann, "Remember that Ann wants metric units") == "Noted."
    (saved,) = ann.list().items
    assert saved.content == "Ann wants metric units"

    question = calling("memory_recall", query="Which units does Ann want?")
    second = scripted(question, answering("Metric."))
    assert run(second, ann, "Which units does Ann want?") == "Metric."
    assert saved.id in second.sent[-1]


def test_a_large_result_of_a_tool_is_archived(ann: BlockingMemory):
    @tool("fetch")
    def fetch(name: str) -> str:
        """Fetch a report."""
        return _LONG

    kept = archiving(fetch, ann, session="s").run(name="harbour")
    assert len(kept) < len(_LONG) / 4
    assert "load_tool_history" in kept
    (archive,) = ann.archives.list().items
    assert ann.archives.load(archive.id) == _LONG


def test_the_same_question_is_asked_anew_and_mistakes_are_told(ann: BlockingMemory):
    tools = {it.name: it for it in memory_tools(ann)}
    assert json.loads(tools["memory_recall"].run(query="bees")) == []
    ann.remember("Ann keeps bees")
    asked = calling("memory_recall", query="bees")
    model = scripted(
        asked, calling("memory_save", content="Ann sold her bees"), asked, answering("x")
    )
    run(model, ann, "What about the bees?")
    assert model.sent[-1].count("sold her bees") > model.sent[-2].count("sold her bees")
    unknown = json.loads(tools["memory_update"].run(id="mem_0", content="x"))
    assert unknown["error"]["code"] == "not_found"


async def test_async_tools_work_with_a_memory_of_the_same_loop(tmp_path: Path):
    async with Memory.open(tmp_path / "memory.db") as memory:
        (save,) = [it for it in memory_tools(memory) if it.name == "memory_save"]
        assert "created" in await save.arun(content="Ann keeps bees")


def test_an_equal_call_is_answered_from_the_notes_where_that_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RECOLLECT_NOTES__ANSWER_FROM_CACHE", "true")
    regulation = Regulation()

    @tool("get_toc")
    def get_toc(reg_id: str) -> Any:
        """Return the table of contents."""
        return regulation.get_toc(reg_id)

    with BlockingMemory.open(tmp_path / "memory.db") as opened:
        memory = opened.scope(user="ann")
        kept = archiving(get_toc, memory, session="s")
        first, second = (kept.run(reg_id="angui_2024") for _ in range(2))
        (archive,) = memory.archives.list().items
    assert regulation.calls == ["get_toc"]
    assert archive.id in first
    assert first == second
