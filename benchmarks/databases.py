"""Saving and recalling on database servers beside a SQLite file with the same content.

The file is filled first and copied to every server. Then each store in turn saves a text and
answers a question that nobody asked before. Vectors are invented and nothing is compared with what
is saved, so that the time is the database's and the index's. How durable a commit is on a server,
its own settings say; the file has `synchronous=FULL`.

    python benchmarks/databases.py postgresql://… mysql://… [--units 100000] [--rounds 200]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recollect import Memory
from recollect.assemble.stores import copy_store
from recollect.domain.embedding import Calibration
from recollect.evaluation.metrics import percentile
from recollect.evaluation.speed import Writer
from recollect.ports.embedder import Progress, Purpose
from recollect.settings import Settings

DIMENSION = 64
AT_ONCE = 2_000


class InventedVectors:
    """An `Embedder` whose vectors are random and cost nothing."""

    model = "invented"
    calibration = Calibration()

    def __init__(self, dimension: int = DIMENSION) -> None:
        self.dimension = dimension
        self._random = np.random.default_rng(7)

    def reads(self, text: str) -> bool:
        return bool(text)

    async def embed(
        self, texts: Sequence[str], purpose: Purpose, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        rows = self._random.normal(size=(len(texts), self.dimension)).astype(np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def notes(self) -> tuple[str, ...]:
        return ()

    async def close(self) -> None: ...


def settings(folder: Path, **storage: str) -> Settings:
    return Settings.load(
        {
            "data_dir": folder,
            "storage": storage,
            "writing": {"judge": "rules"},
            "recall": {"read_hits": 0},
        }
    )


async def fill(place: Settings, writer: Writer, units: int) -> None:
    async with Memory.open(place, embedder=InventedVectors()) as memory:
        for start in range(0, units, AT_ONCE):
            texts = [writer.text(number) for number in range(start, min(start + AT_ONCE, units))]
            await memory.remember_many(texts)
        await memory.drain()


async def until_packed(memory: Memory, units: int) -> None:
    """Ask until both indexes are in memory, which happens in the background."""
    for number in count():
        # An answer that is kept needs no index.
        await memory.recall(f"anything {number}", min_score=0)
        stats = await memory.stats()
        if min(stats.keyword_index.units, stats.vector_index.units) >= units:
            return
        await asyncio.sleep(0.1)


async def milliseconds_of_save(memory: Memory, text: str) -> float:
    start = time.perf_counter()
    await memory.remember(text)
    return (time.perf_counter() - start) * 1e3


async def milliseconds_of_recall(memory: Memory, question: str) -> float:
    start = time.perf_counter()
    await memory.recall(question, min_score=0)
    return (time.perf_counter() - start) * 1e3


def told(name: str, times: Sequence[float], plain: Sequence[float]) -> dict[str, float]:
    p50, p95 = percentile(times, 0.5), percentile(times, 0.95)
    ratio, ratio95 = p50 / percentile(plain, 0.5), p95 / percentile(plain, 0.95)
    beside = statistics.median(mine / its for mine, its in zip(times, plain, strict=True))
    print(
        f"{name:<22} p50 {p50:7.2f} ms ({ratio:5.2f})   p95 {p95:7.2f} ms ({ratio95:5.2f})   "
        f"round by round {beside:5.2f}"
    )
    return {
        f"{name}_p50_ms": round(p50, 3),
        f"{name}_p95_ms": round(p95, 3),
        f"{name}_p50_ratio": round(ratio, 2),
        f"{name}_p95_ratio": round(ratio95, 2),
        f"{name}_median_ratio": round(beside, 2),
    }


async def measure(places: dict[str, Settings], units: int, rounds: int) -> dict[str, float]:
    writer = Writer()
    saves: dict[str, list[float]] = {name: [] for name in places}
    recalls: dict[str, list[float]] = {name: [] for name in places}
    async with AsyncExitStack() as stack:
        opened = {
            name: await stack.enter_async_context(Memory.open(it, embedder=InventedVectors()))
            for name, it in places.items()
        }
        for memory in opened.values():
            await until_packed(memory, units)
        for number in range(rounds):
            for name, memory in opened.items():
                text = writer.text(units + number)
                saves[name].append(await milliseconds_of_save(memory, text))
                question = writer.question(number)
                recalls[name].append(await milliseconds_of_recall(memory, question))
    figures: dict[str, float] = {}
    for what, times in (("save", saves), ("recall", recalls)):
        for name in places:
            figures |= told(f"{name} {what}", times[name], times["sqlite"])
    return figures


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("urls", nargs="+", help="empty databases on servers")
    parser.add_argument("--units", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        places = {"sqlite": settings(folder / "sqlite", path=str(folder / "sqlite" / "memory.db"))}
        start = time.perf_counter()
        await fill(places["sqlite"], Writer(), given.units)
        print(f"{given.units:,} units filled in {time.perf_counter() - start:.0f} s")
        for url in given.urls:
            kind = url.partition(":")[0]
            places[kind] = settings(folder / kind, url=url)
            start = time.perf_counter()
            await copy_store(places["sqlite"], places[kind])
            print(f"copied to {kind} in {time.perf_counter() - start:.0f} s")
        figures = await measure(places, given.units, given.rounds)
    if given.json:
        print(json.dumps({"units": given.units, "rounds": given.rounds, **figures}))


if __name__ == "__main__":
    asyncio.run(main())
