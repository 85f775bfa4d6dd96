"""Benchmark of the speed of saving, recalling and starting, at a given size."""

from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recollect.assemble.embedding import wanted_embedder
from recollect.evaluation.metrics import percentile
from recollect.evaluation.synthetic import Writer
from recollect.memory import Memory
from recollect.ports.embedder import Embedder, Progress, Purpose
from recollect.settings import Settings

Told = Callable[[int], None]

_SAVES: Final = 200
_BATCH: Final = 1_000
_QUESTIONS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedResult:
    """The measured figures; `recall_*` exclude the embedding of the question."""

    records: int
    users: int
    save_per_s: float
    batch_per_s: float
    recall_p50_ms: float
    recall_p95_ms: float
    recall_with_embedding_p50_ms: float
    rss_mb: float
    disk_mb: float
    cold_start_s: float

    def as_json(self) -> dict[str, Any]:
        return {name: round(value, 2) for name, value in asdict(self).items()}


class _QuickPassages:
    """An embedder that embeds questions, but gives passages random vectors.

    So a large memory is filled quickly; embedding is measured by `benchmarks/ingest`.
    """

    def __init__(self, model: Embedder) -> None:
        self.model = model.model
        self.dimension = model.dimension
        self.calibration = model.calibration
        self._model = model
        self._random = np.random.default_rng(7)

    def reads(self, text: str) -> bool:
        return True

    async def embed(
        self, texts: Sequence[str], purpose: Purpose, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        if purpose == "query":
            return await self._model.embed(texts, purpose, progress)
        rows = self._random.normal(size=(len(texts), self.dimension)).astype(np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def notes(self) -> tuple[str, ...]:
        return ()

    async def close(self) -> None:
        await self._model.close()


async def measure_speed(records: int, users: int, settings: Settings, told: Told) -> SpeedResult:
    """Fill a new memory with `records` spread over `users`, and measure."""
    writer = Writer()
    model = await asyncio.to_thread(wanted_embedder, settings)
    embedder = None if model is None else _QuickPassages(model)
    with tempfile.TemporaryDirectory(prefix="recollect-speed-") as folder:
        own = Settings.load({"data_dir": Path(folder), "recall": {"cache_seconds": 0}})
        async with Memory.open(own, embedder=embedder) as memory:
            scopes = [memory.scope(user=f"user-{number}") for number in range(users)]
            batch_per_s = await _fill(scopes, writer, records, told)
            save_per_s = await _save_singly(scopes[0], writer)
            await _warm(scopes, writer)
            questions = [writer.question(number) for number in range(_QUESTIONS)]
            with_model = await _ask(scopes, questions)
            # The second time, a question's vector is cached; its answer is not (that cache is off).
            times = await _ask(scopes, questions)
        return SpeedResult(
            records=records,
            users=users,
            save_per_s=save_per_s,
            batch_per_s=batch_per_s,
            recall_p50_ms=percentile(times, 0.50),
            recall_p95_ms=percentile(times, 0.95),
            recall_with_embedding_p50_ms=0.0 if model is None else percentile(with_model, 0.50),
            rss_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            disk_mb=await asyncio.to_thread(_disk_mb, Path(folder)),
            cold_start_s=await asyncio.to_thread(_cold_start, Path(folder)),
        )


async def _fill(scopes: list[Memory], writer: Writer, records: int, told: Told) -> float:
    """Return the records per second when many are saved at a time."""
    each = max(1, records // len(scopes))
    seconds = 0.0
    for scope in scopes:
        for start in range(0, each, _BATCH):
            texts = [writer.text(number) for number in range(min(_BATCH, each - start))]
            began = time.perf_counter()
            await scope.remember_many(texts)
            seconds += time.perf_counter() - began
            told(len(texts))
    return each * len(scopes) / seconds


async def _save_singly(scope: Memory, writer: Writer) -> float:
    texts = [writer.text(number) for number in range(_SAVES)]
    began = time.perf_counter()
    for text in texts:
        await scope.remember(text)
    return _SAVES / (time.perf_counter() - began)


async def _warm(scopes: list[Memory], writer: Writer) -> None:
    """Ask every scope until it is packed."""
    for scope in scopes:
        for number in range(2):
            await scope.recall(writer.question(number), min_score=0)
    await asyncio.sleep(min(3.0, 0.01 * len(scopes) + 2.0))


async def _ask(scopes: list[Memory], questions: Sequence[str]) -> list[float]:
    """Return the milliseconds of each question."""
    times: list[float] = []
    for number, question in enumerate(questions):
        began = time.perf_counter()
        await scopes[number % len(scopes)].recall(question, min_score=0)
        times.append((time.perf_counter() - began) * 1000)
    return times


def _disk_mb(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*.db*")) / 2**20


def _cold_start(folder: Path) -> float:
    """Return the seconds that `recollect recall` takes in a new process."""
    command = [sys.executable, "-m", "recollect", "recall", "今天开会讨论了什么事情"]
    began = time.perf_counter()
    subprocess.run(
        [*command, "--data", str(folder), "--user", "user-0"], capture_output=True, check=True
    )
    return time.perf_counter() - began
