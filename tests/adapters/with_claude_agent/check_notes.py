"""Session notes in the Claude Agent SDK with its real command: nothing is fetched twice."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ResultMessage,
    create_sdk_mcp_server,
    query,
    tool,
)

from recollect import Memory
from recollect.adapters.claude_agent import ClaudeAgentMemory
from tests.adapters.with_claude_agent.service import FakeService, served
from tests.regulation import CHAPTER, PAGE, Regulation, wants_contents

_ROWS = "\n".join(f"Row {n}: container {n} is at berth {n % 40}." for n in range(400))
_GET_TOC, _READ = "mcp__regulation__get_toc", "mcp__regulation__read_page_range"


@pytest.fixture
def service() -> Iterator[FakeService]:
    with served() as fake:
        yield fake


def saying(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def calling(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{name}", "name": name, "input": arguments}


def served_by(regulation: Regulation) -> Any:
    def text(found: Any) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": json.dumps(found, ensure_ascii=False)}]}

    @tool("get_toc", "Return the table of contents", {"reg_id": str})
    async def get_toc(given: Any) -> dict[str, Any]:
        return text(regulation.get_toc(**given))

    pages = {"reg_id": str, "start_page": int, "end_page": int}

    @tool("read_page_range", "Return some pages", pages)
    async def read_page_range(given: Any) -> dict[str, Any]:
        return text(regulation.read_page_range(**given))

    return create_sdk_mcp_server("regulation", tools=[get_toc, read_page_range])


class Desk:
    """An agent that reads a regulation, and keeps its transcripts in a folder of its own."""

    def __init__(
        self, known: ClaudeAgentMemory, service: FakeService, regulation: Regulation, folder: Path
    ) -> None:
        self._known = known
        self._service = service
        self._server = served_by(regulation)
        self._folder = folder

    async def ask(self, prompt: str, *answers: dict[str, Any], **options: Any) -> ResultMessage:
        self._service.answers = list(answers)
        given = self._known.options()
        given["mcp_servers"] = {**given["mcp_servers"], "regulation": self._server}
        given["allowed_tools"] = [*given["allowed_tools"], _GET_TOC, _READ, "Bash", "Read"]
        chosen = ClaudeAgentOptions(
            **given,
            **{"tools": [], **options},
            env={**self._service.environment, "CLAUDE_CONFIG_DIR": str(self._folder)},
            cwd=self._folder,
            setting_sources=[],
        )
        (result,) = [
            message
            async for message in query(prompt=prompt, options=chosen)
            if isinstance(message, ResultMessage)
        ]
        return result

    def told(self) -> str:
        """Return the conversation that the service was sent last."""
        return json.dumps(self._service.sent[-1]["messages"], ensure_ascii=False)


async def test_the_second_question_does_not_fetch_the_contents_again(
    service: FakeService, tmp_path: Path
):
    regulation = Regulation()
    async with Memory.open(tmp_path / "memory.db") as opened:
        memory = opened.scope(user="ann")
        known = ClaudeAgentMemory(memory, language="zh")
        desk = Desk(known, service, regulation, tmp_path)
        done = await desk.ask(
            "倒闸操作由几个人进行？",
            calling(_GET_TOC, reg_id="angui_2024"),
            calling(_READ, reg_id="angui_2024", start_page=85, end_page=86),
            saying("两人。"),
        )
        (archive,) = (await memory.archives.list()).items
        await desk.ask("倒闸操作时谁监护？", saying("一人。"), resume=done.session_id)
        told = desk.told()
        assert not wants_contents(told)
        assert archive.id in told.rpartition("已缓存目录")[2]
        assert f"angui_2024 P85-86\\n{PAGE}" in told
        assert regulation.calls == ["get_toc", "read_page_range"]

        # A new question lets go of the last one's pages; what was told once is not told again.
        await known.reset()
        await desk.ask("有第三章吗？", saying("有。"), resume=done.session_id)
        assert desk.told().count("# 已获取的相关信息") == 1
        assert desk.told().count("# 已缓存目录") == 2
        regulation.is_down = True
        again = calling(_GET_TOC, reg_id="angui_2024")
        await desk.ask("再看一次", again, saying("空的。"), resume=done.session_id)
        notes = await known.notes()
        assert notes is not None
        assert CHAPTER in notes.get_toc_cache_hint()
        await known.reset_all(done.session_id)
        assert not notes.toc_cache


async def test_an_equal_call_is_answered_from_the_notes_where_that_is_wanted(
    service: FakeService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RECOLLECT_NOTES__ANSWER_FROM_CACHE", "true")
    regulation = Regulation()
    call = calling(_GET_TOC, reg_id="angui_2024")
    async with Memory.open(tmp_path / "memory.db") as opened:
        memory = opened.scope(user="ann")
        desk = Desk(ClaudeAgentMemory(memory), service, regulation, tmp_path)
        done = await desk.ask("What is in it?", call, saying("Yes."))
        call = {**call, "id": "toolu_again"}
        await desk.ask("Look again", call, saying("Yes."), resume=done.session_id)
        (archive,) = (await memory.archives.list()).items
    assert regulation.calls == ["get_toc"]
    (result,) = [
        block
        for message in service.sent[-1]["messages"]
        for block in message["content"]
        if isinstance(block, dict) and block.get("tool_use_id") == "toolu_again"
    ]
    assert "was not repeated" in str(result)
    assert archive.id in str(result)


@pytest.mark.parametrize("built_in", ["Bash", "Read"])
async def test_a_large_result_of_a_built_in_tool_is_archived(
    service: FakeService, tmp_path: Path, built_in: str
):
    (tmp_path / "rows.txt").write_text(_ROWS, encoding="utf-8")
    given = {
        "Bash": {"command": "cat rows.txt", "description": "Show the rows"},
        "Read": {"file_path": str(tmp_path / "rows.txt")},
    }
    async with Memory.open(tmp_path / "memory.db") as opened:
        memory = opened.scope(user="ann")
        desk = Desk(ClaudeAgentMemory(memory), service, Regulation(), tmp_path)
        call = calling(built_in, **given[built_in])
        done = await desk.ask("Where is container 7?", call, saying("There."), tools=[built_in])
        assert done.result == "There."
        (archive,) = (await memory.archives.list()).items
        assert await memory.archives.load(archive.id) == _ROWS
        assert archive.id in desk.told()
        assert desk.told().count("Row ") < 300
