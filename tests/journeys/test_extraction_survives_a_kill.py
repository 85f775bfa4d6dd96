"""The process is killed while it reads conversations: nothing is lost, and nothing is doubled."""

import asyncio
import random
import re
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from recollect import Memory
from recollect.domain.record import Status
from tests.database_servers import environment_of, is_sound, place_of
from tests.nursery import WARM
from tests.processes import Child
from tests.reports import write_report

_SESSIONS = 6
_TURNS = 20

# Every session says things of its own, and some that another one says too.
_READER = """
import asyncio, sys
from recollect import Memory

async def main():
    async with Memory.open(sys.argv[1]) as memory:
        print("open", flush=True)
        await memory.extract()
        print("done", flush=True)

asyncio.run(main())
"""


def _said(session: int, turn: int) -> str:
    number = session * 100 + turn
    match turn % 4:
        case 0:
            return f"Remember that locker {number} holds parcel {number * 7}."
        case 1:
            return f"记住：{number}号柜子里放的是{number * 7}号包裹。"
        case 2:
            again = (session - 1) % _SESSIONS * 100 + turn - 2
            return f"Remember that locker {again} holds parcel {again * 7}."
        case _:
            return "Thanks, that is all for now."


async def _talk(database: Path) -> None:
    async with Memory.open(database) as memory:
        for session in range(_SESSIONS):
            said = [_said(session, turn) for turn in range(_TURNS)]
            messages = [{"role": "user", "content": text} for text in said]
            await memory.observe(messages, session=f"s{session}")


def _read_until_killed(database: Path, after: float) -> bool:
    """Let a process read for a moment; whether it was killed before it was done."""
    command = [WARM, "-c", _READER, place_of(database)]
    environment = environment_of(database)
    with Child(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(after)
        process.kill()
        return "done" not in process.stdout.read()


async def _finish(database: Path) -> tuple[list[str], list[int]]:
    """What is remembered once somebody has read to the end, and how often each was said."""
    async with Memory.open(database) as memory:
        await memory.extract()
        records = (await memory.list(limit=1_000, status=list(Status))).items
        return [it.content for it in records], [it.evidence_count for it in records]


def _kill_repeatedly(folder: Path, times: int) -> dict[str, int]:
    outcome: Counter[str] = Counter({"kills": 0, "lost": 0, "doubled": 0, "miscounted": 0})
    for attempt in range(times):
        database = folder / f"killed-{attempt}.db"
        asyncio.run(_talk(database))
        outcome["kills"] += _read_until_killed(database, after=random.uniform(0.0, 0.4))
        contents, counts = asyncio.run(_finish(database))
        told = Counter(re.search(r"\d+", it)[0] for it in contents)  # type: ignore[index]
        wanted = {
            str(session * 100 + turn)
            for session in range(_SESSIONS)
            for turn in range(_TURNS)
            if turn % 4 < 2
        }
        outcome["lost"] += len(wanted - told.keys())
        outcome["doubled"] += sum(count > 1 for count in told.values())
        # Each English sentence is said twice, each Chinese one once.
        outcome["miscounted"] += sum(counts) != _SESSIONS * _TURNS * 3 // 4
        assert is_sound(database)
    return dict(outcome)


def test_reading_conversations_survives_kill_9(tmp_path: Path):
    outcome = _kill_repeatedly(tmp_path, times=2)
    assert outcome["kills"] >= 1
    assert (outcome["lost"], outcome["doubled"], outcome["miscounted"]) == (0, 0, 0)


@pytest.mark.soak
def test_reading_conversations_survives_twenty_kills(tmp_path: Path):
    outcome = _kill_repeatedly(tmp_path, times=25)
    write_report("kill-9-extraction", outcome)
    assert outcome["kills"] >= 20
    assert (outcome["lost"], outcome["doubled"], outcome["miscounted"]) == (0, 0, 0)
