"""The kit names a user with every call, and nothing is shared between two of them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from recollect import Memory
from recollect.adapters.google_adk import RecollectMemoryService
from tests.adapters.people import check_nothing_is_shared, users_of
from tests.adapters.with_google_adk.check_google_adk import talk
from tests.adapters.with_google_adk.scripted import scripted


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with Memory.open(tmp_path / "memory.db") as opened:
        yield opened


async def test_two_people_share_nothing(memory: Memory):
    service = RecollectMemoryService(memory)

    async def converse(person: str, said: str) -> str:
        model = scripted("Noted.")
        await talk(service, model, person, said)
        return str(model.sent)

    await check_nothing_is_shared(memory, converse)


async def test_a_memory_that_was_given_to_one_user_is_theirs(memory: Memory):
    service = RecollectMemoryService(memory.scope(user="carol"))
    await talk(service, scripted("Noted."), "ann", "Remember that I want metric units")
    assert await users_of(memory) == {"carol"}
