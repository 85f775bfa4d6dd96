"""Forgetting one user among many: how long it takes, and what others' recalls take meanwhile.

`--records` of the forgotten user, `--others` records of all other users; with `--own-process`
the forgetting runs beside the recalls as `recollect forget` does, else within the same process.
With `--data` the memory is built there once; every run then forgets in a copy of it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from recollect import Memory
from recollect.evaluation.speed import Writer
from recollect.settings import Settings

EACH = 1_000
QUESTIONS = 400
# Others who ask.
ASKING = 50


async def fill(memory: Memory, writer: Writer, count: int) -> None:
    for start in range(0, count, 1_000):
        size = min(1_000, count - start)
        await memory.remember_many([writer.text(start + number) for number in range(size)])


async def ask(memories: list[Memory], writer: Writer, number: int) -> float:
    start = time.perf_counter()
    await memories[number % len(memories)].recall(writer.question(number), min_score=0)
    return (time.perf_counter() - start) * 1e3


def p95(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.95)]


async def forget(memory: Memory, settings: Settings, *, in_own_process: bool) -> dict[str, int]:
    if not in_own_process:
        return dict((await memory.scope(user="gone").forget(user="gone")).counts)
    command = [sys.executable, "-m", "recollect", "forget", "--user", "gone", "--yes", "--json"]
    command += ["--data", str(settings.data_dir)]
    told = await asyncio.to_thread(
        subprocess.run,
        command,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "RECOLLECT_EMBEDDING__MODEL": "none"},
    )
    return json.loads(told.stdout)["counts"]


async def build(folder: Path, records: int, others: int) -> None:
    """Fill a memory; the one who goes comes in the middle, so that all lies among others'."""
    writer = Writer()
    async with Memory.open(settings_for(folder, synchronous="off")) as memory:
        users = others // EACH
        for number in range(users):
            if number == users // 2:
                await fill(memory.scope(user="gone"), writer, records)
            await fill(memory.scope(user=f"user-{number}"), writer, EACH)


def settings_for(folder: Path, *, synchronous: str = "full") -> Settings:
    return Settings.load(
        {
            "data_dir": folder,
            "storage": {"synchronous": synchronous},
            "embedding": {"model": "none"},
        }
    )


async def measure(folder: Path, given: argparse.Namespace) -> dict[str, float]:
    """Ask as others do, before the user is forgotten and meanwhile."""
    writer, settings = Writer(), settings_for(folder)
    async with Memory.open(settings) as memory:
        users = min(given.others // EACH, ASKING)
        others = [memory.scope(user=f"user-{it}") for it in range(users)]
        for number in range(len(others)):
            await ask(others, writer, number)
        before = [await ask(others, writer, number) for number in range(QUESTIONS)]
        start = time.perf_counter()
        going = asyncio.create_task(forget(memory, settings, in_own_process=given.own_process))
        during: list[float] = []
        while not going.done():
            during.append(await ask(others, writer, len(during)))
        took = time.perf_counter() - start
        counts = await going
        left = len(await memory.scope(user="gone").list())
        size = await asyncio.to_thread(lambda: settings.database.stat().st_size)
    return {
        "records": counts["records"],
        "others": given.others,
        "database_mb": round(size / 2**20),
        "seconds": round(took, 2),
        "left": left,
        "recalls_meanwhile": len(during),
        "p50_before_ms": round(statistics.median(before), 2),
        "p50_during_ms": round(statistics.median(during), 2),
        "p95_before_ms": round(p95(before), 2),
        "p95_during_ms": round(p95(during), 2),
        "longest_during_ms": round(max(during), 1),
        "ratio_p95": round(p95(during) / p95(before), 2),
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--records", type=int, default=10_000)
    options.add_argument("--others", type=int, default=1_000_000)
    options.add_argument("--data", type=Path, help="build there once and use it again")
    options.add_argument("--build-only", action="store_true")
    options.add_argument("--own-process", action="store_true")
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(dir=given.data and given.data.parent) as temporary:
        folder = Path(temporary) / "memory"
        kept = given.data or folder
        if not kept.exists():
            begun = kept.with_name(f"{kept.name}.building")
            asyncio.run(build(begun, given.records, given.others))
            begun.rename(kept)
        if given.build_only:
            return
        if kept != folder:
            shutil.copytree(kept, folder)
            # Or the disk is busy with the copy while the recalls are measured.
            os.sync()
        figures = asyncio.run(measure(folder, given))
    print(
        "forgetting {records} records among {others} took {seconds} s; others' recall p95 went "
        "from {p95_before_ms} to {p95_during_ms} ms ({ratio_p95} times)".format(**figures)
    )
    if given.json:
        print(json.dumps(figures))


main()
