"""However the framework names people, nothing is shared between two of them."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from agent_framework import Agent

from recollect import Memory
from recollect.adapters.agent_framework import RecollectProvider
from tests.adapters.people import check_nothing_is_shared
from tests.adapters.with_agent_framework.scripted import Scripted, calling


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with Memory.open(tmp_path / "memory.db") as opened:
        yield opened


async def talk(memory: Memory, said: str, options: Any = None) -> str:
    answers = [calling("memory_save", content=said)] if said.startswith("Remember") else []
    client = Scripted(*answers, "Noted.")
    agent = Agent(client, context_providers=[RecollectProvider(memory)])
    session = agent.create_session(session_id=str(uuid4()))
    await agent.run(said, session=session, options=options)
    return str((client.told, [[it.text for it in sent] for sent in client.sent]))


@pytest.mark.parametrize("way", ["scope(user=)", "options.user", "nothing"])
async def test_two_people_share_nothing(memory: Memory, way: str):
    async def converse(person: str, said: str) -> str:
        if way == "scope(user=)":
            return await talk(memory.scope(user=person), said)
        return await talk(memory, said, {"user": person} if way == "options.user" else None)

    await check_nothing_is_shared(memory, converse, named=way != "nothing")
