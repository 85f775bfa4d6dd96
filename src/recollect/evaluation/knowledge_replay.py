"""Benchmarks of the knowledge base: recall sets as documents, and coverage by chunks."""

from __future__ import annotations

import asyncio
import gzip
import json
import math
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from recollect.domain.document import Passage
from recollect.errors import NotFound
from recollect.evaluation.metrics import Judged
from recollect.evaluation.replay import LIMIT, Replay, SetQuery, text_of
from recollect.evaluation.scratch import empty_memory
from recollect.memory import Memory
from recollect.settings import Settings

# Several passages may come from one document.
_PASSAGES: Final = 3 * LIMIT
_AT_ONCE: Final = 16


class DocumentReplay(Replay):
    """The replay of one set; each scope is a user with one collection."""

    async def _tell(self, scope: str, before: float = math.inf) -> None:
        knowledge = self._memory.scope(user=scope).knowledge
        started = time.perf_counter()
        # Several at a time, as when a folder is synchronised.
        due = list(self._due(scope, before))
        for first in range(0, len(due), _AT_ONCE):
            some = due[first : first + _AT_ONCE]
            added = [knowledge.add(text_of(unit), f"{unit.id}.txt") for unit in some]
            documents = await asyncio.gather(*added)
            self._unit_of |= {it.id: unit.id for it, unit in zip(documents, some, strict=True)}
            self._told(len(some))
        self._seconds_telling += time.perf_counter() - started

    async def _ask(self, query: SetQuery) -> Judged:
        knowledge = self._memory.scope(user=query.scope).knowledge
        started = time.perf_counter()
        found = await knowledge.search(query.query, limit=_PASSAGES)
        self._seconds_asking.append(time.perf_counter() - started)
        self._asked(1)
        units = dict.fromkeys(self._unit_of[passage.citation.document] for passage in found)
        return Judged(category=query.category, ranking=tuple(units)[:LIMIT], gold=query.gold)


# --- Coverage of the answers by the first passages of the knowledge base --------------------------
# The set consists of whole documents. The answers are spans of characters, and the share of them
# that the passages cover is the score. The characters returned are reported too, since more text
# covers more.

_CUTS: Final = (5, 10)
Span = tuple[str, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSet:
    """Documents by id, and questions with the spans that answer them."""

    documents: Mapping[str, str] = field(hash=False)
    queries: tuple[tuple[str, tuple[Span, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkResult:
    """Coverage and returned characters, by the number of passages."""

    questions: int
    recall: Mapping[int, float] = field(hash=False)
    characters: Mapping[int, float] = field(hash=False)
    chunks_per_s: float
    search_p50_ms: float

    def as_json(self) -> dict[str, Any]:
        """Return the object of INTERFACES."""
        return {
            "n": self.questions,
            **{f"char_recall@{cut}": round(it, 4) for cut, it in self.recall.items()},
            **{f"chars@{cut}": round(it) for cut, it in self.characters.items()},
            "chunks_per_s": round(self.chunks_per_s, 1),
            "search_p50_ms": round(self.search_p50_ms, 2),
        }


def read_chunk_set(folder: Path, name: str = "chunking") -> ChunkSet:
    """Return the set in a folder."""
    corpus, queries = (folder / f"{name}.{part}.jsonl.gz" for part in ("corpus", "queries"))
    if not corpus.exists() or not queries.exists():
        raise NotFound(f"There is no set {name} in {folder}", code="unknown_set")
    return ChunkSet(
        documents={line["id"]: line["text"] for line in _lines(corpus)},
        queries=tuple(
            (line["query"], tuple((span[0], span[1], span[2]) for span in line["spans"]))
            for line in _lines(queries)
        ),
    )


async def measure_chunks(
    chunk_set: ChunkSet, settings: Settings, asked: Callable[[int], None]
) -> ChunkResult:
    """Add the documents to a new knowledge base and ask every question."""
    async with empty_memory(settings) as memory:
        started, chunks = time.perf_counter(), 0
        for name, text in chunk_set.documents.items():
            document = await memory.knowledge.add(text, f"{name}.txt", title=name)
            chunks += document.chunks
        rate = chunks / (time.perf_counter() - started)
        return await _ask(memory, chunk_set, rate, asked)


async def _ask(
    memory: Memory, chunk_set: ChunkSet, rate: float, asked: Callable[[int], None]
) -> ChunkResult:
    recall: dict[int, list[float]] = {cut: [] for cut in _CUTS}
    characters: dict[int, list[int]] = {cut: [] for cut in _CUTS}
    seconds: list[float] = []
    for query, gold in chunk_set.queries:
        started = time.perf_counter()
        found = await memory.knowledge.search(query, limit=max(_CUTS))
        seconds.append(time.perf_counter() - started)
        for cut in _CUTS:
            recall[cut].append(covered(gold, found[:cut]))
            characters[cut].append(sum(len(passage.content) for passage in found[:cut]))
        asked(1)
    return ChunkResult(
        questions=len(chunk_set.queries),
        recall={cut: statistics.fmean(values) for cut, values in recall.items()},
        characters={cut: statistics.fmean(values) for cut, values in characters.items()},
        chunks_per_s=rate,
        search_p50_ms=1_000 * statistics.median(seconds),
    )


def covered(gold: Sequence[Span], passages: Sequence[Passage]) -> float:
    """Return the share of the gold characters that the passages hold."""
    wanted = {(name, at) for name, start, end in gold for at in range(start, end)}
    held = {
        (passage.citation.title, at)
        for passage in passages
        for at in range(passage.citation.start, passage.citation.end)
    }
    return len(wanted & held) / max(len(wanted), 1)


def _lines(path: Path) -> Iterable[Mapping[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)
