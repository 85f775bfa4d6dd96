"""However its program names people, nothing is shared between two of them."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from anthropic import AsyncAnthropic

from recollect import Memory
from recollect.adapters.anthropic import AsyncRecollectMemoryTool, RecollectMiddleware
from tests.adapters.people import check_nothing_is_shared, users_of
from tests.adapters.with_anthropic.check_anthropic import FakeService, using


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with Memory.open(tmp_path / "memory.db") as opened:
        yield opened


async def talk(memory: Memory, said: str, **given: Any) -> str:
    service = FakeService("Noted.")
    known = RecollectMiddleware(memory, session=str(uuid4()))
    http = httpx2.AsyncClient(transport=httpx2.MockTransport(service))
    client = AsyncAnthropic(api_key="k", http_client=http, middleware=[known])
    messages = [{"role": "user", "content": said}]
    await client.messages.create(model="claude", max_tokens=9, messages=messages, **given)
    await known.aleave()
    return str(service.sent)


@pytest.mark.parametrize("way", ["scope(user=)", "metadata.user_id", "nothing"])
async def test_two_people_share_nothing(memory: Memory, way: str):
    async def converse(person: str, said: str) -> str:
        if way == "scope(user=)":
            return await talk(memory.scope(user=person), said)
        given = {"metadata": {"user_id": person}} if way == "metadata.user_id" else {}
        return await talk(memory, said, **given)

    await check_nothing_is_shared(memory, converse, named=way != "nothing")


async def test_the_files_of_two_people_are_two(memory: Memory):
    creating = using(command="create", path="/memories/locker.md", file_text="zephyr")["input"]
    looking = using(command="view", path="/memories")["input"]
    for way in ({"session": "one"}, {}):
        await AsyncRecollectMemoryTool(memory, **way).call(creating)
        listed = await AsyncRecollectMemoryTool(memory, session="two").call(looking)
        assert "locker" not in listed
    assert "locker" in await AsyncRecollectMemoryTool(memory, session="one").call(looking)
    assert memory.caller_scope.user not in await users_of(memory)
