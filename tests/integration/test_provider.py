"""Memory behind the interface of S1's providers."""

from pathlib import Path

import pytest

from recollect import Memory
from recollect.errors import Closed, InvalidInput, NotFound
from recollect.provider import MemoryProvider


@pytest.fixture
def provider(memory: Memory) -> MemoryProvider:
    return MemoryProvider(memory.scope(agent="helper", user="ann"))


@pytest.mark.parametrize(
    ("name", "content", "query"),
    [("style", "Ann wants short answers", "answers"), ("风格", "安妮喜欢简短的回答", "简短")],
    ids=["en", "zh"],
)
async def test_an_entry_is_saved_found_listed_changed_and_deleted(
    provider: MemoryProvider, name: str, content: str, query: str
):
    entry = await provider.save(
        name, content, type="feedback", description="d", metadata={"from": "chat"}
    )
    assert (entry.name, entry.category, entry.description) == (name, "feedback", "d")
    assert await provider.search(query) == [entry]
    assert await provider.search(query, type="reference") == []
    assert await provider.list(type="feedback") == [entry]
    changed = await provider.update(
        *(entry.id,), name="n", content="new", description="", type="user", metadata={}
    )
    assert (changed.name, changed.content, changed.category) == ("n", "new", "user")
    assert (changed.description, changed.metadata) == ("", {})
    assert await provider.get_by_id(entry.id) == changed
    await provider.delete(entry.id)
    assert await provider.get_by_id(entry.id) is None
    assert await provider.list() == []
    with pytest.raises(NotFound):
        await provider.delete(entry.id)


async def test_ten_entries_unless_more_are_asked_for(provider: MemoryProvider):
    for number in range(12):
        await provider.save(f"n{number}", f"Ann drank tea number {number}", type="user")
    assert len(await provider.search("Ann drank tea")) == 10
    assert len(await provider.list()) == 10
    assert len(await provider.list(limit=11)) == 11


async def test_only_entries_of_this_agent_and_user_are_seen(
    memory: Memory, provider: MemoryProvider
):
    other = MemoryProvider(memory.scope(agent="helper", user="bob"))
    entry = await other.save("n", "Bob drinks tea", type="user")
    assert await provider.get_by_id(entry.id) is None
    assert await provider.search("Bob drinks tea") == await provider.list() == []
    with pytest.raises(NotFound):
        await provider.update(entry.id, content="stolen")
    with pytest.raises(InvalidInput):
        await provider.save("n", " ", type="user")


async def test_closing_closes_the_memory_that_was_opened(tmp_path: Path):
    memory = await Memory.open(tmp_path / "memory.db")
    await MemoryProvider(memory.scope(user="ann")).close()
    await memory.remember("still open")
    await MemoryProvider(memory).close()
    with pytest.raises(Closed):
        await memory.remember("closed")
