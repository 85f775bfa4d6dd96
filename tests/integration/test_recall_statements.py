"""How much a recall and a save ask of the database: what they cost on a server far away."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from recollect import Memory
from tests.fakes import FakeEmbedder

_CONTROL = ("BEGIN", "ROLLBACK", "COMMIT")


@pytest.fixture
def asked() -> Iterator[list[str]]:
    """Every statement that any database is told, from now on."""
    told: list[str] = []

    def connected(connection: object, _: object) -> None:
        if isinstance(connection, sqlite3.Connection):
            connection.set_trace_callback(told.append)

    def executed(connection, cursor, statement, *_) -> None:
        if not isinstance(connection.connection.driver_connection, sqlite3.Connection):
            told.append(statement)

    def begun(connection) -> None:
        if not isinstance(connection.connection.driver_connection, sqlite3.Connection):
            told.append("BEGIN")

    def ended(connection) -> None:
        if not isinstance(connection.connection.driver_connection, sqlite3.Connection):
            told.append("ROLLBACK")

    hooks = {"connect": connected, "before_cursor_execute": executed, "begin": begun}
    hooks |= {"commit": ended, "rollback": ended}
    for name, hook in hooks.items():
        event.listen(Engine, name, hook)
    yield told
    for name, hook in hooks.items():
        event.remove(Engine, name, hook)


@pytest.mark.usefixtures("nobody_works")
async def test_a_warm_recall_takes_two_transactions_and_five_statements(
    asked: list[str], database_path: Path
):
    async with Memory.open(database_path, embedder=FakeEmbedder()) as memory:
        ann = memory.scope(user="ann")
        await ann.remember_many([f"Ann's plant {it} stands in room {it % 7}" for it in range(100)])
        await memory.drain()
        for question in ("Which plant stands in room 3?", "Where is plant 12?"):
            await ann.recall(question)
        asked.clear()

        found = await ann.recall("In which room stands plant 42?")

        assert "plant 42" in found.hits[0].content
        assert sum(it.startswith("BEGIN") for it in asked) <= 2, asked
        assert len([it for it in asked if not it.startswith(_CONTROL)]) <= 5, asked


@pytest.mark.usefixtures("nobody_works")
async def test_a_save_is_one_transaction_and_a_batch_looks_for_nothing_more(
    asked: list[str], database_path: Path
):
    async with Memory.open(database_path, embedder=FakeEmbedder()) as memory:
        ann = memory.scope(user="ann")
        await ann.remember("Ann lives in Paris")
        asked.clear()
        await ann.remember("Ann plays chess on Fridays")
        alone = [it for it in asked if not it.startswith(_CONTROL)]
        asked.clear()
        await ann.remember_many([f"Ann's plant {it} stands in room {it % 7}" for it in range(100)])
        together = [it for it in asked if not it.startswith(_CONTROL)]

        begun = sum(it.startswith("BEGIN") for it in asked)
        assert begun == 1, asked
        assert len(alone) <= 11, alone
        # A file has a statement for each row that is added; nothing is looked up for each of them.
        looked_up = [it for it in together if it.lstrip().startswith("SELECT")]
        assert len(looked_up) <= len([it for it in alone if it.lstrip().startswith("SELECT")])


@pytest.mark.sqlite("a server's writers are many")
@pytest.mark.usefixtures("nobody_works")
async def test_a_save_in_a_file_that_nobody_else_writes_to_looks_nothing_up(
    asked: list[str], database_path: Path
):
    async with Memory.open(database_path, embedder=FakeEmbedder()) as memory:
        ann = memory.scope(user="ann")
        await ann.remember("Ann lives in Paris")
        asked.clear()
        await ann.remember("Ann plays chess on Fridays")

    # One for each table that gets a row.
    told = asked[asked.index("BEGIN IMMEDIATE") + 1 : asked.index("COMMIT")]
    assert len(told) == 6, told
    assert not [it for it in told if it.lstrip().startswith("SELECT")]


@pytest.mark.usefixtures("nobody_works")
async def test_what_replies_answer_is_read_at_once(asked: list[str], database_path: Path):
    async with Memory.open(database_path, embedder=FakeEmbedder()) as memory:
        ann = memory.scope(user="ann")
        for number in range(12):
            told = f"My plant {number} stands in room {number % 7}"
            await ann.observe({"role": "user", "content": told}, session=f"s{number}")
            noted = f"Noted, plant {number} stands in room {number % 7}"
            await ann.observe({"role": "assistant", "content": noted}, session=f"s{number}")
        await memory.drain()
        await ann.recall("Which plant stands in room 3?")
        asked.clear()

        found = await ann.recall("In which room stands plant 5?")

        assert found.hits[0].content == "My plant 5 stands in room 5"
        assert len([it for it in asked if not it.startswith(_CONTROL)]) <= 9, asked


async def test_a_recall_finds_what_was_saved_the_moment_before_and_keeps_no_connection(
    asked: list[str], database_path: Path
):
    async with Memory.open(database_path, embedder=FakeEmbedder()) as memory:
        for number in range(12):
            await memory.remember(f"The code of gate {number} is {number}{number}")
            found = await memory.recall(f"What is the code of gate {number}?")
            assert f"gate {number} " in found.hits[0].content
            assert not found.degraded
        # A server's are given back in threads, in a moment.
        for _ in range(100):
            if _open_transactions(asked) <= 0:
                break
            await asyncio.sleep(0.02)
        assert _open_transactions(asked) <= 0


def _open_transactions(asked: list[str]) -> int:
    begun = sum(it.startswith("BEGIN") for it in asked)
    return begun - sum(it.startswith(("ROLLBACK", "COMMIT")) for it in asked)
