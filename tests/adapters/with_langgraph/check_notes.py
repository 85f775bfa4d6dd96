"""Session notes in a real LangChain agent: what tools have found is not fetched twice."""

from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import Field

from recollect import Memory
from recollect.adapters.langchain import RecollectMiddleware
from recollect.sync import Memory as BlockingMemory
from tests.adapters.with_langgraph.scripted import calling, scripted
from tests.regulation import CHAPTER, PAGE, Regulation, wants_contents

_THREAD = {"configurable": {"thread_id": "t", "user_id": "ann"}, "recursion_limit": 20}


class Following(BaseChatModel):
    """A model that fetches what its prompt does not have."""

    told: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "following"

    def bind_tools(self, tools: Any, **_: Any) -> "Following":
        return self

    def _generate(self, messages: list[Any], *_: Any, **__: Any) -> ChatResult:
        self.told.append(str(messages[0].text) if messages[0].type == "system" else "")
        said = AIMessage("两人。")
        if wants_contents(self.told[-1]):
            said = calling("get_toc", reg_id="angui_2024")
        elif "angui_2024 P85-86" not in self.told[-1]:
            said = calling("read_page_range", reg_id="angui_2024", start_page=85, end_page=86)
        return ChatResult(generations=[ChatGeneration(message=said)])


def asked(question: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(question)]}


def tools_of(regulation: Regulation) -> list[Any]:
    return [tool(regulation.get_toc), tool(regulation.read_page_range)]


def test_the_second_question_does_not_fetch_the_contents_again(tmp_path: Path):
    regulation, model = Regulation(), Following()
    with BlockingMemory.open(tmp_path / "memory.db") as memory:
        middleware = RecollectMiddleware(memory)
        tools = tools_of(regulation)
        agent = create_agent(
            model, tools=tools, middleware=[middleware], checkpointer=InMemorySaver()
        )
        agent.invoke(asked("倒闸操作由几个人进行？"), _THREAD)
        agent.invoke(asked("倒闸操作时谁监护？"), _THREAD)
        assert regulation.calls == ["get_toc", "read_page_range"]
        (archive,) = memory.scope(user="ann").archives.list().items
        assert f'load_tool_history(uuid="{archive.id}")' in model.told[-1]
        assert PAGE in model.told[-1]

        middleware.reset("t", "ann")
        notes = middleware.notes("t", "ann")
        assert notes is not None
        assert not notes.relevant_chunks
        assert notes.has_cached_toc("angui_2024")
        middleware.reset_all("t", "ann")
        assert not notes.toc_cache


async def test_failed_calls_leave_no_notes(tmp_path: Path):
    regulation = Regulation()

    @tool
    def read_page_range(reg_id: str) -> str:
        """Read a page."""
        raise ToolException("the service is down")

    read_page_range.handle_tool_error = True
    async with Memory.open(tmp_path / "memory.db") as memory:
        middleware = RecollectMiddleware(memory, session="s")
        model = scripted(
            calling("get_toc", reg_id="angui_2024"),
            calling("read_page_range", reg_id="angui_2024"),
            "Down.",
            calling("get_toc", reg_id="angui_2024"),
            "Empty.",
        )
        agent = create_agent(
            model, tools=[tool(regulation.get_toc), read_page_range], middleware=[middleware]
        )
        done = await agent.ainvoke(asked("Read it"))
        assert [it.status for it in done["messages"] if isinstance(it, ToolMessage)][1] == "error"
        regulation.is_down = True
        await agent.ainvoke({"messages": [*done["messages"], HumanMessage("Again")]})
        notes = await middleware.anotes()
        assert notes is not None
        assert not notes.relevant_chunks
        assert CHAPTER in notes.get_toc_cache_hint()


@pytest.mark.parametrize("answers", [True, False])
def test_an_equal_call_is_answered_from_the_notes_where_that_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: bool
):
    monkeypatch.setenv("RECOLLECT_NOTES__ANSWER_FROM_CACHE", str(answers).lower())
    regulation = Regulation()
    call = {"reg_id": "angui_2024"}
    model = scripted(calling("get_toc", **call), "Yes.", calling("get_toc", **call), "Yes.")
    with BlockingMemory.open(tmp_path / "memory.db") as memory:
        agent = create_agent(
            model, tools=tools_of(regulation), middleware=[RecollectMiddleware(memory)]
        )
        agent.invoke(asked("What is in it?"), _THREAD)
        done = agent.invoke(asked("Look again"), _THREAD)
        (archive,) = memory.scope(user="ann").archives.list().items
    assert regulation.calls == ["get_toc"] * (1 if answers else 2)
    (result,) = [it for it in done["messages"] if isinstance(it, ToolMessage)]
    assert archive.id in result.text
