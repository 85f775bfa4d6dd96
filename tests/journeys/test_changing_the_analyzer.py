"""A new version reads all texts anew: questions are answered all along, even if it is killed."""

import asyncio
import random
import subprocess
import time
from pathlib import Path

import pytest

from recollect import Memory
from recollect.language.analysis import ANALYZER_VERSION
from tests.database_servers import ask, copy_database, environment_of, is_sound, place_of
from tests.nursery import WARM
from tests.processes import Child
from tests.reports import write_report

_PEOPLE = ("ann", "bo", "张伟")
_NOTES = 400
# So many of them are read again in one transaction.
_BATCH = 200

_WORKER = """
import asyncio, sys
from recollect import Memory

async def main():
    async with Memory.open(sys.argv[1]) as memory:
        def tell(done, total):
            print("reading", flush=True)

        await memory.reindex(tell)
        print("read", flush=True)

asyncio.run(main())
"""
# What must hold at every moment: each scope has one piece of each note that answers, and its
# counters say so.
_ANSWERING = """
SELECT (SELECT count(*) FROM units WHERE scope_id = scopes.id
        AND units.id BETWEEN (scopes.id << 32) + first_unit AND (scopes.id << 32) + next_unit - 1),
       unit_count,
       (SELECT count(DISTINCT analyzer) FROM units WHERE scope_id = scopes.id
        AND units.id BETWEEN (scopes.id << 32) + first_unit AND (scopes.id << 32) + next_unit - 1)
FROM scopes
"""


async def _fill(database: Path) -> None:
    async with Memory.open(database) as memory:
        for name in _PEOPLE:
            notes = [f"parcel {it} for {name} 第{it}号包裹" for it in range(_NOTES)]
            await memory.scope(user=name).remember_many(notes)
    ask(database, "UPDATE units SET analyzer = '0'")


def _work_until_killed(database: Path, batches: int) -> bool:
    """Whether the process was killed before it had finished: after so many batches and a moment."""
    command = [WARM, "-c", _WORKER, place_of(database)]
    environment = environment_of(database)
    with Child(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        for _ in range(batches):
            assert process.stdout.readline() == "reading\n"
        time.sleep(random.uniform(0.0, 0.05))
        process.kill()
        return "read\n" not in process.stdout.readlines()


def _check(database: Path) -> None:
    assert is_sound(database)
    assert ask(database, _ANSWERING) == [(_NOTES, _NOTES, 1)] * len(_PEOPLE)


async def _unanswered(database: Path, *, finish: bool) -> int:
    """How many questions are not answered, by the first who opens it or after all is read."""
    if finish:
        # The dead one's lease is over.
        ask(database, "UPDATE jobs SET lease_until = 0")
    async with Memory.open(database) as memory:
        if finish:
            await memory.drain()
        missed = 0
        for name in _PEOPLE:
            found = await memory.scope(user=name).recall("parcel 77 包裹", limit=5, min_score=0)
            missed += f"parcel 77 for {name}" not in " ".join(hit.content for hit in found)
    return missed


def _kill_repeatedly(folder: Path, times: int) -> dict[str, int]:
    interrupted = halfway = unanswered = 0
    original = folder / "original.db"
    asyncio.run(_fill(original))
    for attempt in range(times):
        database = folder / f"killed-{attempt}.db"
        copy_database(original, database)
        batches = random.randint(1, len(_PEOPLE) * _NOTES // _BATCH)
        interrupted += _work_until_killed(database, batches)
        _check(database)
        halfway += len(ask(database, "SELECT * FROM editions"))
        unanswered += asyncio.run(_unanswered(database, finish=False))
        unanswered += asyncio.run(_unanswered(database, finish=True))
        _check(database)
        assert ask(database, "SELECT DISTINCT analyzer FROM units") == [(ANALYZER_VERSION,)]
        assert ask(database, "SELECT * FROM editions") == []
        assert ask(database, "SELECT count(*) FROM units") == [(_NOTES * len(_PEOPLE),)]
    return {
        "kills": times,
        "interrupted": interrupted,
        "with_terms_of_both": halfway,
        "unanswered": unanswered,
    }


def test_a_new_analyzer_survives_kill_9(tmp_path: Path):
    assert _kill_repeatedly(tmp_path, times=1)["unanswered"] == 0


@pytest.mark.soak
def test_a_new_analyzer_survives_twenty_kills(tmp_path: Path):
    outcome = _kill_repeatedly(tmp_path, times=20)
    write_report("kill-9-new-analyzer", outcome)
    assert outcome["interrupted"] >= 10
    assert outcome["with_terms_of_both"] >= 5
    assert outcome["unanswered"] == 0
