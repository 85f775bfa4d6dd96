"""The Claude Agent SDK with its real command, and a fake of the service that it calls."""

import json
import os
import shlex
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import claude_agent_sdk
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

_LONG = "\n".join(f"Row {n}: container {n} is at berth {n % 40}." for n in range(2_000))
_ROOT = Path(__file__).parents[3]
_COMMAND = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Memory]:
    async with Memory.open(tmp_path / "memory.db") as memory:
        yield memory


@pytest.fixture
def memory(opened: Memory) -> Memory:
    return opened.scope(user="ann")


@pytest.fixture
def service() -> Iterator[FakeService]:
    with served() as fake:
        yield fake


def saying(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def calling(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{name}", "name": name, "input": arguments}


@tool("fetch", "Fetch the report", {"type": "object", "properties": {}})
async def fetch(_: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": _LONG}]}


class Desk:
    """An agent with memory, which keeps its transcripts in a folder of its own."""

    def __init__(self, memory: ClaudeAgentMemory, service: FakeService, folder: Path) -> None:
        self._memory = memory
        self._service = service
        self._folder = folder

    async def ask(self, prompt: str, *answers: dict[str, Any], **options: Any) -> ResultMessage:
        """Ask the agent; the service gives these answers."""
        self._service.answers = list(answers)
        given = self._memory.options()
        port = create_sdk_mcp_server("port", tools=[fetch])
        given["mcp_servers"] = {**given["mcp_servers"], "port": port}
        given["allowed_tools"] = [*given["allowed_tools"], "mcp__port__fetch"]
        environment = {**self._service.environment, "CLAUDE_CONFIG_DIR": str(self._folder)}
        chosen = ClaudeAgentOptions(
            **given,
            **{"tools": [], **options},
            env=environment,
            cwd=self._folder,
            setting_sources=[],
        )
        (result,) = [
            message
            async for message in query(prompt=prompt, options=chosen)
            if isinstance(message, ResultMessage)
        ]
        return result


def told(sent: dict[str, Any]) -> str:
    return json.dumps(sent["messages"])


async def test_a_preference_is_remembered_and_told_in_a_resumed_session_too(
    memory: Memory, service: FakeService, tmp_path: Path
):
    known = ClaudeAgentMemory(memory)
    desk = Desk(known, service, tmp_path)
    saving = calling("mcp__recollect__memory_save", content="Ann wants metric units")
    done = await desk.ask("Remember my units", saving, saying("Noted."), system_prompt="Be brief.")
    assert done.result == "Noted."
    assert "Ann wants metric units" in {it.content for it in (await memory.list()).items}
    # The guide is told once; the command keeps it in its transcript.
    assert told(service.sent[-1]).count("Store what matters") == 1

    await memory.remember("Ann's boat is called Momo")
    asked = "What is Ann's boat called?"
    # The command goes on with the system prompt that the session began with.
    done = await desk.ask(asked, saying("Momo."), system_prompt="Rhyme.", resume=done.session_id)
    assert "Rhyme." not in str(service.sent[-1]["system"])
    assert "boat is called Momo" in told(service.sent[-1])
    assert told(service.sent[-1]).count("Store what matters") == 1
    spoken = [it.content for it in (await memory.turns(session=done.session_id)).items]
    assert spoken == ["Remember my units", "Noted.", asked, "Momo."]


async def test_a_large_result_of_a_tool_is_archived(
    memory: Memory, service: FakeService, tmp_path: Path
):
    desk = Desk(ClaudeAgentMemory(memory), service, tmp_path)
    done = await desk.ask("Fetch it", calling("mcp__port__fetch"), saying("It has 2000 rows."))
    assert done.result == "It has 2000 rows."
    assert "load_tool_history" in told(service.sent[-1])
    assert len(told(service.sent[-1])) < len(_LONG) / 4
    (archive,) = (await memory.archives.list()).items
    assert await memory.archives.load(archive.id) == _LONG


async def test_hooks_tell_sub_agents_pass_over_notices_and_survive_a_closed_memory(
    opened: Memory, memory: Memory
):
    known = ClaudeAgentMemory(memory, with_tools=False)
    options = ClaudeAgentOptions(**known.options())
    assert not options.allowed_tools
    await memory.remember("Ann wants metric units")

    async def fire(event: str, **given: Any) -> dict[str, Any]:
        (matcher,) = options.hooks[event]
        answer = await matcher.hooks[0]({"session_id": "s", **given}, None, {"signal": None})
        return answer.get("hookSpecificOutput", {})

    asked = "Which units does Ann want?"
    answer = await fire("UserPromptSubmit", prompt=asked)
    assert "Ann wants metric units" in answer["additionalContext"]
    assert "memory_save" not in answer["additionalContext"]
    assert "metric units" in (await fire("SubagentStart"))["additionalContext"]
    # The report of a background task is no prompt of the user.
    assert await fire("UserPromptSubmit", prompt="<task-notification>done") == {}
    # Results of built-in tools have shapes of their own.
    used = {"tool_input": {}, "tool_response": [{"type": "text", "text": _LONG}]}
    assert await fire("PostToolUse", tool_name="Bash", **used) == {}
    assert len((await memory.turns(session="s")).items) == 1
    await opened.close()
    assert await fire("UserPromptSubmit", prompt=asked) == {}
    assert known.degraded


def test_the_documented_command_adds_an_mcp_server_that_answers(tmp_path: Path):
    page = (_ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
    (line,) = [it for it in page.splitlines() if it.startswith("claude mcp add recollect --env")]
    environment = {
        **os.environ,
        "PATH": f"{_ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "CLAUDE_CONFIG_DIR": str(tmp_path),
        "RECOLLECT_DATA_DIR": str(tmp_path),
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "MCP_TIMEOUT": "200000",
    }

    def run(*arguments: str) -> str:
        return subprocess.run(
            [_COMMAND, *arguments],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    run(*shlex.split(line)[1:])
    assert "Connected" in run("mcp", "list")
