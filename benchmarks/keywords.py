"""Keyword recall through the public API: a large scope, many small ones, cold ones.

The keyword path alone is measured first, without the hop by names that follows it by default; the
last lines have that too.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from recollect import Memory
from recollect.evaluation.speed import Writer
from recollect.settings import Settings

LARGE = 100_000
SCOPES = 1_000
EACH = 100
QUESTIONS = 300


async def fill(memory: Memory, writer: Writer, count: int) -> None:
    for start in range(0, count, 2_000):
        size = min(2_000, count - start)
        await memory.remember_many([writer.text(start + number) for number in range(size)])


async def milliseconds(memory: Memory, question: str) -> float:
    start = time.perf_counter()
    await memory.recall(question, min_score=0)
    return (time.perf_counter() - start) * 1e3


async def until_packed(memory: Memory) -> None:
    """Asking twice makes a scope worth packing; that happens in the background."""
    while (await memory.stats()).keyword_index.units < LARGE:
        await memory.recall("anything", min_score=0)


def told(name: str, times: Sequence[float]) -> dict[str, float]:
    ordered = sorted(times)
    p50, p95 = statistics.median(ordered), ordered[int(len(ordered) * 0.95)]
    print(f"{name:<28} p50 {p50:6.2f} ms   p95 {p95:6.2f} ms")
    return {f"{name}_p50_ms": round(p50, 3), f"{name}_p95_ms": round(p95, 3)}


def settings(folder: str, **recall: float) -> Settings:
    storage = {"synchronous": "off"}
    return Settings.load({"data_dir": Path(folder), "storage": storage, "recall": recall})


async def main() -> None:
    writer = Writer()
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        async with Memory.open(settings(folder, entity_weight=0)) as memory:
            large = memory.scope(user="large")
            await fill(large, writer, LARGE)
            first = await milliseconds(large, writer.question(0))
            print(f"{'large, not packed yet':<28}     {first:6.2f} ms")
            figures["large_unpacked_ms"] = round(first, 3)
            await until_packed(large)
            times = [await milliseconds(large, writer.question(n)) for n in range(QUESTIONS)]
            figures |= told("large", times)
            figures["index_mb"] = round((await large.stats()).keyword_index.bytes / 2**20, 1)

            scopes = [memory.scope(user=f"user-{number}") for number in range(SCOPES)]
            for scope in scopes:
                await fill(scope, writer, EACH)
            figures |= told("cold", [await milliseconds(it, writer.question(1)) for it in scopes])
            times = [
                await milliseconds(scopes[n % SCOPES], writer.question(n)) for n in range(SCOPES)
            ]
            figures |= told("small", times)
        async with Memory.open(settings(folder)) as memory:
            scopes = [memory.scope(user=f"user-{number}") for number in range(SCOPES)]
            cold = [await milliseconds(it, writer.question(1)) for it in scopes]
            figures |= told("cold, all paths", cold)
            times = [
                await milliseconds(scopes[n % SCOPES], writer.question(n)) for n in range(SCOPES)
            ]
            figures |= told("small, all paths", times)
    if "--json" in sys.argv:
        print(json.dumps(figures))


asyncio.run(main())
