"""Somebody changes the model: questions are answered all along, even if the work is killed."""

import asyncio
import random
import subprocess
import time
from pathlib import Path

import pytest

from recollect import Memory
from recollect.settings import Settings
from tests.database_servers import ask, copy_database, environment_of, is_sound, place_of
from tests.nursery import WARM
from tests.processes import Child
from tests.reports import write_report
from tests.unit.models.tiny_model import write_folder

_PEOPLE = ("ann", "bo", "张伟")
_NOTES = 300
# Of so many pieces the vectors are made at once.
_BATCH = 64
_WORDS = ("one", "two", "three", "four")

_REINDEXER = """
import asyncio, sys
from recollect import Memory
from recollect.settings import Settings

async def main():
    place = "url" if "://" in sys.argv[1] else "path"
    settings = {"storage": {place: sys.argv[1]}, "embedding": {"model": sys.argv[2]}}
    async with Memory.open(Settings.load(settings)) as memory:
        def tell(done, total):
            print("changing", flush=True)

        await memory.reindex(tell, model=sys.argv[2])
        print("changed", flush=True)

asyncio.run(main())
"""
# What must hold at every moment: whoever answers in a scope has a vector of every unit there.
_LACKING = """
SELECT count(*) FROM units JOIN scopes ON scopes.id = scope_id
LEFT JOIN vectors ON unit_id = units.id AND vectors.model_id = scopes.model_id
WHERE vector IS NULL
"""
_MODELS = "SELECT DISTINCT name FROM scopes JOIN embedding_models ON model_id = embedding_models.id"
_STORED = "SELECT DISTINCT name FROM vectors JOIN embedding_models ON model_id = id"


def _settings(database: Path, model: str) -> Settings:
    return Settings.load({"storage": {"path": database}, "embedding": {"model": model}})


def _models(folder: Path) -> tuple[str, str]:
    old, new = (write_folder(folder / name) for name in ("old", "new"))
    return f"folder:{old}", f"folder:{new}"


def _text(number: int) -> str:
    """What the tiny model knows, and what it does not: both languages are kept by their words."""
    return f"{_WORDS[number % 4]} {_WORDS[number // 4 % 4]} parcel {number} 第{number}号包裹"


async def _fill(database: Path, model: str) -> None:
    async with Memory.open(_settings(database, model)) as memory:
        for name in _PEOPLE:
            await memory.scope(user=name).remember_many([_text(it) for it in range(_NOTES)])


def _change_until_killed(database: Path, model: str, batches: int) -> bool:
    """Whether the process was killed before it had finished: after so many batches and a moment."""
    command = [WARM, "-c", _REINDEXER, place_of(database), model]
    environment = environment_of(database)
    with Child(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        for _ in range(batches):
            assert process.stdout.readline() == "changing\n"
        time.sleep(random.uniform(0.0, 0.05))
        process.kill()
        return "changed" not in process.stdout.read()


def _asked(database: Path, query: str) -> list[str]:
    return [row[0] for row in ask(database, query)]


def _is_sound(database: Path) -> bool:
    return is_sound(database) and _asked(database, _LACKING) == [0]


async def _unanswered(database: Path, model: str) -> int:
    """How many questions are not answered by vectors, by a memory with these settings."""
    missed = 0
    async with Memory.open(_settings(database, model)) as memory:
        for name in _PEOPLE:
            recalled = await memory.scope(user=name).recall("three four parcel 77", min_score=0)
            paths = {it.path for hit in recalled for it in hit.explanation.paths}
            missed += bool(recalled.degraded) or "vector" not in paths
    return missed


async def _finish(database: Path, model: str) -> None:
    """Any open memory goes on with it, whatever its settings, once the dead one's lease is over."""
    ask(database, "UPDATE jobs SET lease_until = 0")
    async with Memory.open(_settings(database, model)) as memory:
        await memory.drain()


def _kill_repeatedly(folder: Path, times: int) -> dict[str, int]:
    old, new = _models(folder)
    interrupted = halfway = unanswered = 0
    original = folder / "original.db"
    asyncio.run(_fill(original, old))
    for attempt in range(times):
        database = folder / f"killed-{attempt}.db"
        copy_database(original, database)
        batches = random.randint(1, len(_PEOPLE) * _NOTES // _BATCH)
        interrupted += _change_until_killed(database, new, batches)
        assert _is_sound(database)
        halfway += len(_asked(database, _STORED)) == 2
        unanswered += asyncio.run(_unanswered(database, old))
        asyncio.run(_finish(database, old))
        assert _is_sound(database)
        assert len(_asked(database, _MODELS)) == len(_asked(database, _STORED)) == 1
        unanswered += asyncio.run(_unanswered(database, old))
    return {
        "kills": times,
        "interrupted": interrupted,
        "with_vectors_of_both": halfway,
        "unanswered": unanswered,
    }


async def test_the_model_is_changed_and_questions_are_answered_all_along(tmp_path: Path):
    old, new = _models(tmp_path)
    database = tmp_path / "memory.db"
    await _fill(database, old)
    assert await _unanswered(database, old) == 0
    assert await _unanswered(database, new) == 0, "the old model is opened for what it made"
    async with Memory.open(_settings(database, new)) as memory:
        seen: list[tuple[int, int]] = []
        pieces = len(_PEOPLE) * _NOTES
        assert await memory.reindex(lambda *it: seen.append(it)) == pieces
        assert seen[-1] == (pieces, pieces)
    assert await _unanswered(database, new) == 0
    assert await _unanswered(database, old) == 0, "old settings, new vectors"
    assert len(_asked(database, _STORED)) == 1


def test_a_change_of_the_model_survives_kill_9(tmp_path: Path):
    assert _kill_repeatedly(tmp_path, times=1)["unanswered"] == 0


@pytest.mark.soak
def test_a_change_of_the_model_survives_twenty_kills(tmp_path: Path):
    outcome = _kill_repeatedly(tmp_path, times=20)
    write_report("kill-9-reindex", outcome)
    assert outcome["interrupted"] >= 10
    assert outcome["with_vectors_of_both"] >= 5
    assert outcome["unanswered"] == 0
