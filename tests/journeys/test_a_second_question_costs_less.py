"""An agent reads a regulation with tools; its second question costs fewer calls (S2's own checks).

The agent is scripted, and only as clever as S2 asks: it follows what stands in its prompt.
"""

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recollect.backends.sql.migrate import bring_up_to_date
from recollect.backends.sql.sqlite_database import SqliteDatabase
from recollect.backends.sql.state import SqlState
from recollect.context.notes import SessionNotes
from recollect.domain.notes import Cached
from recollect.domain.scope import Scope
from recollect.domain.sections import NotesSettings
from recollect.ports.state import State, StateKey
from tests.conftest import TurnedClock

_KEY = StateKey(scope=Scope(user="ann"), session="sess_1", name="notes")
_PAGES = {
    85: "倒闸操作应由两人进行，一人操作，一人监护，并认真执行唱票、复诵制。",
    112: "Live work needs a written permit signed by the shift leader.",
}


class Regulation:
    """A document behind three tools, which counts how often each is called."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def get_toc(self, reg_id: str) -> dict[str, Any]:
        self.calls.append("get_toc")
        chapters = [{"title": "第五章 倒闸操作", "page": 85}, {"title": "Live work", "page": 112}]
        return {"reg_id": reg_id, "title": "电力安全工作规程", "children": chapters}

    def smart_search(self, query: str) -> dict[str, Any]:
        self.calls.append("smart_search")
        page = 85 if "倒闸" in query else 112
        hit = {"content": _PAGES[page][:20], "source": f"angui_2024 P{page}", "score": 0.9}
        return {"results": [hit, {"content": "页眉", "source": "angui_2024 P1", "score": 0.1}]}

    def read_page_range(self, reg_id: str, page: int) -> str:
        self.calls.append("read_page_range")
        text = {"content_markdown": _PAGES[page], "source": f"{reg_id} P{page}"}
        return json.dumps(text, ensure_ascii=False)


class Agent:
    """Calls what its prompt does not tell it already, and lets the notes watch every call."""

    def __init__(self, regulation: Regulation, notes: SessionNotes) -> None:
        self._regulation = regulation
        self.notes = notes

    @property
    def prompt(self) -> str:
        parts = (self.notes.get_toc_cache_hint(), self.notes.get_memory_context())
        return "\n\n".join(("你是规程助手。", *filter(None, parts)))

    def ask(self, question: str, page: int) -> str:
        """The answer, quoted from a page that is in the prompt by then."""
        self.notes.current_query = question
        if "angui_2024\n" not in self.prompt or "get_toc()" not in self.prompt:
            self._call("get_toc", reg_id="angui_2024")
        if _PAGES[page] not in self.prompt:
            self._call("smart_search", query=question)
            self._call("read_page_range", reg_id="angui_2024", page=page)
        assert _PAGES[page] in self.prompt
        return _PAGES[page]

    def _call(self, name: str, **arguments: Any) -> None:
        tool: Callable[..., Any] = getattr(self._regulation, name)
        self.notes.observe_tool(name, arguments, tool(**arguments))


def test_the_second_question_does_not_fetch_the_structure_again(caplog: pytest.LogCaptureFixture):
    regulation = Regulation()
    agent = Agent(regulation, SessionNotes())
    with caplog.at_level(logging.DEBUG, "recollect"):
        agent.ask("倒闸操作由几个人进行？", page=85)
        assert regulation.calls == ["get_toc", "smart_search", "read_page_range"]
        assert "# 已缓存目录\n以下规程目录已获取: angui_2024" in agent.prompt
        assert "# 已获取的相关信息" in agent.prompt
        assert "angui_2024 P85\n" + _PAGES[85] in agent.prompt

        agent.notes.clear_query_context()
        agent.ask("Who signs the permit for live work?", page=112)
    assert regulation.calls.count("get_toc") == 1
    assert "# Information already found" in agent.prompt
    assert _PAGES[85] not in agent.prompt
    assert caplog.messages == [
        "[Memory] 缓存目录: angui_2024",
        "[Memory] 添加搜索结果: 2 条",
        "[Memory] 添加页面内容: angui_2024 P85",
        "[Memory] 添加搜索结果: 2 条",
        "[Memory] 添加页面内容: angui_2024 P112",
    ]


def test_a_question_about_what_was_read_already_costs_no_call_at_all():
    regulation = Regulation()
    agent = Agent(regulation, SessionNotes())
    agent.ask("倒闸操作由几个人进行？", page=85)
    before = list(regulation.calls)
    agent.ask("倒闸操作时谁监护？", page=85)
    assert regulation.calls == before


def test_an_agent_that_asks_all_the_same_can_be_answered_from_the_cache():
    regulation = Regulation()
    agent = Agent(regulation, SessionNotes(NotesSettings(answer_from_cache=True)))
    agent.ask("倒闸操作由几个人进行？", page=85)
    answer = agent.notes.before_tool("get_toc", {"reg_id": "angui_2024"})
    assert isinstance(answer, Cached)
    assert answer.result == regulation.get_toc("angui_2024")


async def test_notes_outlive_a_restart_and_end_with_the_session(
    database_path: Path, clock: TurnedClock
):
    regulation = Regulation()
    database, state = _opened(database_path, clock)
    agent = Agent(regulation, await _resumed(state))
    agent.ask("倒闸操作由几个人进行？", page=85)
    await state.put(_KEY, json.dumps(agent.notes.dump(), ensure_ascii=False))
    prompt = agent.prompt
    await database.close()

    database, state = _opened(database_path, clock)
    agent = Agent(regulation, await _resumed(state))
    assert agent.prompt == prompt
    agent.ask("Who signs the permit for live work?", page=112)
    assert regulation.calls.count("get_toc") == 1

    await state.clear(_KEY.scope, _KEY.session)
    agent = Agent(regulation, await _resumed(state))
    assert agent.prompt == "你是规程助手。"
    agent.ask("倒闸操作由几个人进行？", page=85)
    assert regulation.calls.count("get_toc") == 2
    await database.close()


def _opened(path: Path, clock: TurnedClock) -> tuple[SqliteDatabase, SqlState]:
    database = SqliteDatabase(path)
    bring_up_to_date(database)
    return database, SqlState(database, clock)


async def _resumed(state: State) -> SessionNotes:
    notes = SessionNotes()
    kept = await state.get(_KEY)
    if kept is not None:
        notes.load(json.loads(kept.value))
    return notes
