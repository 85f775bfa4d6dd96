"""A long session is opened again by reading what its window needs, and nothing seems different."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select, update

from recollect import Memory
from recollect.backends.sql import schema
from recollect.backends.sql.store import SqlStore
from recollect.context.placeholder import find_placeholders
from recollect.domain.turn import Turn
from recollect.errors import InvalidInput
from tests.conversations import long_log
from tests.database_servers import open_at
from tests.fakes import FakeEmbedder
from tests.integration.archive_texts import manual

_LENGTH = 160


def _open(database: Path) -> Any:
    return Memory.open(database, embedder=FakeEmbedder())


async def _looked_up(memory: Memory, text: str) -> str:
    """A session begins with a large result; the id of its archive."""
    function = {"name": "search", "arguments": '{"q": "roles"}'}
    call = {"id": "first", "type": "function", "function": function}
    *_, turn = await memory.session("day", context_tokens=12_000).observe(
        [
            {"role": "system", "content": "You keep the harbour's books."},
            {"role": "user", "content": "Look up the roles.", "id": "mine-1"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "first", "content": text},
        ]
    )
    ((_, _, placeholder),) = find_placeholders(turn.content)
    return placeholder.id


async def _live(memory: Memory, messages: Any) -> None:
    async with memory.session("day", context_tokens=12_000) as session:
        await session.observe(messages)
        await session.prepare()
        await session.settle()


@pytest.fixture
def turns_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many turns each read of them gave."""
    read: list[int] = []
    reading = SqlStore.turns

    async def counted(*arguments: Any, **named: Any) -> list[Turn]:
        turns = await reading(*arguments, **named)
        read.append(len(turns))
        return turns

    monkeypatch.setattr(SqlStore, "turns", counted)
    return read


def _drop_resumption(path: Path) -> None:
    """Leave a window without what lets it go on where it was."""
    state, database = schema.state, open_at(path)

    def drop(connection: Connection) -> None:
        is_window = state.c.name == "window"
        for row in connection.execute(select(state.c.value).where(is_window)).all():
            value = json.loads(row.value)
            del value["resumption"]
            its = is_window & (state.c.value == row.value)
            connection.execute(update(state).where(its).values(value=json.dumps(value)))

    database.write_here(drop)
    database.close_here()


async def test_what_is_sent_is_the_same_as_if_all_had_been_read(
    database_path: Path, turns_read: list[int]
):
    log = long_log(7, "en", "held", length=_LENGTH)
    async with _open(database_path) as memory:
        await _looked_up(memory, manual("en"))
    begun = 0
    # Also in the middle of a tool call, and where the user has not spoken for long.
    for end in (133, 134, 135, _LENGTH):
        async with _open(database_path) as memory:
            await _live(memory, log.messages[begun:end])
        begun = end
        turns_read.clear()
        async with _open(database_path) as memory:
            session = await memory.session("day", context_tokens=12_000)
            assert 0 < sum(turns_read) < 60
            sent = await session.prepare(format="neutral")
            summaries, usage = session.summaries, session.usage
            assert summaries
            first = await session.expand(summaries[0])
        _drop_resumption(database_path)
        async with _open(database_path) as memory:
            turns_read.clear()
            session = await memory.session("day", context_tokens=12_000)
            assert sum(turns_read) == end + 4, "every turn"
            assert await session.prepare(format="neutral") == sent
            assert (session.summaries, session.usage) == (summaries, usage)
            assert await session.expand(summaries[0]) == first
    assert [it.content for it in first[:2]] == [
        "You keep the harbour's books.",
        "Look up the roles.",
    ]


async def test_what_was_put_away_and_said_long_ago_is_still_known(
    database_path: Path, turns_read: list[int]
):
    text = manual("en")
    log = long_log(8, "en", "held", length=_LENGTH)
    async with _open(database_path) as memory:
        archive = await _looked_up(memory, text)
        await _live(memory, log.messages)
    async with _open(database_path) as memory:
        turns_read.clear()
        session = await memory.session("day", context_tokens=16_000)
        assert sum(turns_read) < 60
        assert session.usage.archived == 1
        assert session.usage.messages == _LENGTH + 4
        with pytest.raises(InvalidInput) as refused:
            await session.observe({"role": "user", "content": "Again.", "id": "mine-1"})
        assert refused.value.code == "duplicate_id"
        # Two go on in it at once, and hear each other.
        other = await memory.session("day", context_tokens=16_000)
        await other.observe({"role": "user", "content": "A word of another window."})
        await session.observe({"role": "user", "content": "Who may approve?"})
        said = [it["content"] for it in await session.prepare()]
        assert said[-2:] == ["A word of another window.", "Who may approve?"]
        before = session.summaries
        loaded = json.dumps(await session.prepare(load=archive), ensure_ascii=False)
        assert archive in loaded
        assert "tool_calls" in loaded
        assert session.summaries == before, "reading the rest changes no summary"
