"""A memory with every kind of content goes through every kind of store, and ends as it began."""

from __future__ import annotations

import asyncio
import io
import json
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.domain.notes import ScratchpadUpdate
from recollect.settings import Settings
from tests.command_line import CommandLine
from tests.fakes import FakeEmbedder
from tests.own_mariadb import OwnMariadb
from tests.vector_stores import MilvusServer, pgvector_url

pytestmark = pytest.mark.sqlite(reason="it chooses its stores itself")

# What every process that opens a memory writes, and what is derived from the rest.
_OF_A_PROCESS = {"followers", "jobs", "metric_hours", "sign_ins", "alembic_version"}
_OF_READING = {"access_count", "last_accessed", "loads", "last_loaded"}
_HAVE_CONTENT = {
    *("scopes", "records", "record_tags", "versions", "turns", "units", "vectors", "changes"),
    *("idempotency", "state", "archives", "blobs", "documents", "sections", "items", "writes"),
    *("watermarks", "proposals", "audit", "audit_chain", "tombstones", "keys", "agents"),
    *("embedding_models", "term_counts"),
}


async def _fill(memory: Memory) -> None:
    """Leave something of every kind, in several scopes and both languages."""
    ann, sql = memory.scope(user="ann"), memory.scope(user="ann", agent="sql")
    tea = await ann.remember("Ann drinks green tea", tags=["drink", "早上"], idempotency_key="tea")
    await ann.update(tea.id, "安妮喜欢红茶", confidence=0.1 + 0.2, reason="she said so")
    await sql.remember(
        "How to deploy",
        kind="procedural",
        trigger="deploy",
        steps=["build", "push"],
        metadata={"深": {"list": [1, 2.5, None, True, "\u2028"]}},
    )
    event = await sql.remember("Release 2.1 went out", kind="episodic", outcome="done\nand well")
    await sql.delete(event.id, reason="wrong date")
    written = await ann.write("Remember that Ann's bicycle is red")
    assert written.status
    await ann.observe(
        [
            {"role": "user", "name": "安妮", "content": "Remember that I live in Turku 🏰"},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "n": 1.5}]},
        ],
        session="晨会",
    )
    await ann.extract()
    session = sql.session("s")
    await session.scratchpad.update(ScratchpadUpdate(current_goal="deploy on Friday"))
    long = "a long result of a tool " * 800
    await session.archive.process_tool_result("search", {"q": "tea"}, long, "s")
    await ann.knowledge.add(
        "# Harbour\n\nThe crane closes at six.\n\n# 港口\n\n六点关门。", "guide.md"
    )
    await sql.items.put(("notes",), "a", {"text": "an item"})
    await sql.shared.propose("We write dates as ISO 8601", "preference", reason="they sort")
    await memory.agents.put("sql", role="architect")
    await memory.keys.create("phone", users=["ann"])
    gone = await memory.scope(user="bob").remember("Bob's locker code is 4417")
    await memory.scope(user="bob").forget(gone.id)


_QUESTIONS = ("green tea", "红茶", "when does the crane close?", "deploy")


def _plain(found: dict[str, Any]) -> dict[str, Any]:
    """Leave out how often something was read, since it is read in every store."""
    return {name: value for name, value in found.items() if name not in _OF_READING}


async def _told(memory: Memory) -> tuple[list[Any], list[Any]]:
    """Return everything that a memory exports, and what it answers."""
    await memory.drain()
    written = io.BytesIO()
    await memory.export_to(written, all_scopes=True)
    ann = memory.scope(user="ann", agent="sql")
    answers: list[Any] = []
    for question in _QUESTIONS:
        found = await ann.recall(question, min_score=0, limit=10)
        assert not found.degraded
        answers.append([(hit.id, hit.content, round(hit.score, 6)) for hit in found])
    assert (await memory.audit.verify()).is_intact
    (archive,) = (await ann.archives.list()).items
    answers.append(await ann.load_tool_history(archive.id))
    # Its first line tells when it was written.
    lines = written.getvalue().splitlines()[1:]
    return [json.loads(line, object_hook=_plain) for line in lines], answers


def _rows(database: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of every table that is not of one process."""
    with closing(sqlite3.connect(database)) as connection:
        connection.row_factory = sqlite3.Row
        names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "
            "AND name NOT LIKE 'unit_tokens%'"
        )
        wanted = sorted({name for (name,) in names} - _OF_A_PROCESS)
        return {
            name: sorted(
                (_plain(dict(row)) for row in connection.execute(f'SELECT * FROM "{name}"')),
                key=repr,
            )
            for name in wanted
        }


@pytest.fixture(params=["qdrant", pytest.param("milvus", marks=pytest.mark.soak)])
def last_vectors(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The vector store beside MariaDB."""
    if request.param == "qdrant":
        yield f"qdrant://{tmp_path}/last-vectors"
        return
    server = MilvusServer()
    yield server.url
    server.stop()


def test_it_ends_as_it_began(
    tmp_path: Path,
    last_vectors: str,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("RECOLLECT_WRITING__CLOSE_SECONDS", "0")
    # However busy the machine is.
    monkeypatch.setenv("RECOLLECT_RECALL__PATIENCE", "60")
    recollect = CommandLine(capfdbinary)

    async def ask(place: str, vectors: str, *, fill: bool = False) -> tuple[list[Any], list[Any]]:
        its = Settings.at(place).storage.model_copy(update={"vectors": vectors, "vectors_from": 1})
        settings = Settings.at(place).model_copy(update={"storage": its})
        async with Memory.open(settings, embedder=FakeEmbedder()) as memory:
            if fill:
                await _fill(memory)
            told = await _told(memory)
            for state in (await memory.stats()).followers:
                assert (state.condition, state.done > 0) == ("current", True)
            return told

    first, last = tmp_path / "first.db", tmp_path / "last.db"
    began = asyncio.run(ask(str(first), "none", fill=True))
    rows = _rows(first)
    empty = {name for name in _HAVE_CONTENT & rows.keys() if not rows[name]}
    assert not empty
    with ExitStack() as servers:
        postgresql = servers.enter_context(pgvector_url())
        mariadb = OwnMariadb()
        servers.callback(mariadb.end)
        places = {
            str(first): "none",
            postgresql: f"qdrant://{tmp_path}/vectors",
            mariadb.database("memory"): last_vectors,
            str(last): "none",
        }
        for origin, target in zip([*places][:-1], [*places][1:], strict=True):
            copied = recollect("copy", "--from", origin, "--to", target, "--json")
            assert copied.status == 0, copied.err
            assert not copied.json["lost"]
            if target == str(last):
                # Before anybody opens it: nothing but the copy has written there.
                assert _rows(last) == rows
            exported, answers = asyncio.run(ask(target, places[target]))
            assert exported == began[0]
            assert answers == began[1]
