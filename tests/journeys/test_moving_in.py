"""Whoever has another memory moves in with it: once, with its times, and to whom it belongs.

The stores of mem0 in `tests/data/other_memories` were made by mem0 2.2.1 with Qdrant and Chroma:
61 memories of three people, one changed, one deleted.
"""

from __future__ import annotations

import io
import json
import sqlite3
import threading
import zipfile
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.domain.transfer import MovedIn
from recollect.errors import InvalidInput, NotFound, StorageError
from recollect.settings import Settings
from tests.command_line import CommandLine, Said
from tests.database_servers import PostgresqlServer
from tests.fakes import FakeEmbedder
from tests.other_memories import (
    STORES,
    agent_file,
    chatgpt_archive,
    claude_archive,
    langgraph_store,
    zep_graph,
)


def _reasons(done: MovedIn) -> dict[str, int]:
    return {it.reason.partition(":")[0]: it.count for it in done.left_out}


def _counts(done: MovedIn) -> tuple[int, int, int, int]:
    return done.records.added, done.records.known, done.messages.added, done.messages.known


@pytest.fixture
async def memory(tmp_path: Path):
    async with Memory.open(tmp_path / "memory.db", embedder=FakeEmbedder()) as opened:
        yield opened


@pytest.mark.parametrize("store", ["mem0_qdrant", "mem0_chroma"])
async def test_a_store_of_mem0_comes_once_to_whom_it_belongs(memory: Memory, store: str):
    source = STORES / f"{store}.zip"
    counted = await memory.move_in(source, "mem0", all_scopes=True, dry_run=True)
    assert _counts(counted) == (60, 0, 0, 0)
    assert not (await memory.scope(user="alice").list()).items

    done = await memory.move_in(source, "mem0", all_scopes=True)
    assert _counts(done) == (60, 0, 0, 0)
    assert _reasons(done) == {"memories that were deleted there": 1}
    assert done.owners["coach/alice"] == 3

    alice = memory.scope(user="alice")
    coach = memory.scope(user="alice", agent="coach")
    (changed,) = [it async for it in _all(coach) if it.content == "alice changed number 0"]
    assert changed.category == "hobby"
    assert changed.metadata["n"] == 0
    assert "hash" not in changed.metadata
    first, second = await coach.history(changed.id)
    assert (first.record.content, second.record.content) == (
        "alice likes tea no. 0",
        "alice changed number 0",
    )
    assert first.record.recorded_at < second.record.recorded_at < datetime.now(UTC)
    bob = memory.scope(user="bob")
    expiring = [it.expires_at async for it in _all(bob) if it.expires_at is not None]
    assert expiring == [datetime(2030, 2, 1, tzinfo=UTC)]
    assert not [it async for it in _all(alice) if "bob" in it.content or "陈晓" in it.content]
    hits = (await memory.scope(user="陈晓").recall("第5周学会了什么？")).hits
    assert hits[0].record is not None
    assert "陈晓" in hits[0].record.content

    again = await memory.move_in(source, "mem0", all_scopes=True)
    assert _counts(again) == (0, 60, 0, 0)


async def _all(memory: Memory):
    cursor = None
    while True:
        page = await memory.list(limit=100, cursor=cursor)
        for record in page.items:
            yield record
        cursor = page.next_cursor
        if cursor is None:
            return


async def test_what_is_others_is_left_out_unless_an_operator_asks(memory: Memory):
    alice = memory.scope(user="alice")
    done = await alice.move_in(STORES / "mem0_qdrant.zip", "mem0")
    assert done.records.added == done.owners["-/alice"]
    assert _reasons(done)["what belongs to other users or agents"] == 60 - done.records.added
    assert not (await memory.scope(user="bob").list()).items


async def test_what_was_changed_deleted_or_forgotten_here_stays_so(memory: Memory):
    alice = memory.scope(user="alice")
    await alice.move_in(STORES / "mem0_qdrant.zip", "mem0")
    changed, deleted, forgotten, *_ = (await alice.list()).items
    await alice.update(changed.id, "alice has other plans")
    await alice.delete(deleted.id)
    await alice.forget(forgotten.id)
    again = await alice.move_in(STORES / "mem0_qdrant.zip", "mem0")
    assert again.records.added == 0
    assert _reasons(again)["memories that were forgotten here, and stay forgotten"] == 1
    assert (await alice.get(changed.id)).content == "alice has other plans"
    assert deleted.id not in {it.id for it in (await alice.list()).items}


async def test_a_pickle_in_a_store_runs_nothing(memory: Memory, tmp_path: Path):
    """A store is made of pickles, and one may name any function."""
    import pickle

    class Evil:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "ran",))

    folder = tmp_path / "collection" / "mem0"
    folder.mkdir(parents=True)
    database = sqlite3.connect(folder / "storage.sqlite")
    database.execute("CREATE TABLE points (id TEXT PRIMARY KEY, point BLOB)")
    database.execute("INSERT INTO points VALUES ('a', ?)", (pickle.dumps(Evil()),))
    database.commit()
    database.close()
    done = await memory.move_in(folder.parent, "mem0")
    assert done.records.added == 0
    assert not (tmp_path / "ran").exists()


async def test_an_export_of_mem0s_platform(memory: Memory):
    exported = {
        "results": [
            {
                "id": "m-1",
                "memory": "喜欢喝乌龙茶",
                "user_id": "ann",
                "run_id": "r-1",
                "categories": ["food", "drinks"],
                "metadata": {"mood": "calm"},
                "created_at": "2025-01-02T03:04:05-08:00",
                "updated_at": "2025-01-02T03:04:05-08:00",
            },
            {"id": "m-2", "memory": "", "user_id": "ann"},
        ]
    }
    file = io.BytesIO(json.dumps(exported).encode())
    ann = memory.scope(user="ann")
    done = await ann.move_in(file, "mem0")
    assert _reasons(done) == {"memories without text": 1}
    (record,) = (await ann.list()).items
    assert record.created_at == datetime(2025, 1, 2, 11, 4, 5, tzinfo=UTC)
    assert (record.category, record.tags, record.session) == ("food", ("food", "drinks"), "r-1")
    assert record.metadata["mood"] == "calm"


async def test_langmems_namespaces_say_whose_it_is(memory: Memory, tmp_path: Path):
    source = langgraph_store(tmp_path / "store.db")
    done = await memory.move_in(source, "langmem", all_scopes=True)
    assert _counts(done) == (3, 0, 0, 0)
    assert sorted(_reasons(done).values()) == [1, 1]
    ann = (await memory.scope(user="ann").list()).items
    assert {it.content for it in ann} == {"Ann keeps bees", "Ann likes tea"}
    assert min(it.created_at for it in ann) == datetime(2025, 5, 1, 10, tzinfo=UTC)
    (bob,) = (await memory.scope(user="bob").list()).items
    assert (bob.content, bob.category) == ("name: Bob\nage: 40", "Profile")

    named = await memory.move_in(
        source, "langmem", namespace="team/{user}/{session}", all_scopes=True
    )
    assert named.records.added == 1
    (record,) = (await memory.scope(user="x").list()).items
    assert (record.content, record.session) == ("whose is it?", "y")
    with pytest.raises(InvalidInput):
        await memory.move_in(source, "langmem", namespace="team/{whose}")


async def test_a_langgraph_store_is_copied_for_a_graph(memory: Memory, tmp_path: Path):
    source = langgraph_store(tmp_path / "store.db")
    done = await memory.move_in(source, "langgraph")
    assert (done.items.added, done.records.added) == (5, 0)
    item = await memory.items.get(("memories", "ann"), "5")
    assert item is not None
    assert item.value == {"count": 3}
    again = await memory.move_in(source, "langgraph", dry_run=True)
    assert (again.items.added, again.items.known) == (0, 5)
    again = await memory.move_in(source, "langgraph")
    assert (again.items.added, again.items.known) == (0, 5)
    assert len(await memory.items.search((), limit=100)) == 5


async def test_an_agent_of_letta(memory: Memory, tmp_path: Path):
    file = tmp_path / "helper.af"
    file.write_text(json.dumps(agent_file()), "utf-8")
    done = await memory.move_in(file, "letta")
    assert _counts(done) == (1, 0, 2, 0)
    assert sum(_reasons(done).values()) == 5
    (block,) = (await memory.list()).items
    assert (block.title, block.content, block.category) == ("human", "Name: 小明", "user-profile")
    turns = await memory.turns(session="letta-helper")
    assert [(it.role, it.content) for it in turns.items] == [
        ("user", "我叫小明"),
        ("assistant", "你好，小明！"),
    ]
    assert _counts(await memory.move_in(file, "letta")) == (0, 1, 0, 2)


async def test_facts_of_zep_keep_when_they_were_true(memory: Memory, tmp_path: Path):
    file = tmp_path / "zep.json"
    file.write_text(json.dumps(zep_graph()), "utf-8")
    ann = memory.scope(user="ann")
    done = await ann.move_in(file, "zep")
    assert _counts(done) == (2, 0, 1, 0)
    fact = next(it for it in (await ann.list()).items if it.tags == ("LIVES_IN",))
    assert fact.valid_to == datetime(2024, 1, 1, tzinfo=UTC)
    assert fact.metadata["entities"] == ["Ann", "Bern"]
    (turn,) = (await ann.turns(session="t-1")).items
    assert (turn.speaker, turn.at) == ("Ann", datetime(2024, 1, 2, 9, tzinfo=UTC))
    assert _counts(await ann.move_in(file, "zep")) == (0, 2, 0, 1)


async def test_chatgpt_with_what_it_was_told_to_remember(memory: Memory, tmp_path: Path):
    source = chatgpt_archive(tmp_path / "chatgpt.zip")
    done = await memory.move_in(source, "chatgpt")
    assert _counts(done) == (1, 0, 2, 0)
    reasons = _reasons(done)
    assert reasons["attached files"] == 1
    assert reasons["messages of branches that were abandoned"] == 1
    (note,) = (await memory.list()).items
    assert (note.content, note.category) == ("User keeps bees.", "user-profile")
    assert _counts(await memory.move_in(source, "chatgpt")) == (0, 1, 0, 2)
    assert (len((await memory.list()).items), len((await memory.turns()).items)) == (1, 2)


async def test_claude_with_its_memory(memory: Memory, tmp_path: Path):
    source = tmp_path / "claude.zip"
    claude_archive(source)
    assert _counts(await memory.move_in(source, "claude")) == (2, 0, 1, 0)
    # Nothing says when Claude wrote its memory, so its text is what is known again.
    assert _counts(await memory.move_in(source, "claude")) == (0, 2, 0, 1)


async def test_personal_data_is_masked_on_the_way_in(tmp_path: Path):
    settings = Settings.load({"data_dir": tmp_path, "writing": {"redact": "mask"}})
    exported = [{"id": "1", "memory": "Mail me at ann@example.com", "created_at": "2025-01-01"}]
    async with Memory.open(settings, embedder=FakeEmbedder()) as memory:
        done = await memory.move_in(io.BytesIO(json.dumps(exported).encode()), "mem0")
        assert done.records.added == 1
        (record,) = (await memory.list()).items
        assert "ann@example.com" not in record.content
        again = await memory.move_in(io.BytesIO(json.dumps(exported).encode()), "mem0")
        assert _counts(again) == (0, 1, 0, 0)


@pytest.mark.parametrize(
    "origin", ["mem0", "langmem", "langgraph", "letta", "zep", "chatgpt", "claude"]
)
@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"a": 1}', b"[[1]]", b"PK\x03\x04broken", b"SQLite format 3\x00oops"]
)
async def test_a_bad_file_changes_nothing(memory: Memory, origin: str, content: bytes):
    with pytest.raises(InvalidInput):
        await memory.move_in(io.BytesIO(content), origin)
    assert not (await memory.list()).items
    assert not (await memory.turns()).items


async def test_an_archive_does_not_lead_out_of_itself(memory: Memory, tmp_path: Path):
    source = tmp_path / "evil.zip"
    with zipfile.ZipFile(source, "w") as archive:
        archive.writestr("../../outside.json", "[]")
    with pytest.raises(InvalidInput, match="outside"):
        await memory.move_in(source, "mem0")
    with pytest.raises(NotFound):
        await memory.move_in(tmp_path / "nothing", "mem0")


def test_the_command_line_tells_what_was_left_out(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
):
    recollect = CommandLine(capfdbinary)

    def command_line(*arguments: str) -> Said:
        return recollect("--data", str(tmp_path / "memory.db"), *arguments)

    store = str(STORES / "mem0_qdrant.zip")
    told = command_line("import", store, "--from", "mem0", "--dry-run", "--user", "bob").out
    assert "to add" in told
    assert "Left out 43: what belongs to other users or agents" in told
    assert "Nothing was changed" in told
    done = command_line("import", store, "--from", "mem0", "--all-scopes", "--json").json
    assert (done["records"]["added"], done["dry_run"]) == (60, False)
    refused = command_line("import", store, "--dry-run", "--json")
    assert refused.error["code"] == "bad_usage"


class _Server(BaseHTTPRequestHandler):
    """Answers as a Qdrant server scrolls, two points at a time, and as Letta exports an agent."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        start = asked.get("offset") or 0
        points = [
            {"id": str(it), "payload": {"data": f"note {it}", "user_id": "ann"}}
            for it in range(start, min(start + 2, 5))
        ]
        following = start + 2 if start + 2 < 5 else None
        self._answer({"result": {"points": points, "next_page_offset": following}})

    def do_GET(self) -> None:
        self._answer(agent_file())

    def _answer(self, told: object) -> None:
        body = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


async def test_an_address_is_read_page_by_page(memory: Memory):
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    try:
        ann = memory.scope(user="ann")
        done = await ann.move_in(f"{address}/mem0", "mem0")
        assert _counts(done) == (5, 0, 0, 0)
        # These points have no time: their text is what is known again.
        assert _counts(await ann.move_in(f"{address}/mem0", "mem0")) == (0, 5, 0, 0)
        done = await ann.move_in(f"{address}/v1/agents/agent-1/export", "letta")
        assert _counts(done) == (1, 0, 2, 0)
    finally:
        server.shutdown()
        server.server_close()
    with pytest.raises(StorageError, match="does not answer"):
        await memory.move_in("http://127.0.0.1:9/mem0", "mem0")


async def test_a_store_on_postgresql(memory: Memory):
    """The table is that of langgraph-checkpoint-postgres 3."""
    server = PostgresqlServer()
    try:
        server.run(
            "CREATE TABLE store (prefix text NOT NULL, key text NOT NULL, value jsonb NOT NULL,"
            " created_at timestamptz DEFAULT now(), updated_at timestamptz DEFAULT now(),"
            " expires_at timestamptz, ttl_minutes int, PRIMARY KEY (prefix, key))",
            "postgres",
        )
        server.run(
            "INSERT INTO store (prefix, key, value)"
            """ VALUES ('memories.ann', 'k', '{"content": "安妮养蜜蜂"}')""",
            "postgres",
        )
        ann = memory.scope(user="ann")
        source = server.url("postgres")
        assert _counts(await ann.move_in(source, "langmem")) == (1, 0, 0, 0)
        assert _counts(await ann.move_in(source, "langmem")) == (0, 1, 0, 0)
        (record,) = (await ann.list()).items
        assert record.content == "安妮养蜜蜂"
    finally:
        server.stop()
