"""Databases whose vectors are of an earlier default model, which is gone.

`tools/build_model_sample.py` keeps one before each change of the default model. Until the newest is
replaced, a copy of the package stands for the next one: the same model under another name.
"""

import gzip
import json
import logging
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.domain.hit import Recalled
from recollect.models.local_model import EMBEDDER, local_model
from recollect.models.sealed_folder import SEAL, sha256
from recollect.settings import Settings
from tests.command_line import CommandLine
from tests.nursery import WARM
from tests.services import services

_DATA = Path(__file__).parent.parent / "data" / "models"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sample:
    """A database of an earlier release: its file, the model, and how many pieces it holds."""

    file: str
    model: str
    scopes: int
    pieces: int


_FIRST = _Sample(
    file="minilm-cedict", model="all-MiniLM-L6-v2/int8-1+cedict-2", scopes=2, pieces=20
)
_SECOND = _Sample(
    file="recollect-bilingual-d3e385c9", model="recollect-bilingual/d3e385c9", scopes=3, pieces=23
)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Upgrade:
    """A database of an earlier release, and the folder of the default model after it."""

    sample: _Sample
    path: Path
    folder: Path | None

    def open(self):
        embedding: dict[str, Any] = {"model": "local", "folder": self.folder}
        return Memory.open(Settings.load({"storage": {"path": self.path}, "embedding": embedding}))


@pytest.fixture(params=[_FIRST, _SECOND], ids=lambda sample: sample.file)
def old(request: pytest.FixtureRequest, database_path: Path, tmp_path: Path) -> _Upgrade:
    sample: _Sample = request.param
    database_path.write_bytes(gzip.decompress((_DATA / f"{sample.file}.db.gz").read_bytes()))
    is_gone = local_model().version() != sample.model
    return _Upgrade(
        sample=sample,
        path=database_path,
        folder=None if is_gone else another_release(tmp_path / "next"),
    )


def another_release(folder: Path) -> Path:
    """Write the package's models to a folder, with an embedder of another name."""
    shipped = local_model().where()
    assert shipped is not None
    folder.mkdir()
    seal = json.loads((shipped / SEAL).read_bytes())
    for file in shipped.iterdir():
        if file.is_file() and file.name not in {EMBEDDER, SEAL}:
            (folder / file.name).symlink_to(file)
    # The field `producer_name` of the format, which nothing reads.
    other = (shipped / EMBEDDER).read_bytes() + b"\x12\x04next"
    (folder / EMBEDDER).write_bytes(other)
    (folder / SEAL).write_text(json.dumps({**seal, EMBEDDER: sha256(other)}))
    return folder


def vectors_by_model(database: Path) -> dict[str, int]:
    query = "SELECT name, count(*) FROM vectors JOIN embedding_models ON id = model_id GROUP BY 1"
    with closing(sqlite3.connect(database)) as connection:
        return dict(connection.execute(query).fetchall())


def kill_after(made: int, database: Path) -> None:
    """Let another process begin, and end it with kill -9 when it has made so many vectors."""
    command = [WARM, "-c", _KILLED, str(database), str(made)]
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
    old: _Upgrade, caplog: pytest.LogCaptureFixture
):
    async with old.open() as memory:
        before = await everything(memory)
        recalled = await memory.scope(user="wei").recall("备用钥匙", min_score=0)
        assert recalled[0].content == "备用钥匙挂在厨房门后面"
        assert not found_by_meaning(recalled)
        (note,) = recalled.degraded
        assert old.sample.model in note
        assert "recollect reindex" in note

        with caplog.at_level(logging.WARNING):
            await memory.drain()
        (told,) = caplog.messages
        assert told.startswith(f"{old.sample.model}, which serves {old.sample.pieces} units here")
        await assert_all_is_found_by_meaning(memory)
        assert (await memory.reindexing()).lacking == 0
        assert await everything(memory) == before
    (now,) = vectors_by_model(old.path).items()
    assert now == (local_model(old.folder).version(), old.sample.pieces)


async def everything(memory: Memory) -> set[str]:
    """Return every text that the people of the samples have, and those of the documents."""
    people = [memory.scope(user=person) for person in _ASKED]
    records = [it.content for person in people for it in (await person.list()).items]
    turns = [it.content for person in people for it in (await person.turns()).items]
    return {*records, *turns, *(it.title for it in (await memory.knowledge.list()).items)}


@pytest.mark.parametrize("old", [_SECOND], indirect=True)
@pytest.mark.sqlite(reason="a file of an earlier release")
async def test_documents_are_embedded_anew_too(old: _Upgrade):
    async with old.open() as memory:
        assert (await memory.knowledge.search("valve", limit=1))[0].explanation["vector"] == 0
        await memory.drain()
        found = await memory.knowledge.search("What comes first when the heating starts?")
        assert found.degraded == ()
        assert found[0].explanation["vector"] > 0


@pytest.mark.sqlite(reason="a file of an earlier release")
async def test_how_far_it_is_can_be_asked(old: _Upgrade):
    async with old.open() as memory:
        await services(memory).embedding_work.reembedder.schedule()
        now = await memory.reindexing()
        assert (now.is_going_on, now.model, now.lacking) == (True, "local", old.sample.pieces)
        assert now.served == {old.sample.model: old.sample.pieces}


@pytest.mark.parametrize("old", [_FIRST], indirect=True)
@pytest.mark.sqlite(reason="a file of an earlier release")
async def test_killed_in_the_middle_it_answers_with_what_is_done_and_goes_on(old: _Upgrade):
    made = 13
    kill_after(made, old.path)
    vectors = vectors_by_model(old.path)
    assert vectors.pop(old.sample.model)
    assert [*vectors.values()] == [made]

    async with old.open() as memory:
        # All of Ann's twelve pieces are done, and one of Wei's eight.
        question, answer = _ASKED["ann"]
        recalled = await memory.scope(user="ann").recall(question, min_score=0)
        assert recalled.degraded == ()
        assert answer in found_by_meaning(recalled)
        recalled = await memory.scope(user="wei").recall("备用钥匙", min_score=0)
        assert len(found_by_meaning(recalled)) == 1
        assert recalled.degraded == (), "a job makes the other seven"

        end_leases(old.path)
        await memory.drain()
        await assert_all_is_found_by_meaning(memory)
    assert old.sample.model not in vectors_by_model(old.path)


async def test_what_is_saved_meanwhile_is_embedded_with_the_rest(old: _Upgrade):
    async with old.open() as memory:
        ann = memory.scope(user="ann")
        await ann.remember("Shrimp give me a rash")
        await memory.drain()
        recalled = await ann.recall("Which food makes me ill?", min_score=0)
        assert recalled.degraded == ()
        assert "Shrimp give me a rash" in found_by_meaning(recalled)


@pytest.fixture
def cli(
    old: _Upgrade,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> Iterator[CommandLine]:
    monkeypatch.setenv("RECOLLECT_STORAGE__PATH", str(old.path))
    monkeypatch.setenv("RECOLLECT_EMBEDDING__MODEL", "local")
    if old.folder is not None:
        monkeypatch.setenv("RECOLLECT_EMBEDDING__FOLDER", str(old.folder))
    return CommandLine(capsysbinary)


@pytest.mark.sqlite(reason="a file of an earlier release")
def test_the_doctor_tells_of_it_and_one_command_mends_it(old: _Upgrade, cli: CommandLine):
    assert cli("--user", "wei", "recall", "备用钥匙", "--json").json["degraded"]
    found = vectors_finding(cli)
    assert found["verdict"] == "warning"
    assert f"{old.sample.model} still serves {old.sample.scopes} scopes" in found["message"]
    assert cli("reindex", "--json").json["pieces"] == old.sample.pieces
    assert vectors_finding(cli)["verdict"] == "ok"
    findings = cli("doctor", "--deep", "--json").json["findings"]
    bad = {it["part"]: it["message"] for it in findings if it["verdict"] != "ok"}
    # A sample has no files beside the database.
    assert bad.keys() <= {"permissions", "archived contents"}


def vectors_finding(cli: CommandLine) -> dict[str, str]:
    (found,) = [it for it in cli("doctor", "--json").json["findings"] if it["part"] == "vectors"]
    return found
