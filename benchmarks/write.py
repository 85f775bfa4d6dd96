"""One write through the pipeline, compared with what a scope of 10,000 records holds.

Vectors are random and cost nothing: embedding is no part of the figure. A third of what is written
was said before, a third changes a value, a third is new.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recollect import Memory
from recollect.domain.fields import Draft
from recollect.evaluation.speed import Writer
from recollect.ports.embedder import Progress, Purpose

RECORDS = 10_000
WRITES = 300
LAST_YEAR = datetime.now(UTC) - timedelta(days=365)
CITIES = ["Oslo", "Rome", "Lima", "Kyoto", "Quito", "上海", "成都", "西安", "杭州", "青岛"]


class RandomVectors:
    """Vectors at once, the same for the same text."""

    model = "random"
    dimension = 384

    def trust(self, text: str) -> float:
        return 1.0

    async def embed(
        self, texts: Sequence[str], purpose: Purpose, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        rows = np.stack([self._vector(text) for text in texts])
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def notes(self) -> tuple[str, ...]:
        return ()

    async def close(self) -> None: ...

    def _vector(self, text: str) -> NDArray[np.float32]:
        seed = hash(text) & 0xFFFFFFFF
        return np.random.default_rng(seed).standard_normal(self.dimension, np.float32)


def claim(number: int, city: str) -> str:
    if number % 2:
        return f"第{number}号仓库的负责人住在{city}。"
    return f"The manager of warehouse {number} lives in {city}."


def drafts(writer: Writer) -> list[Draft]:
    """Half of it claims, half of it longer texts."""
    claims = [claim(number, CITIES[number % len(CITIES)]) for number in range(RECORDS // 2)]
    texts = [writer.text(number) for number in range(RECORDS - len(claims))]
    return [
        Draft(content=text, category="domain-facts", created_at=LAST_YEAR)
        for text in (*claims, *texts)
    ]


async def main() -> None:
    writer = Writer()
    took: list[float] = []
    worked: list[float] = []
    plain: list[float] = []
    became: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        async with Memory.open(Path(name) / "memory.db", embedder=RandomVectors()) as memory:
            filling = drafts(writer)
            for first in range(0, len(filling), 1_000):
                await memory.remember_many(filling[first : first + 1_000])
            # Two questions let the scope be packed, as it is in any process that works.
            for _ in range(2):
                await memory.recall("warehouse 12", limit=1)
            await asyncio.sleep(2)
            for number in range(WRITES):
                match number % 3:
                    case 0:
                        text = claim(number, CITIES[number % len(CITIES)])
                    case 1:
                        text = claim(number, CITIES[(number + 1) % len(CITIES)])
                    case _:
                        text = writer.text(RECORDS + number)
                before = time.process_time()
                await memory.remember(writer.text(2 * RECORDS + number))
                plain.append((time.process_time() - before) * 1e3)
                start, before = time.perf_counter(), time.process_time()
                written = await memory.write(text, category="domain-facts")
                took.append((time.perf_counter() - start) * 1e3)
                worked.append((time.process_time() - before) * 1e3)
                became[written.status] += 1
    took.sort()
    figures = {
        "records": RECORDS,
        "write_p50_ms": round(statistics.median(took), 2),
        "write_p95_ms": round(took[int(len(took) * 0.95)], 2),
        # Of all threads; a busy machine blurs the time but not this.
        "write_cpu_p50_ms": round(statistics.median(worked), 2),
        "remember_cpu_p50_ms": round(statistics.median(plain), 2),
        **became,
    }
    print(
        "one write beside {records:,} records: {write_p50_ms} ms (p95 {write_p95_ms})".format(
            **figures
        )
    )
    if "--json" in sys.argv:
        print(json.dumps(figures))


asyncio.run(main())
