"""A process is killed in the middle of a sweep: nothing is lost, and the next one ends it."""

import asyncio
import random
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect import Memory, Status
from recollect.domain.fields import Draft
from tests.database_servers import ask, environment_of, is_sound, place_of
from tests.nursery import WARM
from tests.processes import Child
from tests.reports import write_report

_KEPT = 40
_OUTDATED = 400

_SWEEPER = """
import asyncio, sys
from recollect import Memory

async def main():
    async with Memory.open(sys.argv[1]) as memory:
        print("sweeping", flush=True)
        await memory.upkeep.sweep()
        print("swept", flush=True)

asyncio.run(main())
"""
# What a purge that was cut in two would leave behind.
_LEFT_OVER = (
    "SELECT count(*) FROM units WHERE owner_id NOT IN (SELECT id FROM records)",
    "SELECT count(*) FROM versions WHERE record_id NOT IN (SELECT id FROM records)",
    "SELECT (SELECT sum(unit_count) FROM scopes) - (SELECT count(*) FROM units)",
    "SELECT count(*) FROM units JOIN records ON records.id = owner_id WHERE status = 'expired'",
)


async def _fill(database: Path) -> list[str]:
    """Records that stay, and ten times as many whose time is over; the ids of the first."""
    past = datetime.now(UTC) - timedelta(days=1)
    async with Memory.open(database) as memory:
        kept = await memory.remember_many(
            [f"parcel {number} on shelf {number % 7} 第{number}号包裹" for number in range(_KEPT)]
        )
        await memory.remember_many(
            [
                Draft(
                    content=f"passing remark {number} 顺便一提{number}",
                    tier="short" if number % 2 else "long",
                    expires_at=past,
                )
                for number in range(_OUTDATED)
            ]
        )
    return [record.id for record in kept]


def _sweep_until_killed(database: Path, after: float) -> bool:
    """Whether the process was killed before it had finished."""
    command = [WARM, "-c", _SWEEPER, place_of(database)]
    environment = environment_of(database)
    with Child(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "sweeping\n"
        time.sleep(after)
        process.kill()
        return process.stdout.read() != "swept\n"


def _is_whole(database: Path) -> bool:
    left_over = [ask(database, query)[0][0] or 0 for query in _LEFT_OVER]
    return is_sound(database) and not any(left_over)


async def _lost(database: Path, kept: list[str]) -> int:
    """How many of those that stay are gone, once the sweep was brought to its end."""
    async with Memory.open(database) as memory:
        await memory.upkeep.sweep()
        assert (await memory.upkeep.sweep()).records == 0
        stored = (await memory.stats()).store.by_status
        assert stored == {"active": _KEPT, "expired": _OUTDATED // 2}
        expired = await memory.list(status=Status.EXPIRED, limit=1000)
        assert all(record.version == 2 for record in expired), "each was hidden once"
        missing = 0
        for number, ident in enumerate(kept):
            found = await memory.recall(f"parcel {number}", limit=3, min_score=0)
            missing += ident not in [hit.id for hit in found]
        return missing


def _kill_repeatedly(folder: Path, times: int) -> dict[str, int]:
    interrupted = lost = 0
    for attempt in range(times):
        database = folder / f"killed-{attempt}.db"
        kept = asyncio.run(_fill(database))
        interrupted += _sweep_until_killed(database, after=random.uniform(0.0, 0.6))
        assert _is_whole(database)
        lost += asyncio.run(_lost(database, kept))
        assert _is_whole(database)
    return {"kills": times, "interrupted": interrupted, "lost": lost}


def test_a_sweep_survives_kill_9(tmp_path: Path):
    assert _kill_repeatedly(tmp_path, times=1)["lost"] == 0


@pytest.mark.soak
def test_a_sweep_survives_twenty_kills(tmp_path: Path):
    outcome = _kill_repeatedly(tmp_path, times=20)
    write_report("kill-9-sweeps", outcome)
    assert outcome["interrupted"] >= 10
    assert outcome["lost"] == 0
