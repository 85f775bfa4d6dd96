"""The process is killed in the middle of saving; everything it was told is there afterwards."""

import asyncio
import random
import subprocess
import time
from pathlib import Path

import pytest

from recollect import Memory
from tests.database_servers import is_sound, place_of
from tests.nursery import WARM
from tests.processes import Child
from tests.reports import write_report

# Saves without pause and says each id only after `remember` has returned.
_SAVER = """
import asyncio, sys
from recollect import Memory

async def main():
    async with Memory.open(sys.argv[1]) as memory:
        for number in range(1000):
            saved = await memory.remember(f"parcel {number} on shelf {number % 37} 第{number}号")
            print(number, saved.id, flush=True)

asyncio.run(main())
"""


def _save_until_killed(database: Path, after: float) -> dict[int, str]:
    """The saves that a process acknowledged before it was killed."""
    command = [WARM, "-c", _SAVER, place_of(database)]
    with Child(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(after)
        process.kill()
        lines = [first, *process.stdout.readlines()]
    # The last line may be cut off in the middle by the kill.
    whole = [line.split() for line in lines if line.endswith("\n")]
    return {int(number): ident for number, ident in whole}


async def _missing(database: Path, acknowledged: dict[int, str]) -> list[int]:
    async with Memory.open(database) as memory:
        lost: list[int] = []
        for number, ident in acknowledged.items():
            found = await memory.recall(f"parcel {number}", limit=3, min_score=0)
            if ident not in [hit.id for hit in found]:
                lost.append(number)
        return lost


def _kill_repeatedly(folder: Path, times: int, within: float) -> dict[str, int]:
    """Kill a process that saves, each time at another moment of so many seconds."""
    acknowledged = lost = 0
    for attempt in range(times):
        database = folder / f"killed-{attempt}.db"
        saves = _save_until_killed(database, after=random.uniform(0.02, within))
        acknowledged += len(saves)
        lost += len(asyncio.run(_missing(database, saves)))
        assert is_sound(database)
    return {"kills": times, "acknowledged": acknowledged, "lost": lost}


def test_saves_survive_kill_9(tmp_path: Path):
    outcome = _kill_repeatedly(tmp_path, times=3, within=0.3)
    assert outcome["acknowledged"] >= 3
    assert outcome["lost"] == 0


@pytest.mark.soak
def test_saves_survive_twenty_kills(tmp_path: Path):
    outcome = _kill_repeatedly(tmp_path, times=20, within=0.8)
    write_report("kill-9-saves", outcome)
    assert outcome["lost"] == 0
