"""What a process holds: many records, many recalls, then minutes of writing and asking.

PYTHONPATH=. python benchmarks/resident.py --records 100000 --recalls 10000 --minutes 10
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import tempfile
import time
from pathlib import Path
from typing import Any, cast

import numpy as np

from recollect import Memory
from recollect.assemble.embedding import wanted_embedder
from recollect.evaluation.speed import Writer
from recollect.ports.embedder import Embedder
from recollect.settings import Settings

_BATCH = 1_000
_EVERY_SECONDS = 10


def held() -> dict[str, float]:
    """Return the megabytes that the process holds: in all, for itself, and of mapped files."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    told = dict(line.split(":", 1) for line in lines if line.startswith("Rss") or "VmRSS" in line)
    names = {"VmRSS": "all", "RssAnon": "own", "RssFile": "files"}
    return {name: round(int(told[key].split()[0]) / 1_024, 1) for key, name in names.items()}


class _RandomPassages:
    """Embeds questions, and passages at random while a memory is filled."""

    def __init__(self, model: Embedder) -> None:
        self._model = model
        self._random = np.random.default_rng(7)
        self.is_filling = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    async def embed(self, texts: Any, purpose: Any, progress: Any = None) -> Any:
        if purpose == "query" or not self.is_filling:
            return await self._model.embed(texts, purpose, progress)
        rows = self._random.normal(size=(len(texts), self._model.dimension)).astype(np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def question(writer: Writer, number: int) -> str:
    """Return a question as long as those of people: six words, or a dozen characters."""
    words = writer.question(number)
    return words[:12] + "？" if number % 2 else " ".join(words.split()[:6]) + "?"


def tell(what: str, **more: Any) -> None:
    print(json.dumps({"at": round(time.monotonic()), "what": what, **held(), **more}), flush=True)


async def talk(scopes: list[Memory], writer: Writer, minutes: float) -> None:
    """Save, tell, ask and list, as fast as it goes, and tell what is held every ten seconds."""
    began = last = time.monotonic()
    number = 0
    while (now := time.monotonic()) < began + 60 * minutes:
        scope = scopes[number % len(scopes)]
        await scope.remember(writer.text(number))
        said = {"role": "user", "content": f"I live in {writer.text(0)[:60]}"}
        await scope.observe(said, session=f"session-{number // 40}")
        for asked in range(3):
            await scope.recall(question(writer, number + asked))
        number += 1
        if now - last >= _EVERY_SECONDS:
            last = now
            tell("soak", seconds=round(now - began), rounds=number)


async def main(records: int, users: int, recalls: int, minutes: float) -> None:
    writer = Writer()
    tell("start")
    with tempfile.TemporaryDirectory(prefix="recollect-resident-") as folder:
        settings = Settings.load({"data_dir": Path(folder), "recall": {"cache_seconds": 0}})
        model = wanted_embedder(settings)
        assert model is not None
        embedder = _RandomPassages(model)
        async with Memory.open(settings, embedder=cast("Embedder", embedder)) as memory:
            scopes = [memory.scope(user=f"user-{number}") for number in range(users)]
            for scope in scopes:
                for start in range(0, records // users, _BATCH):
                    size = min(_BATCH, records // users - start)
                    await scope.remember_many([writer.text(it) for it in range(size)])
            tell("filled", records=records)
            embedder.is_filling = False
            began = time.monotonic()
            for number in range(recalls):
                await scopes[number % users].recall(question(writer, number))
                if (number + 1) % max(1, recalls // 20) == 0:
                    each = (time.monotonic() - began) / (number + 1) * 1000
                    tell("recalls", done=number + 1, ms=round(each, 1))
            await talk(scopes, writer, minutes)
            tell("before closing")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024
    tell("closed", peak=round(peak, 1))


if __name__ == "__main__":
    given = argparse.ArgumentParser()
    given.add_argument("--records", type=int, default=10_000)
    given.add_argument("--users", type=int, default=20)
    given.add_argument("--recalls", type=int, default=1_000)
    given.add_argument("--minutes", type=float, default=1)
    told = given.parse_args()
    asyncio.run(main(told.records, told.users, told.recalls, told.minutes))
