"""Our LangGraph store where langgraph-checkpoint's own tests do not look."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.store.base import BaseStore, InvalidNamespaceError
from langmem import create_manage_memory_tool, create_search_memory_tool

from recollect import Memory
from recollect.adapters.langgraph import RecollectStore, namespace_label
from recollect.sync import Memory as BlockingMemory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[BlockingMemory]:
    with BlockingMemory.open(tmp_path / "memory.db") as opened:
        yield opened


def test_an_address_is_a_label_once_it_is_escaped(memory: BlockingMemory):
    store = RecollectStore(memory)
    with pytest.raises(InvalidNamespaceError):
        store.put(("users", "ann.b@example.com"), "k", {"n": 1})
    ann = ("users", namespace_label("ann.b@example.com"))
    store.put(ann, "k", {"n": 1})
    assert store.list_namespaces(prefix=("users",)) == [ann]
    assert namespace_label("a%2Eb") != namespace_label("a.b")


def test_what_lives_for_minutes_goes_and_reading_keeps_it(memory: BlockingMemory):
    store = RecollectStore(memory, ttl={"default_ttl": 0.01, "refresh_on_read": False})
    assert store.supports_ttl
    store.put(("n",), "short", {"n": 1})
    store.put(("n",), "stays", {"n": 2}, ttl=None)
    time.sleep(0.7)
    assert [it.key for it in store.search(("n",))] == ["stays"]


def test_a_graph_reads_and_writes_the_store(memory: BlockingMemory):
    def remember(state: MessagesState, *, store: BaseStore) -> dict[str, object]:
        store.put(("notes",), "tea", {"text": "green tea"})
        (found,) = store.search(("notes",), query="which tea?")
        return {"messages": [("ai", found.value["text"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("remember", remember)
    graph.add_edge(START, "remember")
    graph.add_edge("remember", END)
    done = graph.compile(store=RecollectStore(memory)).invoke({"messages": [("user", "tea?")]})
    assert done["messages"][-1].text == "green tea"


async def test_langmems_tools_run_unchanged(tmp_path: Path):
    async with Memory.open(tmp_path / "memory.db") as memory:
        store = RecollectStore(memory)
        manage = create_manage_memory_tool(("memories",), store=store)
        search = create_search_memory_tool(("memories",), store=store)
        await manage.ainvoke({"content": "Ann keeps bees", "action": "create"})
        assert "Ann keeps bees" in str(await search.ainvoke({"query": "bees"}))
