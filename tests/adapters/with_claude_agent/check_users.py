"""However its program names people, nothing is shared between two of them."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from claude_agent_sdk import ClaudeAgentOptions
from mcp import Client

from recollect import Memory
from recollect.adapters.claude_agent import ClaudeAgentMemory
from tests.adapters.people import check_nothing_is_shared


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with Memory.open(tmp_path / "memory.db") as opened:
        yield opened


class Desk:
    """One `ClaudeAgentMemory` for everybody; each conversation takes its options."""

    def __init__(self, memory: Memory) -> None:
        self._known = ClaudeAgentMemory(memory)

    async def talk(self, said: str) -> str:
        """Fire what the command fires; the tools get no session from it."""
        options, session = ClaudeAgentOptions(**self._known.options()), str(uuid4())

        async def fire(event: str, **given: Any) -> Any:
            (matcher,) = options.hooks[event]
            return await matcher.hooks[0]({"session_id": session, **given}, None, {"signal": None})

        sent = str(await fire("UserPromptSubmit", prompt=said))
        if said.startswith("Remember"):
            await self._called(options, "memory_save", content=said)
        sent += await self._called(options, "memory_recall", query=said)
        await fire("Stop", last_assistant_message="Noted.")
        return sent

    async def _called(self, options: ClaudeAgentOptions, name: str, **arguments: Any) -> str:
        async with Client(options.mcp_servers["recollect"]["instance"]) as client:
            return str(await client.call_tool(name, arguments))


@pytest.mark.parametrize("way", ["scope(user=)", "nothing"])
async def test_two_people_share_nothing(memory: Memory, way: str):
    desk = Desk(memory)

    async def converse(person: str, said: str) -> str:
        named = way != "nothing"
        return await (Desk(memory.scope(user=person)) if named else desk).talk(said)

    await check_nothing_is_shared(memory, converse, named=way != "nothing")
