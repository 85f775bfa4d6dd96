"""Two programs use one memory at once: nothing is lost and each sees what the other saved."""

import subprocess
from pathlib import Path

from recollect import Memory
from tests.database_servers import place_of
from tests.nursery import WARM

_WRITER = """
import asyncio, sys
from recollect import Memory

async def main():
    name, database = sys.argv[1:]
    async with Memory.open(database) as memory:
        for number in range(100):
            await memory.remember(f"{name} wrote note {number}")
            await memory.observe([{"role": "user", "content": f"{name} {number}"}], session="both")

asyncio.run(main())
"""


def _writer(name: str, database: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([WARM, "-c", _WRITER, name, place_of(database)])


async def test_two_processes_that_write_at_once_lose_nothing(database_path: Path):
    # Neither finds a database: both create it at the same time.
    writers = [_writer("alpha", database_path), _writer("beta", database_path)]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0]

    async with Memory.open(database_path) as memory:
        counts = (await memory.stats()).store
        assert (counts.records, counts.turns, counts.units) == (200, 200, 400)
        ordinals: list[int] = []
        cursor = None
        while True:
            page = await memory.turns(session="both", limit=64, cursor=cursor)
            ordinals += [turn.ordinal for turn in page]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert ordinals == list(range(1, 201))


async def test_a_save_in_one_process_is_recalled_in_another(database_path: Path):
    async with Memory.open(database_path) as here, Memory.open(database_path) as there:
        for number in range(10):
            saved = await there.remember(f"parcel {number} came for the harbour office")
            found = await here.recall(f"parcel {number} harbour", limit=10)
            assert saved.id in [hit.id for hit in found]
            await there.delete(saved.id)
            gone = await here.recall(f"parcel {number} harbour", limit=10)
            assert saved.id not in [hit.id for hit in gone]
