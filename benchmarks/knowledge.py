"""Documents: how fast they are read beside the embedder alone, and how fast they are searched.

Documents of made-up text are added several at a time. The embedder alone then reads a sample of
the very texts that it was given, in the same run. More documents, with random vectors, are added
until there are so many chunks. At last questions are asked that nobody asked before, each with its
embedding.

    python benchmarks/knowledge.py [--embedded 3000] [--chunks 50000] [--questions 200]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recollect import Memory
from recollect.assemble.embedding import wanted_embedder
from recollect.evaluation.speed import Writer
from recollect.memory.knowledge import KnowledgeDocuments
from recollect.ports.embedder import Embedder, EmbedderAround, Progress, Purpose
from recollect.settings import Settings

AT_ONCE = 8
TEXTS_A_DOCUMENT = 40
SAMPLE = 512
_NUMBERS = count()


class Overheard(EmbedderAround):
    """An embedder, and how much it was given to read; in a hurry it invents vectors of passages."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self.read = 0
        self.sample: list[str] = []
        self.is_in_hurry = False
        self._random = np.random.default_rng(7)

    async def embed(
        self, texts: Sequence[str], purpose: Purpose, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        if self.is_in_hurry and purpose != "query":
            rows = self._random.normal(size=(len(texts), self.dimension)).astype(np.float32)
            return rows / np.linalg.norm(rows, axis=1, keepdims=True)
        self.read += len(texts)
        self.sample += texts[: SAMPLE - len(self.sample)]
        return await super().embed(texts, purpose, progress)


async def add_documents(
    knowledge: KnowledgeDocuments, writer: Writer, chunks: int
) -> tuple[int, float]:
    """Add documents until there are so many more chunks; return their number and the seconds."""
    made, seconds = 0, 0.0
    while made < chunks:
        texts = [
            "\n\n".join(writer.text(next(_NUMBERS)) for _ in range(TEXTS_A_DOCUMENT))
            for _ in range(AT_ONCE)
        ]
        began = time.perf_counter()
        added = await asyncio.gather(
            *(knowledge.add(text, f"{next(_NUMBERS)}.txt") for text in texts)
        )
        seconds += time.perf_counter() - began
        made += sum(document.chunks for document in added)
    return made, seconds


async def measure(folder: Path, embedded: int, chunks: int, questions: int) -> dict[str, float]:
    """Return the figures of one run."""
    alone = wanted_embedder(Settings.load())
    assert alone is not None, "an embedding model is needed: embedding.model"
    embedder, writer = Overheard(alone), Writer()
    async with Memory.open(folder / "memory.db", embedder=embedder) as memory:
        knowledge = memory.knowledge
        made, spent = await add_documents(knowledge, writer, embedded)
        began = time.perf_counter()
        await alone.embed(embedder.sample, "passage")
        each = (time.perf_counter() - began) / len(embedder.sample)
        share = embedder.read * each / spent
        embedder.is_in_hurry = True
        more, _ = await add_documents(knowledge, writer, chunks - made)
        taken: list[float] = []
        for number in range(questions):
            question = writer.question(number)
            began = time.perf_counter()
            await knowledge.search(question)
            taken.append((time.perf_counter() - began) * 1_000)
    return {
        "chunks": made + more,
        "ingest_chunks_per_s": round(made / spent, 1),
        "embedder_share": round(share, 3),
        "search_p50_ms": round(statistics.median(taken), 1),
        "search_p95_ms": round(statistics.quantiles(taken, n=20)[-1], 1),
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--embedded", type=int, default=3_000)
    options.add_argument("--chunks", type=int, default=50_000)
    options.add_argument("--questions", type=int, default=200)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = asyncio.run(measure(Path(folder), given.embedded, given.chunks, given.questions))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
