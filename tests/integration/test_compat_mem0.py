"""A program written for mem0 runs on Recollect, unchanged but for the import.

`tests/adapters/with_mem0` has the same calls answered by mem0 itself, and compares.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect.compat.mem0 import AsyncMemory, Memory
from recollect.sync import Memory as RecollectMemory

# The quickstart of mem0's documentation, with another import.
_QUICKSTART = """
from recollect.compat.mem0 import Memory

m = Memory()

messages = [
    {"role": "user", "content": "Hi, I'm Alex. I love basketball and gaming."},
    {"role": "assistant", "content": "Hey Alex! I'll remember your interests."}
]
m.add(messages, user_id="alex")

results = m.search("What do you know about me?", filters={"user_id": "alex"})
"""


@pytest.fixture
def m(tmp_path: Path) -> Iterator[Memory]:
    with Memory.from_config({"recollect": {"path": str(tmp_path / "memory.db")}}) as opened:
        yield opened


def _texts(found: dict[str, Any]) -> list[str]:
    return [it["memory"] for it in found["results"]]


def _added(m: Memory, text: str, **more: Any) -> str:
    return m.add(text, infer=False, **more)["results"][0]["id"]


@pytest.mark.usefixtures("real_model")
def test_mem0s_quickstart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    names: dict[str, Any] = {}
    exec(_QUICKSTART, names)
    names["m"].close()
    results = names["results"]["results"]
    assert "basketball" in " ".join(found["memory"] for found in results)
    assert all((it["user_id"], it["metadata"]) == ("alex", None) for it in results)


def test_without_a_key_our_own_extraction_reads_chinese_too(m: Memory):
    said = [{"role": "user", "content": "我对花生过敏，下周三要去杭州出差。"}]
    added = m.add(said, user_id="小明", metadata={"from": "chat"})["results"]
    assert {it["event"] for it in added} == {"ADD"}
    assert any("花生" in it["memory"] for it in added)
    assert m.get_all(filters={"user_id": "小明"})["results"][0]["metadata"]["from"] == "chat"
    assert "花生" in _texts(m.search("对什么过敏？", filters={"user_id": "小明"}))[0]
    # What belongs to the same add() is no change.
    assert [it["event"] for it in m.history(added[0]["id"])] == ["ADD"]


def test_add_keeps_messages_as_they_are(m: Memory):
    said = [
        {"role": "system", "content": "You are …"},
        {"role": "user", "content": "Bob plays chess", "name": "bob"},
        {"role": "assistant", "content": "Noted."},
    ]
    added = m.add(said, user_id="bob", run_id="r1", infer=False, metadata={"n": 3})["results"]
    assert [(it["memory"], it["role"], it["actor_id"]) for it in added] == [
        ("Bob plays chess", "user", "bob"),
        ("Noted.", "assistant", None),
    ]
    found = m.get(added[0]["id"])
    assert found is not None
    assert {
        name: found[name] for name in ("user_id", "run_id", "role", "actor_id", "metadata")
    } == {
        "user_id": "bob",
        "run_id": "r1",
        "role": "user",
        "actor_id": "bob",
        "metadata": {"n": 3},
    }
    assert len(found["hash"]) == 32


def test_nobody_sees_what_is_anothers(m: Memory):
    _added(m, "alice likes tea", user_id="alice")
    _added(m, "alice's coach says run", user_id="alice", agent_id="coach")
    _added(m, "alice's cook says eat", user_id="alice", agent_id="cook")
    _added(m, "bob likes tea", user_id="bob", agent_id="coach")
    _added(m, "the coach opens at nine", agent_id="coach")
    _added(m, "the run was long", run_id="r1")

    def all_of(**filters: Any) -> set[str]:
        told = set(_texts(m.get_all(filters=filters)))
        # A search reaches no further than a list.
        assert set(_texts(m.search("tea run eat nine", filters=filters, threshold=0))) <= told
        return told

    of_alice = {"alice likes tea", "alice's coach says run", "alice's cook says eat"}
    assert all_of(user_id="alice") == of_alice
    assert all_of(user_id="alice", agent_id="coach") == {"alice's coach says run"}
    assert all_of(user_id="bob") == {"bob likes tea"}
    assert all_of(agent_id="coach") == {"the coach opens at nine"}
    assert all_of(run_id="r1") == {"the run was long"}
    assert all_of(user_id="carol") == set()
    # Metadata cannot put a memory into somebody else's scope.
    _added(m, "carol's", user_id="carol", metadata={"user_id": "bob", "agent_id": "x"})
    assert all_of(user_id="bob") == {"bob likes tea"}


def test_what_is_changed_and_deleted_has_a_history(m: Memory):
    ident = _added(m, "Bob plays chess", user_id="bob", metadata={"n": 3})
    assert m.update(ident, text="Bob plays go", metadata={"n": 4})["message"]
    found = m.get(ident)
    assert found is not None
    assert (found["memory"], found["metadata"]) == ("Bob plays go", {"n": 4})
    m.delete(ident)
    assert m.get(ident) is None
    told = [(it["event"], it["old_memory"], it["new_memory"]) for it in m.history(ident)]
    assert told == [
        ("ADD", None, "Bob plays chess"),
        ("UPDATE", "Bob plays chess", "Bob plays go"),
        ("DELETE", "Bob plays go", None),
    ]
    for call in (m.delete, lambda it: m.update(it, text="x")):
        with pytest.raises(ValueError, match="not found"):
            call("no-such-id")
    assert m.history("no-such-id") == []


def test_filters_on_metadata(m: Memory):
    for number in range(6):
        _added(m, f"note {number}", user_id="ann", metadata={"n": number, "kind": "ab"[number % 2]})

    def found(**filters: Any) -> list[str]:
        return sorted(_texts(m.get_all(filters={"user_id": "ann", **filters})))

    assert found(kind="b") == ["note 1", "note 3", "note 5"]
    assert found(n={"gte": 2, "lt": 4}) == ["note 2", "note 3"]
    assert found(OR=[{"n": 0}, {"n": {"in": [5]}}]) == ["note 0", "note 5"]
    assert found(NOT=[{"kind": "a"}]) == ["note 1", "note 3", "note 5"]
    assert found(AND=[{"kind": {"ne": "a"}}, {"n": {"gt": 1}}]) == ["note 3", "note 5"]
    assert found(missing="*") == []
    assert len(_texts(m.search("note", filters={"user_id": "ann", "kind": "a"}, top_k=2))) == 2


def test_expired_memories_are_hidden_unless_asked_for(m: Memory):
    _added(m, "an old parking place", user_id="ann", expiration_date="2020-01-01")
    ident = _added(m, "a parking place", user_id="ann", expiration_date="2999-01-01")
    of_ann = {"user_id": "ann"}
    assert _texts(m.get_all(filters=of_ann)) == ["a parking place"]
    assert len(_texts(m.get_all(filters=of_ann, show_expired=True))) == 2
    found = m.get(ident)
    assert found is not None
    assert found["expiration_date"] == "2999-01-01"


def test_delete_all_and_reset(m: Memory):
    for user in ("ann", "bob"):
        _added(m, f"{user} one", user_id=user)
        _added(m, f"{user} two", user_id=user, agent_id="coach", run_id="r")
    m.delete_all(user_id="ann", run_id="r")
    assert _texts(m.get_all(filters={"user_id": "ann"})) == ["ann one"]
    m.delete_all(user_id="ann")
    assert _texts(m.get_all(filters={"user_id": "ann"})) == []
    assert len(_texts(m.get_all(filters={"user_id": "bob"}))) == 2
    m.reset()
    assert _texts(m.get_all(filters={"user_id": "bob"})) == []


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.add("x"),
        lambda m: m.add("x", user_id=" "),
        lambda m: m.add("x", user_id="a b"),
        lambda m: m.add(3, user_id="a"),
        lambda m: m.add("x", user_id="a", expiration_date="soon"),
        lambda m: m.search("x", filters={}),
        lambda m: m.search("x", user_id="a"),
        lambda m: m.search(" ", filters={"user_id": "a"}),
        lambda m: m.search("x", filters={"user_id": "a"}, threshold=2),
        lambda m: m.get_all(filters={"n": 1}),
        lambda m: m.get_all(filters={"user_id": "a"}, top_k=-1),
        lambda m: m.update("id"),
        lambda m: m.delete_all(),
    ],
)
def test_what_mem0_refuses_is_refused(m: Memory, call: Any):
    with pytest.raises(ValueError, match=r".+"):
        call(m)


def test_an_id_of_another_process_is_found(tmp_path: Path):
    config = {"recollect": {"path": str(tmp_path / "memory.db")}, "llm": {"provider": "openai"}}
    with Memory.from_config(config) as m:
        ident = _added(m, "Bob plays chess", user_id="bob", agent_id="coach")
    with Memory(config) as m:
        found = m.get(ident)
        assert found is not None
        assert found["agent_id"] == "coach"
    # It is an ordinary record of that user and agent.
    with RecollectMemory.open(tmp_path / "memory.db") as memory:
        assert memory.scope(user="bob", agent="coach").get(ident).content == "Bob plays chess"


async def test_the_async_class(tmp_path: Path):
    config = {"recollect": {"path": str(tmp_path / "memory.db")}}
    async with AsyncMemory.from_config(config) as m:
        await m.add("Bob plays chess", user_id="bob", infer=False)
        found = await m.search("chess", filters={"user_id": "bob"})
        assert _texts(found) == ["Bob plays chess"]
