"""Recall sets on disk, and their replay through the public API."""

from __future__ import annotations

import asyncio
import gzip
import math
import re
import sqlite3
import time
import zlib
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from itertools import accumulate, groupby, takewhile
from pathlib import Path
from types import TracebackType
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from recollect.assemble.embedding import wanted_embedder
from recollect.domain.fields import Draft
from recollect.domain.files import cache_folder
from recollect.domain.hit import Recalled
from recollect.domain.turn import MessageFields
from recollect.errors import InvalidInput, NotFound
from recollect.evaluation.metrics import (
    Judged,
    RecallResult,
    percentile,
    quality,
    quality_by_category,
)
from recollect.evaluation.scratch import empty_memory
from recollect.memory import Memory
from recollect.ports.embedder import Embedder, EmbedderAround, Progress, Purpose
from recollect.settings import Settings

# --------------------------------------------------------------------------------------------------
# Recall sets on disk: `<set>.corpus.jsonl.gz` and `<set>.queries.jsonl.gz`, one item per line.

T = TypeVar("T")

_CORPUS: Final = ".corpus.jsonl.gz"
_QUERIES: Final = ".queries.jsonl.gz"
# Its answers are spans of characters, not units.
_NOT_RECALL: Final = frozenset({"chunking"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUnit:
    """A unit that can be found: a turn, a session or a passage."""

    scope: str
    id: str
    text: str
    time: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)

    @property
    def order(self) -> int:
        """Return its position in the history of its scope; only replayed sets have one."""
        return int(self.meta.get("order", 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class SetQuery:
    """A question, the units that answer it, and the position in history where it is asked."""

    id: str
    scope: str
    query: str
    gold: frozenset[str]
    category: str = ""
    time: str | None = None
    before: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallSet:
    """A recall set in the order of its files."""

    name: str
    units: tuple[SetUnit, ...]
    queries: tuple[SetQuery, ...]

    def first(self, queries: int) -> RecallSet:
        """Return a smaller set: the first questions, and only their scopes."""
        chosen = self.queries[:queries]
        asked = {query.scope for query in chosen}
        return RecallSet(
            name=self.name,
            units=tuple(unit for unit in self.units if unit.scope in asked),
            queries=chosen,
        )


def sets_in(folder: Path) -> tuple[str, ...]:
    """Return the names of the recall sets in a folder."""
    names = sorted(path.name.removesuffix(_CORPUS) for path in folder.glob(f"*{_CORPUS}"))
    return tuple(
        name
        for name in names
        if name not in _NOT_RECALL and (folder / f"{name}{_QUERIES}").is_file()
    )


def read_set(folder: Path, name: str) -> RecallSet:
    """Read one set; questions that nothing answers are left out, they measure nothing."""
    if name not in sets_in(folder):
        raise NotFound(
            f"There is no recall set {name!r} in {folder}",
            code="unknown_set",
            hint=f"Found there: {', '.join(sets_in(folder)) or 'none'}.",
        )
    queries = _lines(folder / f"{name}{_QUERIES}", TypeAdapter(SetQuery))
    return RecallSet(
        name=name,
        units=_lines(folder / f"{name}{_CORPUS}", TypeAdapter(SetUnit)),
        queries=tuple(query for query in queries if query.gold),
    )


def _lines(path: Path, shape: TypeAdapter[T]) -> tuple[T, ...]:
    items: list[T] = []
    try:
        with gzip.open(path, "rb") as lines:
            items.extend(shape.validate_json(line) for line in lines)
    except (ValidationError, OSError, EOFError, zlib.error) as problem:
        raise InvalidInput(
            f"{path.name} cannot be read after line {len(items)}: {problem}",
            code="bad_recall_set",
        ) from None
    return tuple(items)


# --- Parsing of the time notations of recall sets, as UTC -----------------------------------------


# A weekday adds nothing to the date, and is written in many ways.
_WEEKDAY: Final = re.compile(
    r"(?<!\s)\s*+(?:\([A-Za-z]+\)|周[一二三四五六日天]|星期[一二三四五六日天])"
)

_MONTH: Final = re.compile(r"\d{4}-\d{2}")
_NOTATIONS: Final = (
    "%I:%M %p on %d %B, %Y",
    "%B-%d-%Y",
    "%Y年%m月%d日 %H:%M",
    "%Y年%m月%d日",
    "%Y/%m/%d %H:%M",
    "%Y-%m",
)


def parse_time(text: str | None, *, at_end: bool = False) -> datetime | None:
    """Return the moment of a set's own notation, or None if there is none.

    A month means its beginning or, optionally, its end.
    """
    if text is None:
        return None
    plain = _WEEKDAY.sub("", text).strip()
    if at_end and _MONTH.fullmatch(plain):
        first = datetime.strptime(plain, "%Y-%m").replace(tzinfo=UTC)
        return (first + timedelta(days=31)).replace(day=1) - timedelta(seconds=1)
    try:
        moment = datetime.fromisoformat(plain)
    except ValueError:
        return _by_notation(plain)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _by_notation(plain: str) -> datetime | None:
    for notation in _NOTATIONS:
        try:
            return datetime.strptime(plain, notation).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


# --- Recall sets on disk, and their replay through the public API ---------------------------------

# --- Units of a recall set in the form that an agent sees: messages of a session, or records ------

# Sets whose units are messages of one user, although the lines do not say so.
_SETS_OF_USER_MESSAGES: Final = frozenset({"memdaily_noise"})
_ONLY_SESSION: Final = "messages"
_BATCH: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Units that are saved in one call: messages of one session, or records."""

    session: str | None
    units: tuple[SetUnit, ...]


def batches(set_name: str, units: Iterable[SetUnit]) -> Iterator[Batch]:
    """Yield the units in order, split where the session changes and at a maximum size."""
    for session, group in groupby(units, lambda unit: session_of(set_name, unit)):
        rest = tuple(group)
        for start in range(0, len(rest), _BATCH):
            yield Batch(session=session, units=rest[start : start + _BATCH])


def session_of(set_name: str, unit: SetUnit) -> str | None:
    """Return the session of a unit; None if it is not a turn."""
    if set_name in _SETS_OF_USER_MESSAGES:
        return _ONLY_SESSION
    if "speaker" in unit.meta or "role" in unit.meta:
        return str(unit.meta.get("session", unit.meta.get("batch", _ONLY_SESSION)))
    return None


def text_of(unit: SetUnit) -> str:
    """Return the text of a unit without the name or role before it."""
    said_by = unit.meta.get("speaker") or unit.meta.get("role")
    return unit.text.removeprefix(f"{said_by}:").strip() if said_by else unit.text


def message_of(unit: SetUnit) -> MessageFields:
    """Return a unit as a message: role, content, speaker and time."""
    message = MessageFields(role=str(unit.meta.get("role", "user")), content=text_of(unit))
    if "speaker" in unit.meta:
        message["name"] = str(unit.meta["speaker"])
    at = parse_time(unit.time)
    if at is not None:
        message["at"] = at
    return message


def record_of(unit: SetUnit) -> Draft:
    """Return a unit as a record: its text, and its time if known."""
    draft = Draft(content=text_of(unit))
    at = parse_time(unit.time)
    if at is not None:
        draft["created_at"] = at
    return draft


# --- Replay of a recall set through the public API: save everything in order, then ask ------------

Advance = Callable[[int], None]

LIMIT: Final = 10
# How many units and characters are saved without the cache, to measure the real speed.
_SAMPLE_UNITS: Final = 500
_SAMPLE_CHARACTERS: Final = 100_000
_WARM_UP: Final = 10


async def measure(
    recall_set: RecallSet,
    settings: Settings,
    *,
    told: Advance,
    asked: Advance,
    replay: type[Replay] | None = None,
) -> RecallResult:
    """Run one set in a memory of its own, thrown away afterwards; `told`, `asked` hear of steps."""
    play = replay or Replay
    embedder = await asyncio.to_thread(wanted_embedder, settings)
    if embedder is None:
        async with thrown_away(settings, None) as memory:
            return await play(recall_set, memory, told, asked).run()
    # One-time work, like loading the model and patterns, is not measured.
    await told_per_second(first_told(recall_set, most=_WARM_UP), settings, embedder, play)
    ingest_per_s = await told_per_second(first_told(recall_set), settings, embedder, play)
    with DiskCachedEmbedder(embedder) as cached:
        async with thrown_away(settings, cached) as memory:
            result = await play(recall_set, memory, told, asked).run()
    await embedder.close()
    return replace(result, ingest_per_s=ingest_per_s)


async def told_per_second(
    recall_set: RecallSet,
    settings: Settings,
    embedder: Embedder,
    play: type[Replay] | None = None,
) -> float:
    """Return the saved units per second, including their embedding."""
    async with thrown_away(settings, embedder) as memory:
        replay = (play or Replay)(recall_set, memory, lambda _: None, lambda _: None)
        return (await replay.run()).ingest_per_s


def first_told(recall_set: RecallSet, most: int = _SAMPLE_UNITS) -> RecallSet:
    """Return the first units of a set, enough for some seconds of saving, without questions."""
    lengths = accumulate(len(unit.text) for unit in recall_set.units)
    within = len(tuple(takewhile(lambda read: read <= _SAMPLE_CHARACTERS, lengths)))
    units = recall_set.units[: min(most, max(_WARM_UP, within))]
    return replace(recall_set, units=units, queries=())


@asynccontextmanager
async def thrown_away(settings: Settings, embedder: Embedder | None) -> AsyncGenerator[Memory]:
    """Open a memory for one set, which is deleted afterwards."""
    # Return everything that is found, also far below the best, and without the cache.
    recall = replace(settings.recall, gap=0.0, cache_seconds=0)
    # Search only what the set holds, and extract nothing from it.
    writing = settings.writing.model_copy(update={"policy": "off"})
    own = settings.model_copy(update={"recall": recall, "writing": writing})
    async with empty_memory(own, embedder=embedder) as memory:
        yield memory


class Replay:
    """The replay of one set through a memory, with the results and times."""

    def __init__(
        self, recall_set: RecallSet, memory: Memory, told: Advance, asked: Advance
    ) -> None:
        self._set = recall_set
        self._memory = memory
        self._told = told
        self._asked = asked
        self._waiting: defaultdict[str, list[SetUnit]] = defaultdict(list)
        for unit in recall_set.units:
            self._waiting[unit.scope].append(unit)
        self._unit_of: dict[str, str] = {}
        self._latest: dict[str, datetime] = {}
        self._skipped = 0
        self._embedder = "none"
        self._seconds_telling = 0.0
        self._seconds_asking: list[float] = []

    async def run(self) -> RecallResult:
        """Save and ask everything."""
        self._embedder = (await self._memory.stats()).embedder
        # A memory that was just opened looks for pending jobs, which is not measured.
        await self._memory.drain()
        replayed = {query.scope for query in self._set.queries if query.before is not None}
        for scope in [scope for scope in self._waiting if scope not in replayed]:
            await self._tell(scope)
        answers: list[Judged] = []
        for query in sorted(self._set.queries, key=_moment):
            if query.scope in replayed:
                await self._tell(query.scope, before=_moment(query))
            answers.append(await self._ask(query))
        return self._result(answers)

    async def _tell(self, scope: str, before: float = math.inf) -> None:
        """Save the units of a scope before this position in its history."""
        memory = self._memory.scope(user=scope)
        for batch in batches(self._set.name, self._due(scope, before)):
            await self._tell_batch(memory, batch)
            self._told(len(batch.units))
        # Saving is complete when all vectors exist.
        started = time.perf_counter()
        await memory.drain()
        self._seconds_telling += time.perf_counter() - started

    def _due(self, scope: str, before: float) -> list[SetUnit]:
        """Take the scope's units before this place that hold any text."""
        due = [unit for unit in self._waiting[scope] if unit.order < before]
        self._waiting[scope] = [unit for unit in self._waiting[scope] if unit.order >= before]
        with_text = [unit for unit in due if text_of(unit).strip()]
        self._skipped += len(due) - len(with_text)
        self._told(len(due) - len(with_text))
        return with_text

    async def _tell_batch(self, memory: Memory, batch: Batch) -> None:
        if batch.session is None:
            drafts = [record_of(unit) for unit in batch.units]
            started = time.perf_counter()
            kept = await memory.remember_many(drafts)
        else:
            messages = [message_of(unit) for unit in batch.units]
            started = time.perf_counter()
            kept = await memory.observe(messages, session=batch.session)
        self._seconds_telling += time.perf_counter() - started
        for item, unit in zip(kept, batch.units, strict=True):
            self._unit_of[item.id] = unit.id
            at = parse_time(unit.time)
            if at is not None:
                self._latest[unit.scope] = max(at, self._latest.get(unit.scope, at))

    async def _ask(self, query: SetQuery) -> Judged:
        memory = self._memory.scope(user=query.scope)
        started = time.perf_counter()
        recalled = await memory.recall(
            query.query, limit=LIMIT, min_score=0, asked_at=self._asked_at(query)
        )
        self._seconds_asking.append(time.perf_counter() - started)
        self._asked(1)
        return self._judged(query, recalled)

    def _judged(self, query: SetQuery, recalled: Recalled) -> Judged:
        return Judged(category=query.category, ranking=self._ranking(recalled), gold=query.gold)

    def _asked_at(self, query: SetQuery) -> datetime | None:
        """Return when a question is asked: the time in the set, or else after everything saved."""
        return parse_time(query.time, at_end=True) or self._latest.get(query.scope)

    def _ranking(self, recalled: Recalled) -> tuple[str, ...]:
        """Return the units of the hits, each at its first position."""
        return tuple(dict.fromkeys(self._unit_of[hit.id] for hit in recalled))

    def _result(self, answers: list[Judged]) -> RecallResult:
        milliseconds = [1000 * seconds for seconds in self._seconds_asking]
        return RecallResult(
            set_name=self._set.name,
            questions=len(answers),
            quality=quality(answers),
            by_category=quality_by_category(answers),
            ingest_per_s=len(self._unit_of) / self._seconds_telling if self._unit_of else 0.0,
            recall_p50_ms=percentile(milliseconds, 0.50),
            recall_p95_ms=percentile(milliseconds, 0.95),
            embedder=self._embedder,
            skipped_units=self._skipped,
        )


def _moment(query: SetQuery) -> float:
    """Return the position in history where a question is asked, by default the end."""
    return math.inf if query.before is None else query.before


# --- A cache of vectors on disk, so that benchmarks embed the same texts only once ----------------


class DiskCachedEmbedder(EmbedderAround):
    """An embedder with a cache file, by model, purpose and text."""

    def __init__(self, embedder: Embedder, path: Path | None = None) -> None:
        super().__init__(embedder)
        path = path or cache_folder() / "bench" / "vectors.db"
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = sqlite3.connect(path, isolation_level=None)
        self._file.execute("PRAGMA journal_mode=WAL")
        self._file.execute("PRAGMA synchronous=OFF")
        self._file.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB)")

    def __enter__(self) -> DiskCachedEmbedder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    async def embed(
        self, texts: Sequence[str], purpose: Purpose, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        keys = [self._key(text, purpose) for text in texts]
        known = {key: vector for key in keys if (vector := self._find(key)) is not None}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            made = await self._embedder.embed(list(missing.values()), purpose, progress)
            fresh = dict(zip(missing, (row.tobytes() for row in made), strict=True))
            self._file.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", fresh.items())
            known |= fresh
        joined = b"".join(known[key] for key in keys)
        return np.frombuffer(joined, np.float32).reshape(len(texts), self.dimension)

    async def close(self) -> None:
        """Do nothing: the embedder is closed by its owner, since several memories may share it."""

    def _find(self, key: bytes) -> bytes | None:
        row = self._file.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
        return None if row is None else row[0]

    def _key(self, text: str, purpose: Purpose) -> bytes:
        named = f"{self.model}\0{purpose}\0{text}".encode()
        return blake2b(named, digest_size=16).digest()
