"""A store that LangGraph and LangMem wrote moves in, as records or as items, and only once."""

import sqlite3
from pathlib import Path

from langgraph.store.sqlite import SqliteStore
from langmem import create_manage_memory_tool

from recollect.adapters.langgraph import RecollectStore
from recollect.sync import Memory


def _filled(path: Path) -> Path:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    store = SqliteStore(connection)
    store.setup()
    for user in ("ann", "bob"):
        manage = create_manage_memory_tool(("memories", user), store=store)
        for number in range(20):
            manage.invoke({"content": f"{user} keeps hive {number}", "action": "create"})
    store.put(("settings",), "theme", {"dark": True})
    store.put(("memories", "ann"), "gone", {"content": "for a moment"}, ttl=0.0001)
    connection.close()
    return path


def test_langmems_memories_become_records(tmp_path: Path):
    source = _filled(tmp_path / "store.db")
    with Memory.open(tmp_path / "memory.db") as memory:
        done = memory.move_in(source, "langmem", all_scopes=True)
        assert (done.records.added, done.records.known) == (40, 0)
        assert dict(done.owners) == {"-/ann": 20, "-/bob": 20}
        ann = memory.scope(user="ann").list(limit=100).items
        assert {it.content for it in ann} == {f"ann keeps hive {number}" for number in range(20)}
        again = memory.move_in(source, "langmem", all_scopes=True)
        assert (again.records.added, again.records.known) == (0, 40)


def test_a_graph_finds_its_store_again(tmp_path: Path):
    source = _filled(tmp_path / "store.db")
    with Memory.open(tmp_path / "memory.db") as memory:
        done = memory.move_in(source, "langgraph")
        assert done.items.added == 41
        store = RecollectStore(memory)
        found = store.get(("settings",), "theme")
        assert found is not None
        assert found.value == {"dark": True}
        hits = store.search(("memories", "bob"), query="hive 7", limit=3)
        assert any(it.value["content"] == "bob keeps hive 7" for it in hits)
        assert memory.move_in(source, "langgraph").items.added == 0
