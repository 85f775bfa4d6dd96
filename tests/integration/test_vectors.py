"""Vectors: made on saving, filled in later when that failed, never mixed between models."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect import Memory
from recollect.settings import Settings
from tests.conftest import TurnedClock
from tests.fakes import FakeEmbedder

_LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture
async def memory(
    database_path: Path, clock: TurnedClock, embedder: FakeEmbedder
) -> AsyncIterator[Memory]:
    async with Memory.open(database_path, clock=clock, embedder=embedder) as opened:
        yield opened


def _paths(hit) -> set[str]:
    return {it.path for it in hit.explanation.paths}


async def test_a_saved_record_is_found_by_meaning_at_once(memory: Memory):
    saved = await memory.remember("the harbour master keeps the keys")
    (hit,) = await memory.recall("harbour keys master")
    assert hit.id == saved.id
    assert {"keyword", "vector"} <= _paths(hit)
    assert (await memory.recall("harbour keys master")).degraded == ()
    assert (await memory.stats()).vector_index.units == 1


async def test_without_a_model_recall_goes_on_and_says_so(database_path: Path):
    settings = Settings.load({"storage": {"path": database_path}, "embedding": {"model": "none"}})
    async with Memory.open(settings) as memory:
        await memory.remember("the harbour master keeps the keys")
        recalled = await memory.recall("harbour keys")
        assert len(recalled) == 1
        assert any("no embedding model" in note for note in recalled.degraded)


async def test_a_model_that_fails_stops_neither_saving_nor_recalling(
    memory: Memory, embedder: FakeEmbedder, clock: TurnedClock
):
    embedder.is_broken = True
    saved = await memory.remember("the harbour master keeps the keys")
    calls = embedder.calls
    recalled = await memory.recall("harbour keys")
    assert recalled[0].id == saved.id
    assert any("told to fail" in note for note in recalled.degraded)
    assert embedder.calls == calls, "a model that just failed is left alone for a while"

    embedder.is_broken = False
    clock.turn(minutes=1)
    await memory.drain()
    recalled = await memory.recall("harbour keys")
    assert recalled.degraded == ()
    assert "vector" in _paths(recalled[0])


async def test_what_another_model_embedded_is_not_compared_and_the_cure_is_named(
    database_path: Path, clock: TurnedClock
):
    async with Memory.open(database_path, clock=clock, embedder=FakeEmbedder()) as memory:
        await memory.remember("the harbour master keeps the keys")
    newer = FakeEmbedder("fake-2", dimension=32)
    async with Memory.open(database_path, clock=clock, embedder=newer) as memory:
        recalled = await memory.recall("harbour keys")
        assert _paths(recalled[0]) - {"recent"} == {"keyword"}
        assert any("recollect reindex" in note for note in recalled.degraded)

        seen: list[tuple[int, int]] = []
        assert await memory.reindex(lambda done, total: seen.append((done, total))) == 1
        assert seen == [(1, 1)]
        recalled = await memory.recall("harbour keys")
        assert recalled.degraded == ()
        assert "vector" in _paths(recalled[0])


async def test_a_text_the_model_cannot_read_gets_no_vector_and_is_found_by_its_words(
    memory: Memory, embedder: FakeEmbedder
):
    embedder.reads_only_ascii = True
    saved = await memory.remember("港口管理员保管钥匙")
    recalled = await memory.recall("钥匙在谁手里")
    assert recalled[0].id == saved.id
    assert _paths(recalled[0]) - {"recent"} == {"keyword"}


async def test_changing_hiding_and_removing_a_record_is_followed(memory: Memory):
    record = await memory.remember("blue boats in the bay")
    other = await memory.remember("green tea and honey")
    await memory.update(record.id, "red kites over the hill")
    assert (await memory.recall("red kites hill"))[0].id == record.id
    near_old = await memory.recall("blue boats bay")
    assert record.id not in [hit.id for hit in near_old]
    await memory.delete(record.id)
    assert len(await memory.recall("red kites hill")) == 0
    await memory.undo(record.id)
    assert (await memory.recall("red kites hill"))[0].id == record.id
    await memory.delete(other.id)
    await memory.purge(other.id)
    assert (await memory.stats()).store.units == 1


async def test_packed_vectors_follow_what_is_filled_in_later_and_what_is_removed(
    memory: Memory, embedder: FakeEmbedder, clock: TurnedClock
):
    first = await memory.remember("blue boats in the bay")
    await memory.recall("blue boats")
    embedder.is_broken = True
    late = await memory.remember("red kites over the hill")
    embedder.is_broken = False
    clock.turn(minutes=1)
    await memory.recall("asked before the vector is there, so that it comes late")
    await memory.drain()

    recalled = await memory.recall("red kites over the hill")
    assert recalled.degraded == ()
    assert recalled[0].id == late.id
    assert "vector" in _paths(recalled[0])

    await memory.delete(first.id)
    assert (await memory.recall("red kites over the hill")).degraded == ()
    assert (await memory.stats()).vector_index.units == 1


async def test_another_process_sees_new_vectors(database_path: Path):
    async with (
        Memory.open(database_path, embedder=FakeEmbedder()) as here,
        Memory.open(database_path, embedder=FakeEmbedder()) as there,
    ):
        for number in range(5):
            saved = await there.remember(f"crate {number} of dried figs")
            hit = (await here.recall(f"crate {number} of dried figs"))[0]
            assert hit.id == saved.id
            assert "vector" in _paths(hit)


async def test_the_recent_path_counts_only_when_it_is_given_weight(database_path: Path):
    weighted = Settings.load(
        {"storage": {"path": database_path}, "recall": {"recent_weight": 0.05}}
    )
    async with Memory.open(weighted) as memory:
        await memory.remember("the ferry leaves at nine", created_at=_LONG_AGO)
        fresh = await memory.remember("the ferry leaves at ten")
        hits = await memory.recall("when does the ferry leave")
        assert hits[0].id == fresh.id
        assert ["recent" in _paths(hit) for hit in hits] == [True, False]
        assert len(await memory.recall("quantum chromodynamics")) == 0
    async with Memory.open(database_path) as memory:
        for hit in await memory.recall("when does the ferry leave"):
            assert "recent" not in _paths(hit)


async def test_a_long_record_answers_with_its_best_passage(memory: Memory):
    filler = "Nothing of note happened on this quiet day by the river.\n\n" * 60
    secret = "The treasure lies under the third oak behind the chapel.\n\n"
    saved = await memory.remember(filler + secret + filler)
    (hit, *_) = await memory.recall("treasure under the third oak")
    assert hit.id == saved.id
    assert secret.strip() in hit.passage
    assert len(hit.passage) < len(hit.content) / 3
