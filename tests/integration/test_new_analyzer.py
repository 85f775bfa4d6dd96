"""A new analyzer: the old terms answer until all of a scope is ready, then the new ones at once."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Connection, update

from recollect import Memory
from recollect.backends.local.bm25 import Weights
from recollect.backends.local.keyword_index import FullTextSearch, load
from recollect.backends.local.postings import PackedSearch
from recollect.backends.sql import commit, schema
from recollect.backends.sql.database import Database
from recollect.backends.sql.scopes import read_scopes
from recollect.domain.archive import Archive
from recollect.domain.job import Job
from recollect.domain.scope import Scope
from recollect.domain.unit import OwnerUnits
from recollect.embedding import reindex
from recollect.embedding.index_rebuild import SqlIndexGenerations
from recollect.embedding.reindex import Reindexer
from recollect.jobs.queue import SqlJobs
from recollect.jobs.worker import Worker
from recollect.language.analysis import ANALYZER_VERSION, query_terms, term_key
from recollect.ports.units import Left
from tests.conftest import TurnedClock
from tests.database_servers import Running, ask, open_at
from tests.fakes import FakeEmbedder
from tests.services import services

NOTES = [f"lighthouse parcel {number} 第{number}号灯塔" for number in range(30)]
# What the older analyzer made of every text; no text says it.
BEFORE = "bygone"


class Interrupted(Exception):
    """As if the process ended here."""


class Halting(SqlIndexGenerations):
    """Ends the work after so many batches."""

    def __init__(self, database: Database, batches: int) -> None:
        super().__init__(database)
        self._batches = batches

    async def add(
        self, scope: Scope, analyzer: str, left: Left, units: Sequence[OwnerUnits]
    ) -> None:
        if not self._batches:
            raise Interrupted
        self._batches -= 1
        await super().add(scope, analyzer, left, units)


class Untidy(SqlIndexGenerations):
    """Ends the work when what was replaced is to be removed."""

    async def discard(self, analyzer: str, *, limit: int) -> int:
        if await self.stale(analyzer) is None:
            raise Interrupted
        return 0


@pytest.fixture(autouse=True)
def step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small batches, and nobody works in the background unless a test says so."""
    monkeypatch.setattr(reindex, "_BATCH_OWNERS", 4)
    monkeypatch.setattr(reindex, "_BATCH_DISCARDED", 7)
    monkeypatch.setattr(Worker, "start", lambda self: None)


def _query(database: Path, query: str) -> list[tuple[Any, ...]]:
    return ask(database, query)


def _grow_old(database: Path) -> None:
    """Let all that is stored be as another analyzer would have made it."""
    (term,) = query_terms(BEFORE)
    terms = term_key(term).to_bytes(8, "little")
    older = update(schema.units).values(analyzer="0", terms=terms)
    opened = open_at(database)
    opened.write_here(lambda connection: connection.execute(older))
    opened.close_here()
    _query(database, "UPDATE scopes SET unit_length = unit_count, version = version + 1")


async def _begin(database_path: Path, clock: TurnedClock, batches: int | None = 5) -> None:
    """Renew so many batches, or all without tidying up, and no more."""
    database = open_at(database_path)
    editions = Untidy(database) if batches is None else Halting(database, batches)

    async def no_archives(archive: Archive) -> OwnerUnits | None:
        raise AssertionError(archive)

    work = Reindexer(editions, no_archives, SqlJobs(database, clock))
    job = Job(
        id="job_1",
        kind=reindex.REINDEX,
        key="",
        payload={},
        attempts=1,
        lease_owner="me",
        lease_until=clock.now(),
        run_after=clock.now(),
    )
    with pytest.raises(Interrupted):
        await work.run(job)
    await database.close()


async def _said(memory: Memory, question: str) -> set[str]:
    found = await memory.recall(question, limit=50, min_score=0)
    return {hit.content for hit in found}


async def test_the_old_terms_answer_until_all_new_ones_are_ready(
    database_path: Path, clock: TurnedClock
):
    async with Memory.open(database_path, clock=clock) as memory:
        await memory.remember_many(NOTES)
        _grow_old(database_path)
        await _begin(database_path, clock)
        assert await _said(memory, BEFORE) == set(NOTES)
        assert await _said(memory, "lighthouse") == set()
        assert (await memory.reindexing()).stale == len(NOTES)
        await memory.drain()
        assert await _said(memory, BEFORE) == set()
        assert await _said(memory, "灯塔") == set(NOTES)
        assert (await memory.reindexing()).stale == 0
    assert _query(database_path, "SELECT count(*) FROM units") == [(len(NOTES),)]
    assert _query(database_path, "SELECT * FROM editions") == []


async def test_no_question_sees_a_scope_half_renewed(database_path: Path, clock: TurnedClock):
    async with Memory.open(database_path, clock=clock) as memory:
        await memory.remember_many(NOTES)
        _grow_old(database_path)
        working = asyncio.create_task(memory.drain())
        seen: list[tuple[int, int]] = []
        while not working.done():
            both = await memory.recall(f"{BEFORE} lighthouse", limit=50, min_score=0)
            seen.append((len(both), len(await _said(memory, "lighthouse"))))
        await working
    assert {found for found, _ in seen} == {len(NOTES)}
    assert {found for _, found in seen} <= {0, len(NOTES)}


async def test_work_that_was_interrupted_goes_on_where_it_was(
    database_path: Path, clock: TurnedClock
):
    async with Memory.open(database_path, clock=clock) as memory:
        await memory.remember_many(NOTES)
    _grow_old(database_path)
    await _begin(database_path, clock, batches=3)
    await _begin(database_path, clock, batches=2)
    ((first, done),) = _query(database_path, "SELECT first_unit, unit_count FROM editions")
    assert done == 5 * 4
    async with Memory.open(database_path, clock=clock) as memory:
        await memory.drain()
    assert _query(database_path, "SELECT first_unit FROM scopes") == [(first,)]


async def test_what_was_replaced_is_removed_by_whoever_opens_it_next(
    database_path: Path, clock: TurnedClock
):
    async with Memory.open(database_path, clock=clock) as memory:
        await memory.remember_many(NOTES)
        _grow_old(database_path)
        await _begin(database_path, clock, batches=None)
        assert await _said(memory, "lighthouse") == set(NOTES)
        assert (await memory.stats()).store.units == len(NOTES)
        assert _query(database_path, "SELECT count(*) FROM units") == [(2 * len(NOTES),)]
    async with Memory.open(database_path, clock=clock) as memory:
        await memory.drain()
    _check_counters(database_path)


async def test_what_is_written_meanwhile_is_found_at_once_and_afterwards(
    database_path: Path, clock: TurnedClock
):
    async with Memory.open(database_path, clock=clock) as memory:
        saved = await memory.remember_many(NOTES)
        _grow_old(database_path)
        await _begin(database_path, clock)
        await memory.remember("a lighthouse of today")
        # Of those that are ready, and of those that are not.
        for number in (1, 28):
            await memory.update(saved[number].id, f"lighthouse moved {number}")
        for number in (2, 29):
            await memory.delete(saved[number].id)
            await memory.purge(saved[number].id)
        new = {"a lighthouse of today", "lighthouse moved 1", "lighthouse moved 28"}
        old = {note for number, note in enumerate(NOTES) if number not in (1, 2, 28, 29)}
        assert await _said(memory, "lighthouse") == new
        assert await _said(memory, BEFORE) == old
        await memory.drain()
        assert await _said(memory, "lighthouse") == old | new
    _check_counters(database_path)


def _check_counters(database: Path) -> None:
    counted = _query(database, "SELECT count(*), sum(length(terms)) / 8 FROM units")
    assert _query(database, "SELECT unit_count, unit_length FROM scopes") == counted
    assert _query(database, "SELECT analyzer FROM units GROUP BY 1") == [(ANALYZER_VERSION,)]


async def test_what_is_forgotten_meanwhile_is_gone_on_both_sides(
    database_path: Path, clock: TurnedClock
):
    async with Memory.open(database_path, clock=clock) as memory:
        saved = await memory.remember_many(["zorblaxian lighthouse 齐天大圣", *NOTES])
        _grow_old(database_path)
        await _begin(database_path, clock)
        mine = f"SELECT count(*) FROM units WHERE owner_id = '{saved[0].id}'"
        assert _query(database_path, mine) == [(2,)]
        forgotten = await memory.forget(saved[0].id, verify=True)
        assert _query(database_path, mine) == [(0,)]
        assert forgotten.verification is not None
        assert forgotten.verification.traces == ()
        await memory.drain()
        assert await _said(memory, "lighthouse") == set(NOTES)
    _check_counters(database_path)


async def test_a_person_who_is_forgotten_meanwhile_leaves_nothing_beside(
    database_path: Path, clock: TurnedClock
):
    async with Memory.open(database_path, clock=clock) as memory:
        ann = memory.scope(user="ann")
        await ann.remember_many(NOTES)
        _grow_old(database_path)
        await _begin(database_path, clock)
        await ann.forget(user="ann")
        await memory.drain()
        for table in ("units", "editions", "records"):
            assert _query(database_path, f"SELECT count(*) FROM {table}") == [(0,)]
        again = memory.scope(user="ann")
        await again.remember("a new lighthouse")
        assert await _said(again, "lighthouse") == {"a new lighthouse"}


async def test_a_large_scope_has_its_full_text_ready_when_it_changes_over(
    database_path: Path, clock: TurnedClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(commit, "_LARGE_SCOPE_TERMS", 60)
    monkeypatch.setattr(commit, "_BEHIND", 7)
    async with Memory.open(database_path, clock=clock) as memory:
        await memory.remember_many(NOTES)
        # Tokens must be taken out as they were put in, so only the analyzer changes.
        _query(database_path, "UPDATE units SET analyzer = '0'")
        await memory.drain()
        scope = memory.caller_scope
    database = open_at(database_path)

    def compare(connection: Connection) -> None:
        (row,) = read_scopes(connection, [scope])
        assert row.full_text_to - row.first_unit >= len(NOTES) - 7
        for question in ("parcel 7", "灯塔"):
            keys = np.array([*map(term_key, query_terms(question))], np.uint64)
            packed = PackedSearch(load(connection, row).postings, keys)
            full_text = FullTextSearch(connection, row, keys)
            assert full_text.statistics == packed.statistics
            weights = Weights(packed.statistics)
            expected, found = (it.score(weights).top(100) for it in (packed, full_text))
            assert found.units.tolist() == expected.units.tolist() != []
            assert found.scores.tolist() == expected.scores.tolist()

    database.read_here(compare)
    database.close_here()
    if Running.server is None:
        left = "SELECT count(*) FROM unit_vocabulary WHERE length(term) = 24"
        assert _query(database_path, left) == [(0,)], "no token of what was replaced"


async def test_vectors_are_kept_and_the_model_is_not_asked_again(
    database_path: Path, clock: TurnedClock
):
    embedder = FakeEmbedder()
    async with Memory.open(database_path, clock=clock, embedder=embedder) as memory:
        await memory.remember_many(NOTES)
        _query(database_path, "UPDATE units SET analyzer = '0'")
        calls = embedder.calls
        await memory.drain()
        assert embedder.calls == calls
        found = await memory.recall("lighthouse parcel", limit=50, min_score=0)
        by_meaning = {it.path for hit in found for it in hit.explanation.paths}
        assert "vector" in by_meaning
    assert _query(database_path, "SELECT count(*) FROM vectors") == [(len(NOTES),)]


async def test_a_vector_that_comes_late_is_on_both_sides(
    database_path: Path, clock: TurnedClock, monkeypatch: pytest.MonkeyPatch
):
    async def not_now(job: Job) -> None: ...

    embedder = FakeEmbedder()
    embedder.is_broken = True
    async with Memory.open(database_path, clock=clock, embedder=embedder) as memory:
        await memory.remember_many(NOTES)
        _query(database_path, "UPDATE units SET analyzer = '0'")
        await _begin(database_path, clock)
        ((renewed,),) = _query(database_path, "SELECT unit_count FROM editions")
        assert 0 < renewed < len(NOTES)
        embedder.is_broken = False
        clock.turn(minutes=1)
        with monkeypatch.context() as meanwhile:
            handlers: Any = services(memory).worker._handlers
            meanwhile.setitem(handlers, reindex.REINDEX, not_now)
            await memory.drain()
        made = len(NOTES) + renewed
        assert _query(database_path, "SELECT count(*) FROM vectors") == [(made,)]
    calls = embedder.calls
    async with Memory.open(database_path, clock=clock, embedder=embedder) as memory:
        await memory.drain()
        assert (await memory.reindexing()).lacking == 0
    assert embedder.calls == calls
    assert _query(database_path, "SELECT count(*) FROM vectors") == [(len(NOTES),)]


async def test_how_far_it_is_is_told(database_path: Path, clock: TurnedClock):
    async with Memory.open(database_path, clock=clock) as memory:
        await memory.remember_many(NOTES)
        _query(database_path, "UPDATE units SET analyzer = '0'")
        told: list[tuple[int, int]] = []
        await memory.reindex(lambda *it: told.append(it))
        assert told[0] == (4, len(NOTES))
        assert told[-1] == (len(NOTES), len(NOTES))
