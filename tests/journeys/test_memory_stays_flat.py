"""Somebody talks for days with one process: it holds the index of what was said, and no more."""

import gc
import json
import subprocess
import sys
from pathlib import Path

import pytest

from recollect import Memory
from tests.reports import write_report


async def _talk(memory: Memory, first: int, last: int) -> None:
    """One exchange a session: something is said, and something else asked for."""
    for number in range(first, last):
        said = {"role": "user", "content": f"Order {number} of green tea went to Porto"}
        await memory.observe(said, session=f"session-{number}")
        await memory.recall(f"where did order {number} go?")


def _living() -> int:
    """How many objects of ours there are; those of modules that load meanwhile do not count."""
    gc.collect()
    return sum(str(type(it).__module__).startswith("recollect.") for it in gc.get_objects())


async def test_an_exchange_leaves_nothing_behind_in_the_process(memory: Memory):
    await _talk(memory, 0, 60)
    before = _living()
    await _talk(memory, 60, 260)
    # An answer has a dozen; those of the exchanges together would be some thousands.
    assert _living() - before < 200
    # Every answer but the last was outdated by what was said next.
    assert (await memory.stats()).recall_cache.entries == 1


_CYCLES = 20_000
# Caches of SQLite and of answers fill up to their bounds until then.
_WARM = 10_000
# What the index holds of an exchange, generously: its terms, its times and its id take 360 bytes,
# and the allocator keeps room between them (decision 0028).
_INDEX_OF_ONE = 700
_TALKING = """
import asyncio, gc, json, random, sys
from pathlib import Path
from recollect import Memory

def held():
    gc.collect()
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) * 1024

async def main(cycles, warm):
    choose = random.Random(7)
    words = ["".join(choose.choices("abcdefghijklmnopqrst", k=6)) for _ in range(3000)]
    measured = []
    async with Memory.open(sys.argv[1]) as memory:
        for number in range(1, cycles + 1):
            somebody = memory.scope(user=f"user-{number % 40}")
            text = " ".join(choose.choices(words, k=12))
            await somebody.observe({"role": "user", "content": text}, session=f"s{number // 50}")
            await somebody.recall(" ".join(choose.choices(words, k=4)))
            if number % warm == 0:
                measured.append({"cycles": number, "held": held()})
    print(json.dumps(measured))

asyncio.run(main(int(sys.argv[2]), int(sys.argv[3])))
"""


@pytest.mark.soak
def test_twenty_thousand_exchanges_take_no_more_room_than_their_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """On a slow machine the first sessions would be extracted before the last one is over."""
    monkeypatch.setenv("RECOLLECT_WRITING__IDLE_MINUTES", "600")
    command = [sys.executable, "-c", _TALKING, str(tmp_path), str(_CYCLES), str(_WARM)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    measured = json.loads(ran.stdout)
    write_report("memory_growth", {"measured": measured})
    grown = measured[-1]["held"] - measured[0]["held"]
    assert grown < _INDEX_OF_ONE * (_CYCLES - _WARM)
