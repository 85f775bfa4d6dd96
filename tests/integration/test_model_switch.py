"""Changing the model: the old vectors answer until the new ones take over, scope by scope."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from recollect import Memory
from recollect.backends.local.unit_metadata import Catalogue
from recollect.backends.local.vector_index import LocalVectorIndex
from recollect.backends.sql.store import SqlStore
from recollect.domain.change import ChangeSet
from recollect.domain.embedding import EmbedderChoice, EmbeddingModel, UnitVector
from recollect.domain.hit import Recalled
from recollect.domain.scope import Scope
from recollect.embedding import model_switch
from recollect.embedding.scope_models import SqlScopeModels
from recollect.errors import NotAvailable, RecollectError
from recollect.models import catalogue
from recollect.ports.runtime import SystemClock
from recollect.settings import Settings
from tests.conftest import TurnedClock
from tests.database_servers import ask, open_at
from tests.fakes import FakeEmbedder
from tests.integration.archive_texts import manual
from tests.services import services, store_of

OLD, NEW = "fake:old", "fake:new"
_DIMENSIONS = {OLD: 64, NEW: 32}
# What is alike enough for a fake to find it: its vectors are sums of those of the words.
NOTES = [
    "harbour keys are with the master",
    "harbour keys 钥匙 在 管理员 那里",
    "harbour keys of the blue boats",
    "harbour keys 蓝色 的 船 的 钥匙",
]


class Shop:
    """Opens named fakes as the catalogue opens real models, and can be told that one is gone."""

    def __init__(self) -> None:
        self.missing: set[str] = set()
        self.opened: list[str] = []
        self.embedders: dict[str, FakeEmbedder] = {}

    def open(self, choice: EmbedderChoice) -> FakeEmbedder | None:
        name = choice.model
        if name == "none":
            return None
        self.opened.append(name)
        if name in self.missing or name not in _DIMENSIONS:
            raise NotAvailable(f"{name} is not for sale", code="embedder_unusable")
        return self.embedders.setdefault(name, FakeEmbedder(name, _DIMENSIONS[name]))


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> Shop:
    shop = Shop()
    monkeypatch.setattr(catalogue, "open_embedder", shop.open)
    return shop


@pytest.fixture
def opened(shop: Shop, database_path: Path, clock: TurnedClock) -> Callable[[str], Memory]:
    def open_with(model: str):
        settings = Settings.load(
            {
                "storage": {"path": database_path},
                "embedding": {"model": model},
                "recall": {"cache_seconds": 0},
            }
        )
        return Memory.open(settings, clock=clock)

    return open_with


def by_meaning(recalled: Recalled) -> set[str]:
    """What was found by its vector."""
    return {hit.id for hit in recalled if "vector" in {it.path for it in hit.explanation.paths}}


async def found(memory: Memory, question: str = "harbour keys") -> set[str]:
    recalled = await memory.recall(question, limit=50, min_score=0)
    assert recalled.degraded == ()
    return by_meaning(recalled)


def table(database: Path, query: str) -> list[tuple[object, ...]]:
    return ask(database, query)


def models_in(database: Path) -> set[object]:
    """The models whose vectors are stored."""
    query = "SELECT DISTINCT name FROM vectors JOIN embedding_models ON id = model_id"
    return {name for (name,) in table(database, query)}


async def test_the_old_model_answers_until_it_is_changed(opened, database_path: Path):
    async with opened(OLD) as memory:
        saved = {it.id for it in await memory.remember_many(NOTES)}
    async with opened(NEW) as memory:
        assert await found(memory) == saved
        assert models_in(database_path) == {OLD}
        assert await memory.reindex() == len(NOTES)
        assert await found(memory) == saved
        assert models_in(database_path) == {NEW}
        assert await memory.reindex() == 0


async def test_what_is_saved_under_an_old_model_gets_that_models_vectors(
    opened, database_path: Path
):
    async with opened(OLD) as memory:
        saved = {it.id for it in await memory.remember_many(NOTES)}
    async with opened(NEW) as memory:
        # Nobody has asked yet, so its own model is tried, and the job mends it.
        late = await memory.remember("harbour keys hang behind the door 门后面")
        await memory.drain()
        assert await found(memory) == saved | {late.id}
        # From now on it is known who answers here.
        last = await memory.remember("harbour keys once more 再说 一次")
        assert await found(memory) == saved | {late.id, last.id}
        assert models_in(database_path) == {OLD}


async def test_a_memory_with_old_settings_goes_on_after_the_change(opened, shop: Shop):
    async with opened(OLD) as before, opened(NEW) as after:
        saved = {it.id for it in await before.remember_many(NOTES)}
        assert await found(before) == saved
        await after.reindex()
        assert await found(before) == await found(after) == saved
        late = await before.remember("harbour keys in another bunch 另一串")
        assert await found(before) == await found(after) == saved | {late.id}
    assert shop.opened.count(NEW) == 2, "it is opened once by each, when it is first met"


async def test_a_question_sees_all_old_or_all_new_vectors_of_a_scope(
    opened, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(model_switch, "_BATCH_UNITS", 4)
    async with opened(OLD) as before, opened(NEW) as after:
        notes = [f"{NOTES[number % 4]} {number}" for number in range(40)]
        people = [before.scope(user=name) for name in ("ann", "bo")]
        for person in people:
            await person.remember_many(notes)
        old = [await cosines(person) for person in people]
        done: list[int] = []
        working = asyncio.create_task(after.reindex(lambda seen, _: done.append(seen)))
        seen: list[list[dict[str, float]]] = []
        while not working.done():
            seen.append([await cosines(person) for person in people])
        new = [await cosines(person) for person in people]
        assert await working == done[-1] == 2 * len(notes)
        assert all(len(it) > 20 for it in (*old, *new))
        assert len(seen) > 2
        for answers in seen:
            for answer, before_it, after_it in zip(answers, old, new, strict=True):
                assert answer in (before_it, after_it)


async def cosines(memory: Memory) -> dict[str, float]:
    """How near each was that was found by its vector."""
    recalled = await memory.recall("harbour keys", limit=50, min_score=0)
    assert recalled.degraded == ()
    paths = ((hit.id, it) for hit in recalled for it in hit.explanation.paths)
    return {ident: it.raw for ident, it in paths if it.path == "vector"}


async def test_what_is_written_during_the_change_is_not_left_behind(
    database_path: Path, clock: TurnedClock
):
    newer = FakeEmbedder("newer", dimension=16)
    async with (
        Memory.open(database_path, clock=clock, embedder=FakeEmbedder("older")) as before,
        Memory.open(database_path, clock=clock, embedder=newer) as after,
    ):
        await before.remember_many(NOTES)
        late: list[str] = []
        embed = newer.embed

        async def interrupted(*given, **named):
            if len(late) < 3:
                saved = await before.remember(f"harbour keys meanwhile {len(late)} 期间")
                late.append(saved.id)
            return await embed(*given, **named)

        newer.embed = interrupted
        await after.reindex()
        assert set(late) < await found(after)
        assert table(database_path, "SELECT count(*) FROM vectors") == [(len(NOTES) + 3,)]


async def test_texts_that_the_new_model_cannot_read_stay_without(
    opened, shop: Shop, database_path: Path
):
    async with opened(OLD) as memory:
        english, chinese, *_ = await memory.remember_many(NOTES[:2])
    async with opened(NEW) as memory:
        shop.embedders[NEW].reads_only_ascii = True
        assert await memory.reindex() == 2
        recalled = await memory.recall("harbour keys", limit=50, min_score=0)
        assert by_meaning(recalled) == {english.id}
        assert (await memory.recall("钥匙 管理员"))[0].id == chinese.id
        assert models_in(database_path) == {NEW}


async def test_archives_change_with_the_rest(opened, database_path: Path):
    async with opened(OLD) as memory:
        session = memory.session("s")
        await session.archive.process_tool_result("search", {"q": "x"}, manual("en"), "s")
        await session.archive.process_tool_result("search", {"q": "y"}, manual("zh"), "s")
        await memory.drain()
    count = "SELECT count(*) FROM vectors JOIN units ON id = unit_id WHERE owner_kind = 'archive'"
    ((before,),) = table(database_path, count)
    async with opened(NEW) as memory:
        assert await memory.reindex() == before > 4
    assert table(database_path, count) == [(before,)]
    assert models_in(database_path) == {NEW}


async def test_a_model_that_cannot_be_opened_any_more_is_told_with_the_cure(
    opened, shop: Shop, clock: TurnedClock
):
    async with opened(OLD) as memory:
        saved = {it.id for it in await memory.remember_many(NOTES)}
    shop.missing.add(OLD)
    async with opened(NEW) as memory:
        for _ in range(3):
            recalled = await memory.recall("harbour keys")
            assert by_meaning(recalled) == set()
            (note,) = recalled.degraded
            assert "fake:old is not for sale" in note
            assert "recollect reindex" in note
        assert shop.opened.count(OLD) == 2, "it is tried once in a while, not with every question"
        shop.missing.clear()
        clock.turn(minutes=1)
        assert await found(memory) == saved


async def test_a_folder_that_holds_another_model_now_is_not_asked(opened, shop: Shop):
    async with opened(OLD) as memory:
        await memory.remember_many(NOTES)
    shop.embedders[OLD] = FakeEmbedder("another", dimension=8)
    async with opened(NEW) as memory:
        recalled = await memory.recall("harbour keys")
        assert by_meaning(recalled) == set()
        assert any("is another model now" in note for note in recalled.degraded)


async def test_a_folder_whose_model_was_replaced_is_embedded_anew(opened, shop: Shop):
    async with opened(OLD) as memory:
        saved = {it.id for it in await memory.remember_many(NOTES)}
    shop.embedders[OLD] = FakeEmbedder("another", dimension=8)
    async with opened(OLD) as memory:
        await memory.drain()
        assert await found(memory) == saved


async def test_a_model_that_may_come_back_is_not_replaced_unasked(
    opened, shop: Shop, database_path: Path
):
    async with opened(OLD) as memory:
        await memory.remember_many(NOTES)
    shop.missing.add(OLD)
    async with opened(NEW) as memory:
        await memory.drain()
    assert models_in(database_path) == {OLD}


async def test_a_wrong_choice_is_refused_before_anything_changes(opened, database_path: Path):
    async with opened(OLD) as memory:
        await memory.remember_many(NOTES)
        for name in ("fake:nothing", "none"):
            with pytest.raises(RecollectError):
                await memory.reindex(model=name)
        assert table(database_path, "SELECT * FROM jobs WHERE kind = 'reembed'") == []
        assert models_in(database_path) == {OLD}


async def test_work_that_was_only_queued_is_done_by_whoever_is_there(opened, database_path: Path):
    async with opened(OLD) as memory:
        saved = {it.id for it in await memory.remember_many(NOTES)}
        assert await memory.reindex(model=NEW, background=True) == len(NOTES)
        assert models_in(database_path) == {OLD}
        await memory.drain()
        assert models_in(database_path) == {NEW}
        assert await found(memory) == saved
        late = await memory.remember("harbour keys in another bunch 另一串")
        assert await found(memory) == saved | {late.id}


async def test_of_two_wishes_the_last_one_holds(opened, database_path: Path):
    async with opened(OLD) as memory:
        await memory.remember_many(NOTES)
        await memory.reindex(model=NEW, background=True)
        await memory.reindex(model=OLD, background=True)
        await memory.drain()
        assert models_in(database_path) == {OLD}


async def test_a_model_that_fails_is_told_and_the_work_waits(
    opened, shop: Shop, clock: TurnedClock, database_path: Path
):
    async with opened(OLD) as memory:
        saved = {it.id for it in await memory.remember_many(NOTES)}
    async with opened(NEW) as memory:
        shop.embedders[NEW].is_broken = True
        with pytest.raises(NotAvailable, match="told to fail"):
            await memory.reindex()
        assert await found(memory) == saved, "the old model still answers"
        shop.embedders[NEW].is_broken = False
        clock.turn(minutes=1)
        await memory.drain()
        assert models_in(database_path) == {NEW}
        assert await found(memory) == saved


async def test_one_waits_for_another_process_that_has_begun_it(opened, clock: TurnedClock):
    async with opened(OLD) as there, opened(NEW) as here:
        await there.remember_many(NOTES)
        await here.reindex(background=True)
        jobs = services(there).jobs
        job = await jobs.claim(
            ["reembed"], "other", now=clock.now(), lease_until=clock.now() + timedelta(minutes=1)
        )
        assert job is not None
        waiting = asyncio.create_task(here.reindex())
        await asyncio.sleep(0.1)
        assert not waiting.done()
        reembedder = services(there).store_reindex._reembedder
        await reembedder.run(job)
        await jobs.finish(job)
        assert await waiting == len(NOTES)


async def test_packed_vectors_follow_a_change_to_and_fro(opened, database_path: Path):
    async with opened(OLD) as memory:
        saved = {it.id for it in await memory.remember_many(NOTES)}
    database = open_at(database_path)
    serving, store = SqlScopeModels(database), SqlStore(database, SystemClock())
    index = LocalVectorIndex(database, Catalogue(1 << 20), 1 << 20)
    clock, scope = SystemClock(), Scope(user="me")
    old, other = EmbeddingModel(name=OLD, dimension=64), EmbeddingModel(name="x", dimension=2)

    async def search(model: EmbeddingModel):
        question = (await FakeEmbedder(model.name, model.dimension).embed(["keys"], "query"))[0]
        return await index.search([scope], {model: question}, 10, now=clock.now())

    try:
        assert set((await search(old)).matches.rows["owner"]) == saved
        assert (await search(other)).models == {old}
        # Away and back again before anybody asks, with another vector than before.
        units = await serving.lacking(other, scope=scope, after=0, limit=10)
        assert await serving.switch(scope, other, after=units[-1].unit)
        vectors = tuple(
            UnitVector(scope=scope, unit=it.unit, owner=it.owner.id, vector=bytes(128))
            for it in units[:2]
            if it.owner is not None
        )
        while await serving.discard(other, limit=1):
            pass
        await store.commit(ChangeSet(principal="test", scope=scope, vectors=vectors, model=old))
        assert await serving.switch(scope, old, after=units[-1].unit)
        nearest = await search(old)
        assert len(nearest.matches) == 2
        assert nearest.matches.raw.tolist() == [0.0, 0.0]
        assert nearest.missing == 2
    finally:
        await database.close()


async def test_vectors_that_come_too_late_do_not_bring_a_scope_back(opened, database_path: Path):
    async with opened(OLD) as memory:
        await memory.remember_many(NOTES)
        gone = Scope(user="nobody")
        store = store_of(memory)
        units = table(database_path, "SELECT id, owner_id FROM units")
        vectors = tuple(
            UnitVector(scope=gone, unit=unit, owner=owner, vector=bytes(64))
            for unit, owner in units
        )
        model = EmbeddingModel(name=NEW, dimension=32)
        await store.commit(ChangeSet(principal="t", scope=gone, vectors=vectors, model=model))
        assert table(database_path, "SELECT s.id FROM scopes s WHERE s.user = 'nobody'") == []
        assert models_in(database_path) == {OLD}


async def test_each_scope_is_renewed_for_a_new_analyzer_in_one_step(opened, database_path: Path):
    async with opened(OLD) as memory:
        for name in ("ann", "bo"):
            await memory.scope(user=name).remember_many(NOTES * 60)
    ask(database_path, "UPDATE units SET analyzer = 'old'")
    ask(database_path, "DELETE FROM changes")
    async with opened(OLD) as memory:
        await memory.drain()
        assert len(await found(memory.scope(user="bo"))) == 50
    assert table(database_path, "SELECT count(*) FROM units WHERE analyzer = 'old'") == [(0,)]
    steps = "SELECT scope_id, count(DISTINCT version) FROM changes GROUP BY scope_id"
    assert [count for _, count in table(database_path, steps)] == [1, 1]
