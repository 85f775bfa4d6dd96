"""Forgetting is killed with -9 again and again: it was not begun, or a restart finishes it."""

import asyncio
import random
import subprocess
import time
from functools import partial
from pathlib import Path

import pytest

from recollect import Memory
from recollect.assemble.doctor import diagnose
from recollect.settings import Settings
from tests.database_servers import (
    ask,
    copy_database,
    environment_of,
    has_text,
    is_sound,
    place_of,
    storage_of,
)
from tests.nursery import WARM
from tests.processes import Child
from tests.reports import write_report

# Forgets again and again; says when it is about to, so that it can be killed in the middle.
_FORGETTER = """
import asyncio, sys
from recollect import Memory

async def main():
    async with Memory.open(sys.argv[1]) as memory:
        print("ready", flush=True)
        await memory.scope(user="ann").forget(user="ann")
        print("done", flush=True)

asyncio.run(main())
"""
_RECORDS = 800


async def _prepare(database: Path) -> None:
    async with Memory.open(database) as memory:
        ann, bob = memory.scope(user="ann"), memory.scope(user="bob")
        for start in range(0, _RECORDS, 200):
            numbers = range(start, start + 200)
            await ann.remember_many([f"anns parcel {it} zorblaxian 第{it}号" for it in numbers])
        await bob.remember_many([f"bobs parcel {it}" for it in range(50)])


def _kill_while_forgetting(database: Path, after: float | None) -> float:
    """Kill it after so many seconds, without them never; how long it went on."""
    command = [WARM, "-c", _FORGETTER, place_of(database)]
    environment = environment_of(database)
    with Child(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        start = time.perf_counter()
        if after is None:
            assert process.stdout.readline() == "done\n"
        else:
            time.sleep(after)
            process.kill()
        return time.perf_counter() - start


def _unfinished(database: Path) -> int:
    return ask(database, "SELECT count(*) FROM jobs WHERE kind = 'forget'")[0][0]


async def _outcome(database: Path) -> str:
    """What a restart makes of it: not begun, or finished; nothing in between, nothing else lost."""
    async with Memory.open(database) as memory:
        left = len(await memory.scope(user="ann").list(limit=1_000))
        await memory.drain()
        bob = memory.scope(user="bob")
        assert (await bob.stats()).store.records == 50
        assert len(await bob.recall("bobs parcel 42", min_score=0)) > 0
        assert len(await memory.scope(user="ann").list(limit=1_000)) == left
    assert is_sound(database)
    assert _unfinished(database) == 0
    if left:
        assert left == _RECORDS
        return "not begun"
    assert not has_text(database, "zorblaxian")
    return "finished"


async def _kill_repeatedly(folder: Path, times: int) -> dict[str, int]:
    outcomes = {"kills": times, "interrupted": 0, "not begun": 0, "finished": 0}
    original = folder / "original.db"
    await _prepare(original)
    undisturbed = folder / "undisturbed.db"
    copy_database(original, undisturbed)
    takes = await asyncio.to_thread(_kill_while_forgetting, undisturbed, None)
    for attempt in range(times):
        database = folder / f"killed-{attempt}.db"
        copy_database(original, database)
        # At the beginning the program is still being read.
        after = random.uniform(0.3, 1.0) * takes
        await asyncio.to_thread(_kill_while_forgetting, database, after)
        outcomes["interrupted"] += _unfinished(database)
        outcomes[await _outcome(database)] += 1
    return outcomes


async def test_forgetting_that_is_killed_was_not_begun_or_is_finished(tmp_path: Path):
    outcomes = await _kill_repeatedly(tmp_path, times=1)
    assert outcomes["not begun"] + outcomes["finished"] == 1


# Is killed after everything was hidden, and before anything was erased.
_INTERRUPTED = """
import asyncio, os, signal, sys
from recollect import Memory
from recollect.erasure.rows import SqlErasure

async def killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)

async def main():
    SqlErasure.advance = killed
    async with Memory.open(sys.argv[1]) as memory:
        await memory.scope(user="ann").forget(user="ann")

asyncio.run(main())
"""


async def test_what_was_interrupted_is_finished_when_the_memory_is_next_opened(tmp_path: Path):
    database = tmp_path / "memory.db"
    async with Memory.open(database) as memory:
        await memory.scope(user="ann").remember("a zorblaxian parcel")
        await memory.scope(user="bob").remember("bobs parcel")
    command = [WARM, "-c", _INTERRUPTED, place_of(database)]
    run = partial(subprocess.run, command, check=False, env=environment_of(database))
    assert (await asyncio.to_thread(run)).returncode == -9

    assert _unfinished(database) == 1
    settings = Settings.load({"storage": storage_of(database), "data_dir": tmp_path})
    (pending,) = (it for it in (await diagnose(settings)).findings if it.part == "forgetting")
    assert (pending.verdict, pending.figures["unfinished"]) == ("warning", 1)
    assert "erasure_pending" in pending.message
    assert has_text(database, "zorblaxian")

    # Whatever it is opened for, and at once: nobody waits for the lease of a dead process.
    async with Memory.open(database) as memory:
        assert len(await memory.scope(user="ann").list()) == 0
        assert len(await memory.scope(user="bob").list()) == 1
    assert _unfinished(database) == 0
    assert not has_text(database, "zorblaxian")


@pytest.mark.soak
async def test_forgetting_survives_twenty_kills(tmp_path: Path):
    outcomes = await _kill_repeatedly(tmp_path, times=20)
    write_report("kill-9-forget", outcomes)
    assert outcomes["not begun"] + outcomes["finished"] == 20
    assert outcomes["interrupted"] > 0
