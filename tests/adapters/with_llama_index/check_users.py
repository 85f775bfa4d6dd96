"""However its program names people, nothing is shared between two of them."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory as ChatMemory

from recollect import Memory
from recollect.adapters.llama_index import RecollectBlock
from tests.adapters.people import check_nothing_is_shared


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with Memory.open(tmp_path / "memory.db") as opened:
        yield opened


async def talk(memory: Memory, said: str) -> str:
    session = str(uuid4())
    block = RecollectBlock(memory, session=session)
    history = ChatMemory.from_defaults(
        session_id=session, memory_blocks=[block], tokenizer_fn=str.split
    )
    if said.startswith("Remember"):
        (save,) = [it for it in block.tools() if it.metadata.name == "memory_save"]
        await save.acall(content=said)
    await history.aput(ChatMessage(role="user", content=said))
    sent = str(await history.aget())
    await block.leave(await history.aget_all())
    return sent


_WAYS = {
    "scope(user=)": True,
    "nothing": False,
}


@pytest.mark.parametrize("way", _WAYS)
async def test_two_people_share_nothing(memory: Memory, way: str):
    async def converse(person: str, said: str) -> str:
        return await talk(memory.scope(user=person) if _WAYS[way] else memory, said)

    await check_nothing_is_shared(memory, converse, named=_WAYS[way])
