"""Forgetting one user among many: how long it takes, and what others' recalls take meanwhile.

`--records` of the forgotten user, `--others` records of all other users; with `--own-process`
the forgetting runs beside the recalls as `recollect forget` does, else within the same process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from recollect import Memory
from recollect.evaluation.synthetic import Writer
from recollect.settings import Settings

EACH = 1_000
QUESTIONS = 400


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


async def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--records", type=int, default=10_000)
    options.add_argument("--others", type=int, default=1_000_000)
    options.add_argument("--own-process", action="store_true")
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    writer = Writer()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.load(
            {
                "data_dir": Path(folder),
                "storage": {"synchronous": "off"},
                "embedding": {"model": "none"},
            }
        )
        async with Memory.open(settings) as memory:
            others = [memory.scope(user=f"user-{it}") for it in range(given.others // EACH)]
            # The one who goes came in the middle, so that everything lies among others'.
            for number, other in enumerate(others):
                if number == len(others) // 2:
                    await fill(memory.scope(user="gone"), writer, given.records)
                await fill(other, writer, EACH)
        settings = settings.model_copy(
            update={"storage": settings.storage.model_copy(update={"synchronous": "full"})}
        )
        async with Memory.open(settings) as memory:
            others = [memory.scope(user=f"user-{it}") for it in range(min(len(others), 50))]
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
    figures = {
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
    print(
        "forgetting {records} records among {others} took {seconds} s; others' recall p95 went "
        "from {p95_before_ms} to {p95_during_ms} ms ({ratio_p95} times)".format(**figures)
    )
    if given.json:
        print(json.dumps(figures))


asyncio.run(main())
