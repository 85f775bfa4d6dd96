"""However its program names people, nothing is shared between two of them."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from recollect import Memory
from recollect.adapters.crewai import memory_tools
from tests.adapters.people import check_nothing_is_shared


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with Memory.open(tmp_path / "memory.db") as opened:
        yield opened


async def talk(memory: Memory, said: str) -> str:
    """Call the tools as a crew does; the text of a recall is what the model is sent."""
    tools = {it.name: it for it in memory_tools(memory, session=str(uuid4()))}
    if said.startswith("Remember"):
        return await tools["memory_save"].arun(content=said)
    return await tools["memory_recall"].arun(query=said)


_WAYS = {
    "scope(user=)": True,
    "nothing": False,
}


@pytest.mark.parametrize("way", _WAYS)
async def test_two_people_share_nothing(memory: Memory, way: str):
    async def converse(person: str, said: str) -> str:
        return await talk(memory.scope(user=person) if _WAYS[way] else memory, said)

    await check_nothing_is_shared(memory, converse, named=_WAYS[way])
