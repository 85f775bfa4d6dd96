"""A database whose vectors are of the default model before this one, which is gone."""

import gzip
import logging
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from recollect import Memory
from recollect.domain.hit import Recalled
from recollect.settings import Settings
from tests.command_line import CommandLine

_DATA = Path(__file__).parent.parent / "data" / "models" / "minilm-cedict.db.gz"
_OLD = "all-MiniLM-L6-v2/int8-1+cedict-2"
_PIECES = 20
# No word of the answers is in the questions.
_ASKED = {
    "ann": ("Which food makes me ill?", "I am allergic to peanuts"),
    "wei": ("什么东西我吃了会不舒服？", "我对花生过敏"),
}

# Makes vectors one piece at a time and is killed after so many.
_KILLED = """
import asyncio, os, signal, sys
from recollect import Memory
from recollect.embedding import backfill
from recollect.embedding.backfill import VectorMaker
from recollect.settings import Settings

backfill._BATCH_UNITS = 1
make, made = VectorMaker.make, 0

async def make_some(*given):
    global made
    if made == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    made += 1
    await make(*given)

VectorMaker.make = make_some

async def main():
    settings = {"storage": {"path": sys.argv[1]}, "embedding": {"model": "local"}}
    async with Memory.open(Settings.load(settings)) as memory:
        await memory.drain()

asyncio.run(main())
"""


@pytest.fixture
def old_database(database_path: Path) -> Path:
    database_path.write_bytes(gzip.decompress(_DATA.read_bytes()))
    return database_path


def opened(database: Path):
    return Memory.open(
        Settings.load({"storage": {"path": database}, "embedding": {"model": "local"}})
    )


def vectors_by_model(database: Path) -> dict[str, int]:
    query = "SELECT name, count(*) FROM vectors JOIN embedding_models ON id = model_id GROUP BY 1"
    with closing(sqlite3.connect(database)) as connection:
        return dict(connection.execute(query).fetchall())


def kill_after(made: int, database: Path) -> None:
    """Let another process begin, and end it with kill -9 when it has made so many vectors."""
    command = [sys.executable, "-c", _KILLED, str(database), str(made)]
    assert subprocess.run(command, timeout=60, check=False).returncode == -signal.SIGKILL


def end_leases(database: Path) -> None:
    """Let the work of a killed process be taken over now, not in a minute."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("UPDATE jobs SET lease_until = 0")
        connection.commit()


def found_by_meaning(recalled: Recalled) -> set[str]:
    return {
        hit.content for hit in recalled if "vector" in {it.path for it in hit.explanation.paths}
    }


async def assert_all_is_found_by_meaning(memory: Memory) -> None:
    for person, (question, answer) in _ASKED.items():
        recalled = await memory.scope(user=person).recall(question, min_score=0)
        assert recalled.degraded == ()
        assert answer in found_by_meaning(recalled)


@pytest.mark.sqlite(reason="a file of an earlier release")
async def test_it_is_told_and_answers_by_words_until_it_is_embedded_anew(
    old_database: Path, caplog: pytest.LogCaptureFixture
):
    async with opened(old_database) as memory:
        recalled = await memory.scope(user="wei").recall("备用钥匙", min_score=0)
        assert recalled[0].content == "备用钥匙挂在厨房门后面"
        assert not found_by_meaning(recalled)
        (note,) = recalled.degraded
        assert _OLD in note
        assert "recollect reindex" in note

        with caplog.at_level(logging.WARNING):
            await memory.drain()
        (told,) = caplog.messages
        assert told.startswith(f"{_OLD}, which serves {_PIECES} units here")
        await assert_all_is_found_by_meaning(memory)
        assert (await memory.reindexing()).lacking == 0
    assert _OLD not in vectors_by_model(old_database)


@pytest.mark.sqlite(reason="a file of an earlier release")
async def test_how_far_it_is_can_be_asked(old_database: Path):
    async with opened(old_database) as memory:
        await memory._parts.embedding.reembedder.schedule()
        now = await memory.reindexing()
        assert (now.is_going_on, now.model, now.lacking) == (True, "local", _PIECES)
        assert now.served == {_OLD: _PIECES}


@pytest.mark.sqlite(reason="a file of an earlier release")
async def test_killed_in_the_middle_it_answers_with_what_is_done_and_goes_on(old_database: Path):
    made = 13
    kill_after(made, old_database)
    (now,) = [count for name, count in vectors_by_model(old_database).items() if name != _OLD]
    assert now == made

    async with opened(old_database) as memory:
        # All of Ann's twelve pieces are done, and one of Wei's eight.
        question, answer = _ASKED["ann"]
        recalled = await memory.scope(user="ann").recall(question, min_score=0)
        assert recalled.degraded == ()
        assert answer in found_by_meaning(recalled)
        recalled = await memory.scope(user="wei").recall("备用钥匙", min_score=0)
        assert len(found_by_meaning(recalled)) == 1
        assert recalled.degraded == (), "a job makes the other seven"

        end_leases(old_database)
        await memory.drain()
        await assert_all_is_found_by_meaning(memory)
    assert _OLD not in vectors_by_model(old_database)


async def test_what_is_saved_meanwhile_is_embedded_with_the_rest(old_database: Path):
    async with opened(old_database) as memory:
        ann = memory.scope(user="ann")
        await ann.remember("Shrimp give me a rash")
        await memory.drain()
        recalled = await ann.recall("Which food makes me ill?", min_score=0)
        assert recalled.degraded == ()
        assert "Shrimp give me a rash" in found_by_meaning(recalled)


@pytest.fixture
def cli(
    old_database: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> Iterator[CommandLine]:
    monkeypatch.setenv("RECOLLECT_STORAGE__PATH", str(old_database))
    monkeypatch.setenv("RECOLLECT_EMBEDDING__MODEL", "local")
    return CommandLine(capsysbinary)


@pytest.mark.sqlite(reason="a file of an earlier release")
def test_the_doctor_tells_of_it_and_one_command_mends_it(cli: CommandLine):
    assert cli("--user", "wei", "recall", "备用钥匙", "--json").json["degraded"]
    found = vectors_finding(cli)
    assert found["verdict"] == "warning"
    assert f"{_OLD} still serves 2 scopes" in found["message"]
    assert cli("reindex", "--json").json["pieces"] == _PIECES
    assert vectors_finding(cli)["verdict"] == "ok"


def vectors_finding(cli: CommandLine) -> dict[str, str]:
    (found,) = [it for it in cli("doctor", "--json").json["findings"] if it["part"] == "vectors"]
    return found
