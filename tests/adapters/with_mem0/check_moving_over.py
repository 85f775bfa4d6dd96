"""mem0 itself beside its stand-in, and a store of a thousand memories that it made."""

import hashlib
import inspect
import io
import os
import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

os.environ |= {"MEM0_TELEMETRY": "False"}

import mem0
from mem0.utils.factory import EmbedderFactory

from recollect.compat import mem0 as compat
from recollect.sync import Memory as RecollectMemory
from tests.chat_server import chat_server, openai_text

USERS = ("alice", "bob", "陈晓")


class _Hashed:
    """An embedder without a model: what is compared here is not how well it finds."""

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return [it / 255 for it in hashlib.sha256(text.encode()).digest()[:8]]

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text) for text in texts]


def _opened(folder: Path, provider: str) -> Any:
    place: dict[str, Any] = {"path": str(folder / provider)}
    if provider == "qdrant":
        place |= {"embedding_model_dims": 8, "on_disk": True}
    EmbedderFactory.create = lambda *_: _Hashed()
    return mem0.Memory.from_config(
        {
            "vector_store": {"provider": provider, "config": place},
            "llm": {"provider": "openai", "config": {"api_key": "unused"}},
            "history_db_path": str(folder / "history.db"),
        }
    )


@pytest.fixture
def theirs(tmp_path: Path) -> Iterator[Any]:
    folder = tmp_path / "mem0"
    folder.mkdir()
    opened = _opened(folder, "qdrant")
    yield opened
    opened.close()
    opened.vector_store.client.close()


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[Any]:
    config = {"recollect": {"path": str(tmp_path / "memory.db")}}
    with compat.Memory.from_config(config) as opened:
        yield opened


@pytest.mark.parametrize(("provider", "memories"), [("qdrant", 1_000), ("chroma", 99)])
def test_a_store_of_a_thousand_memories_comes_once(tmp_path: Path, provider: str, memories: int):
    folder = tmp_path / "mem0"
    folder.mkdir()
    store = _opened(folder, provider)
    for number in range(memories):
        store.add(
            f"{USERS[number % 3]} 第 {number} 条",
            user_id=USERS[number % 3],
            infer=False,
            metadata={"n": number},
        )
    store.close()
    if provider == "qdrant":
        store.vector_store.client.close()
    with RecollectMemory.open(tmp_path / "memory.db") as memory:
        assert (
            memory.move_in(folder, "mem0", all_scopes=True, dry_run=True).records.added == memories
        )
        done = memory.move_in(folder, "mem0", all_scopes=True)
        assert (done.records.added, done.left_out) == (memories, ())
        assert done.owners["-/陈晓"] == memories // 3
        again = memory.move_in(folder, "mem0", all_scopes=True)
        assert (again.records.added, again.records.known) == (0, memories)


def _story(m: Any) -> list[Any]:
    """Every call of a program, with what it answers."""
    said = [
        {"role": "user", "content": "I keep bees", "name": "ann"},
        {"role": "assistant", "content": "How many hives?"},
    ]
    added = m.add(said, user_id="ann", run_id="r1", metadata={"n": 1}, infer=False)
    first = added["results"][0]["id"]
    more = m.add("Ann likes tea", user_id="ann", agent_id="coach", infer=False)
    m.add("Bob plays chess", user_id="bob", infer=False, expiration_date="2999-12-31")
    answers = [added, more, m.get(first), m.get("00000000-0000-0000-0000-000000000000")]
    answers.append(m.update(first, text="I keep ten bees", metadata={"n": 2}))
    answers.append(m.get(first))
    ann, bob = {"user_id": "ann"}, {"user_id": "bob"}
    reads = (ann, {**ann, "agent_id": "coach"}, bob, {**ann, "n": {"gte": 2}})
    answers += [_by_text(m.get_all(filters=filters)) for filters in reads]
    answers.append(m.search("Ann likes tea", filters={"user_id": "ann"}, threshold=0.0, top_k=1))
    answers.append(m.delete(first))
    answers += [m.get(first), m.history(first)]
    answers.append(m.delete_all(user_id="ann"))
    answers.append(m.get_all(filters={"user_id": "ann"}))
    answers.append(_by_text(m.get_all(filters={"user_id": "bob"})))
    answers.append(m.reset())
    answers.append(m.get_all(filters={"user_id": "bob"}))
    return answers


def _by_text(found: dict[str, Any]) -> dict[str, Any]:
    return {"results": sorted(found["results"], key=lambda it: it["memory"])}


def _shape(value: Any, name: str = "") -> Any:
    """The answer without what differs from run to run: ids, times, scores."""
    if isinstance(value, dict):
        return {key: _shape(it, key) for key, it in value.items()}
    if isinstance(value, list):
        return [_shape(it, name) for it in value]
    if name in ("id", "memory_id", "created_at", "updated_at", "score"):
        return type(value).__name__
    return value


def test_every_answer_has_the_shape_of_mem0s(theirs: Any, ours: Any):
    expected, found = _story(theirs), _story(ours)
    for place, (wanted, got) in enumerate(zip(expected, found, strict=True)):
        assert _shape(got) == _shape(wanted), place


@pytest.mark.parametrize("name", ["Memory", "AsyncMemory"])
def test_every_call_takes_what_mem0s_takes(name: str):
    theirs, ours = getattr(mem0, name), getattr(compat, name)
    calls = (
        "add",
        "search",
        "get",
        "get_all",
        "update",
        "delete",
        "delete_all",
        "history",
        "reset",
    )
    for call in (*calls, "from_config", "close"):
        wanted = inspect.signature(getattr(theirs, call)).parameters.values()
        found = inspect.signature(getattr(ours, call)).parameters
        for it in wanted:
            if it.name == "llm":
                continue
            assert it.name in found, (call, it.name)
            assert it.kind == found[it.name].kind, (call, it.name)
        more = [it for it in found.values() if it.name not in {one.name for one in wanted}]
        assert not more, (call, more)


def test_the_program_of_mem0s_readme_runs_with_another_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    about = metadata.metadata("mem0ai").get_payload()
    blocks = re.findall(r"```python\n(.*?)```", str(about), flags=re.DOTALL)
    (program,) = [it for it in blocks if "from mem0 import Memory" in it]
    program = program.replace("from mem0 import", "from recollect.compat.mem0 import")
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "k-1")
    said = "Hi, I'm Alex. I love basketball and gaming.\nWhat do I love?\nexit\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(said))
    with chat_server() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        server.answers_to = lambda _: openai_text("I will remember that.")
        exec(program, {"__name__": "__main__"})
    assert capsys.readouterr().out.count("I will remember that.") == 2
    first, second = (str(it["messages"][0]["content"]) for it in server.bodies)
    assert "basketball" not in first
    assert "basketball" in second, "what was said is recalled for the second message"
