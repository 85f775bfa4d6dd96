"""Vectors of turns: made many together after the turns are durable, and never lost."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from recollect import Memory
from recollect.domain.change import ChangeSet
from recollect.domain.embedding import EmbeddingModel, UnitVector
from recollect.ports.embedder import Progress, Purpose
from recollect.settings import Settings
from tests.database_servers import ask
from tests.fakes import FakeEmbedder
from tests.services import services, store_of


class HeldEmbedder(FakeEmbedder):
    """Makes vectors of passages only while it is let; questions are answered at once."""

    def __init__(self) -> None:
        super().__init__()
        self.is_let = asyncio.Event()
        self.batches: list[int] = []

    async def embed(
        self, texts: Sequence[str], purpose: Purpose, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        if purpose == "passage":
            self.batches.append(len(texts))
            await self.is_let.wait()
        return await super().embed(texts, purpose, progress)


@pytest.fixture
async def embedder() -> HeldEmbedder:
    return HeldEmbedder()


@pytest.fixture
async def memory(database_path: Path, embedder: HeldEmbedder) -> AsyncIterator[Memory]:
    async with Memory.open(database_path, embedder=embedder) as opened:
        yield opened
        embedder.is_let.set()


def _vectors(database: Path) -> int:
    return _count(database, "vectors")


def _count(database: Path, table: str) -> int:
    return ask(database, f"SELECT count(*) FROM {table}")[0][0]


def _said(*texts: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text} for text in texts]


async def _until(holds: Callable[[], bool]) -> None:
    for _ in range(1_000):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came to pass")


async def test_a_turn_is_kept_before_its_vector_is_made(
    memory: Memory, embedder: HeldEmbedder, database_path: Path
):
    (turn,) = await memory.observe(_said("the harbour master keeps the keys"), session="s")
    assert (await memory.turn(turn.id)).content == "the harbour master keeps the keys"
    assert _vectors(database_path) == 0
    embedder.is_let.set()
    await memory.drain()
    assert _vectors(database_path) == 1


async def test_a_recall_waits_for_the_vectors_of_what_was_said_before(
    memory: Memory, embedder: HeldEmbedder
):
    (turn,) = await memory.observe(_said("港口的钥匙在船长那里"), session="s")
    asking = asyncio.create_task(memory.recall("港口的钥匙在船长那里"))
    done, _ = await asyncio.wait([asking], timeout=0.2)
    assert not done
    embedder.is_let.set()
    recalled = await asking
    assert recalled[0].id == turn.id
    assert "vector" in {it.path for it in recalled[0].explanation.paths}
    assert recalled.degraded == ()


async def test_but_not_for_long_and_finds_all_else_by_meaning(
    database_path: Path, embedder: HeldEmbedder
):
    settings = Settings.load({"storage": {"path": database_path}, "recall": {"patience": 20}})
    async with Memory.open(settings, embedder=embedder) as memory:
        embedder.is_let.set()
        record = await memory.remember("the harbour master keeps the keys")
        await memory.drain()
        embedder.is_let.clear()
        try:
            await memory.observe(_said("a whole book, read aloud"), session="s")

            recalled = await memory.recall("the harbour master keeps the keys")

            assert recalled[0].id == record.id
            assert "vector" in {it.path for it in recalled[0].explanation.paths}
            assert recalled.degraded == (), "it gets its vector by itself"
        finally:
            # Closing waits for the vectors, also of a test that failed.
            embedder.is_let.set()


async def test_a_prompt_right_after_a_burst_is_right_without_draining(
    database_path: Path, embedder: HeldEmbedder
):
    settings = Settings.load({"storage": {"path": database_path}, "recall": {"patience": 20}})
    async with Memory.open(settings, embedder=embedder) as memory:
        try:
            await memory.observe(
                _said(*(f"Pier {n} is painted in week {n}." for n in range(200))), session="piers"
            )
            session = memory.session("s")
            await session.observe(_said("When is pier 17 painted?"))

            (system, _) = await session.prepare("When is pier 17 painted?")
            assert "Pier 17 is painted in week 17." in system["content"], "words find it at once"
            assert session.usage.degraded == (), "they get their vectors by themselves"

            embedder.is_let.set()
            (system, _) = await session.prepare("When is pier 17 painted?")
            assert "Pier 17 is painted in week 17." in system["content"]
            assert session.usage.degraded == (), "the same question waits for what is there by now"
        finally:
            # Closing waits for the vectors, also of a test that failed.
            embedder.is_let.set()


async def test_who_asks_elsewhere_does_not_wait(memory: Memory, embedder: HeldEmbedder):
    await memory.scope(user="ann").observe(_said("the harbour master keeps the keys"), session="s")
    asked = memory.scope(user="bo").recall("harbour keys")
    assert len(await asyncio.wait_for(asked, timeout=2)) == 0


async def test_what_waits_is_embedded_together(memory: Memory, embedder: HeldEmbedder):
    for number in range(100):
        await memory.observe(_said(f"{number}? 第几？"), session="s")
    embedder.is_let.set()
    await memory.drain()
    assert embedder.batches == [1, 64, 35]


async def test_so_many_as_wait_are_begun_before_the_others_are_done(
    memory: Memory, embedder: HeldEmbedder
):
    await memory.observe(_said("the harbour master keeps the keys"), session="s")
    await memory.observe(_said(*(f"note {number}" for number in range(63))), session="s")
    await asyncio.sleep(0.05)
    assert embedder.batches == [1]
    await memory.observe(_said("港口的钥匙在船长那里"), session="s")
    await _until(lambda: embedder.batches == [1, 64])
    await memory.observe(_said(*(f"more {number}" for number in range(64))), session="s")
    await asyncio.sleep(0.05)
    assert embedder.batches == [1, 64], "two at once keep every core busy"


async def test_vectors_are_stored_while_the_next_texts_are_embedded(
    memory: Memory, embedder: HeldEmbedder, database_path: Path
):
    await memory.observe(_said("the harbour master keeps the keys"), session="s")
    await _until(lambda: len(embedder.batches) == 1)
    await memory.observe(_said("港口的钥匙在船长那里"), session="s")
    # One batch goes; whoever comes after it is held again.
    embedder.is_let.set()
    embedder.is_let.clear()
    await _until(lambda: len(embedder.batches) == 2)
    await _until(lambda: _vectors(database_path) == 1)
    assert not embedder.is_let.is_set()


async def test_whoever_says_too_much_waits_until_some_of_it_has_vectors(
    memory: Memory, embedder: HeldEmbedder, database_path: Path
):
    talking = asyncio.create_task(
        memory.observe(_said(*(f"note {number}" for number in range(900))), session="s")
    )
    # It is durable all the same.
    await _until(lambda: _count(database_path, "turns") == 900)
    done, _ = await asyncio.wait([talking], timeout=0.2)
    assert not done
    embedder.is_let.set()
    assert len(await talking) == 900


async def test_closing_waits_for_the_vectors(database_path: Path, embedder: HeldEmbedder):
    async with Memory.open(database_path, embedder=embedder) as memory:
        await memory.observe(_said("the harbour master keeps the keys"), session="s")
        embedder.is_let.set()
    assert _vectors(database_path) == 1


@pytest.mark.sqlite(reason="it copies the files of an open memory")
async def test_what_a_process_left_without_vectors_the_next_one_fills_in(
    memory: Memory, embedder: HeldEmbedder, database_path: Path, tmp_path: Path
):
    await memory.observe(_said("the harbour master keeps the keys", "钥匙在船长那里"), session="s")
    # As the files are when the process is killed at this moment.
    left = tmp_path / "left"
    left.mkdir()
    for file in database_path.parent.glob(f"{database_path.name}*"):
        shutil.copy(file, left)
    assert _vectors(left / database_path.name) == 0
    async with Memory.open(left / database_path.name, embedder=FakeEmbedder()) as again:
        await again.drain()
        assert _vectors(left / database_path.name) == 2


async def test_a_model_that_fails_leaves_the_vectors_to_a_job(
    memory: Memory, embedder: HeldEmbedder, database_path: Path
):
    embedder.is_let.set()
    embedder.is_broken = True
    await memory.observe(_said("the harbour master keeps the keys"), session="s")
    await memory.recall("harbour keys")
    assert (await memory.stats()).jobs.waiting >= 1
    embedder.is_broken = False
    await memory.drain()
    assert _vectors(database_path) == 1


async def test_an_embedder_that_raises_anything_stops_nothing(
    memory: Memory, embedder: HeldEmbedder, monkeypatch: pytest.MonkeyPatch
):
    async def failing(*_: object) -> NDArray[np.float32]:
        raise ValueError("no number")

    with monkeypatch.context() as broken:
        broken.setattr(embedder, "embed", failing)
        await memory.observe(_said("the harbour master keeps the keys"), session="s")
        await services(memory).late_vectors.settled()
    embedder.is_let.set()
    await memory.observe(_said("the pilot has another one"), session="s")
    assert len(await memory.recall("pilot")) == 1


async def test_a_vector_of_another_owner_is_not_taken_for_a_units_own(
    memory: Memory, embedder: HeldEmbedder, database_path: Path
):
    embedder.is_let.set()
    (turn,) = await memory.observe(_said("the harbour master keeps the keys"), session="s")
    await memory.drain()
    ((unit,),) = ask(database_path, "SELECT id FROM units")
    before = ask(database_path, "SELECT vector FROM vectors")
    model = EmbeddingModel(name=embedder.model, dimension=embedder.dimension)
    late = UnitVector(scope=turn.scope, unit=unit, owner="turn_before", vector=bytes(128))
    changes = ChangeSet(principal="test", scope=turn.scope, vectors=(late,), model=model)
    await store_of(memory).commit(changes)
    assert ask(database_path, "SELECT vector FROM vectors") == before
