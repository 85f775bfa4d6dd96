"""Large scopes in a vector store: the same answers, whatever the store does at the moment."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlalchemy import create_engine, make_url

from recollect import Memory, RecollectError
from recollect.assemble.doctor import diagnose
from recollect.assemble.stores import copy_store, restore
from recollect.backends.sql import schema
from recollect.domain.followers import FollowerState
from recollect.errors import SettingsError
from recollect.settings import Settings
from recollect.settings.place import driver_url
from tests.database_servers import storage_of
from tests.fakes import FakeEmbedder
from tests.services import services
from tests.vector_stores import Proxy, offer_example, pgvector_url

_TOLD = (
    "Ann keeps bees behind the house",
    "备用钥匙在蓝色抽屉里",
    "The quarterly report is due on Friday",
    "Ben is allergic to peanuts",
)


class KnowsWords(FakeEmbedder):
    """A small model that knows what some words mean."""

    _MEANINGS: Final = {"insect": "bees", "wasp": "bees", "hive": "bees", "food": "peanuts"}

    def _vector(self, text: str) -> NDArray[np.float32]:
        words = re.findall(r"\w+", text.lower())
        return super()._vector(" ".join(self._MEANINGS.get(word, word) for word in words))


def settings_of(database_path: Path, store: str, **storage: Any) -> Settings:
    """Return settings by which every scope is in the vector store."""
    its = {**storage_of(database_path), "vectors": store, "vectors_from": 1, **storage}
    return Settings.load({"data_dir": database_path.parent, "storage": its})


def opened(settings: Settings) -> Any:
    """Open a memory with a small model."""
    return Memory.open(settings, embedder=KnowsWords())


async def state_of(memory: Memory) -> FollowerState:
    (state,) = (await memory.stats()).followers
    return state


async def contents(memory: Memory, question: str) -> list[str]:
    """Return what is found by meaning alone."""
    return [hit.content for hit in await memory.recall(question, min_score=0, limit=10)]


@pytest.fixture(scope="module")
def postgresql() -> Iterator[str]:
    with pgvector_url() as url:
        yield url


@pytest.fixture(params=["qdrant", "qdrant?collections=namespace", "pgvector", "example"])
def store(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    postgresql: str,
    monkeypatch: pytest.MonkeyPatch,
) -> str:
    kind, _, options = request.param.partition("?")
    if kind == "example":
        offer_example(tmp_path, monkeypatch)
        return f"table://{tmp_path}/vectors.db"
    return postgresql if kind == "pgvector" else f"qdrant://{tmp_path}/vectors?{options}"


async def test_answers_are_those_of_the_exact_search(database_path: Path, store: str):
    async with opened(settings_of(database_path, store)) as memory:
        for told in _TOLD:
            await memory.remember(told)
        await memory.drain()
        assert (await state_of(memory)).condition == "current"
        asked = [await memory.recall(it, min_score=0, limit=10) for it in ("honey", "钥匙", "food")]
    async with opened(settings_of(database_path, "none")) as memory:
        for question, found in zip(("honey", "钥匙", "food"), asked, strict=True):
            exact = await memory.recall(question, min_score=0, limit=10)
            assert [(hit.id, hit.score) for hit in found] == [(hit.id, hit.score) for hit in exact]
            assert not found.degraded


async def test_what_was_just_written_is_found_and_what_is_gone_is_not(
    database_path: Path, store: str
):
    async with opened(settings_of(database_path, store)) as memory:
        first = await memory.remember("Ann keeps bees behind the house")
        await memory.drain()
        # The store does not have these two changes yet.
        await memory.remember("The hive makes forty jars of honey a year")
        await memory.delete(first.id)
        await services(memory).late_vectors.settled()
        assert (await state_of(memory)).lag
        found = await contents(memory, "an insect")
        assert found == ["The hive makes forty jars of honey a year"]
        await memory.drain()
        assert await contents(memory, "an insect") == found
        assert await contents(memory, "an insect or two") == found


async def test_a_filter_reaches_what_the_nearest_vectors_do_not(database_path: Path, store: str):
    async with opened(settings_of(database_path, store)) as memory:
        for number in range(30):
            await memory.remember(f"Bee hive number {number} makes honey", tags=["bees"])
        await memory.remember("Ben is allergic to peanuts", tags=["health"])
        await memory.drain()
        found = await memory.recall(
            "a hive of bees or peanuts", tags=["health"], min_score=0, limit=3
        )
        assert [hit.content for hit in found] == ["Ben is allergic to peanuts"]


async def test_scopes_do_not_see_each_other(database_path: Path, store: str):
    async with opened(settings_of(database_path, store)) as memory:
        ann, ben = memory.scope(user="ann"), memory.scope(user="ben")
        await ann.remember("Ann keeps bees behind the house")
        await ben.remember("Ben is allergic to peanuts")
        await memory.drain()
        assert (await state_of(memory)).scopes == 2
        question = "an insect, and what food"
        assert await contents(ann, question) == ["Ann keeps bees behind the house"]
        assert await contents(ben, question) == ["Ben is allergic to peanuts"]


async def test_reconcile_finds_and_repairs_what_somebody_changed_in_the_store(
    database_path: Path, store: str
):
    async with opened(settings_of(database_path, store)) as memory:
        for told in _TOLD:
            await memory.remember(told)
        await memory.drain()
        (found,) = await memory.reconcile(dry_run=True)
        assert (found.scopes, found.items, found.missing, found.extra) == (1, 4, 0, 0)
        its = services(memory).vector_stores[0]
        (place,) = await its.following.rows.places()
        space = await its.following.follower.space(place)  # type: ignore[attr-defined]
        units = await its.sink.units(space, 0, 10)
        await its.sink.remove(space, units[:1])
        stray = np.ones((2, space.dimension), np.float32)
        await its.sink.put(space, units[-1:] + np.arange(5, 7), stray)
        (found,) = await memory.reconcile(dry_run=True)
        assert (found.missing, found.extra, found.repaired) == (1, 2, False)
        (found,) = await memory.reconcile()
        assert (found.missing, found.extra, found.repaired) == (1, 2, True)
        (found,) = await memory.reconcile(dry_run=True)
        assert (found.items, found.missing, found.extra) == (4, 0, 0)
        await its.sink.clear()
        (found,) = await memory.reconcile(rebuild=True)
        assert (found.items, found.missing, await its.sink.count(space)) == (4, 0, 4)


async def test_an_index_that_a_killed_process_left_unmade_is_made(
    database_path: Path, postgresql: str
):
    graphs = "SELECT indexname FROM pg_indexes WHERE indexname LIKE '%%_graph'"

    def indexes(statement: str = graphs) -> set[str]:
        engine = create_engine(make_url(driver_url(postgresql)), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            done = connection.exec_driver_sql(statement)
            found = set(done.scalars()) if done.returns_rows else set[str]()
        engine.dispose()
        return found

    settings, of_others = settings_of(database_path, postgresql), indexes()
    async with opened(settings) as memory:
        await memory.remember("Ann keeps bees behind the house")
        await memory.drain()
        (made,) = indexes() - of_others
    for is_written in (True, False):
        indexes(f"DROP INDEX {made}")
        async with opened(settings) as memory:
            if is_written:
                await memory.remember("Ben is allergic to peanuts")
                await memory.drain()
            else:
                await memory.reconcile()
            assert indexes() - of_others == {made}


async def test_forgotten_vectors_are_erased_at_once(database_path: Path, store: str):
    async with opened(settings_of(database_path, store)) as memory:
        kept = await memory.remember("Ann keeps bees behind the house")
        gone = await memory.remember("Ben is allergic to peanuts")
        await memory.drain()
        its = services(memory).vector_stores[0]
        (place,) = await its.following.rows.places()
        space = await its.following.follower.space(place)  # type: ignore[attr-defined]
        forgotten = await memory.forget(gone.id, verify=True)
        assert forgotten.away == ()
        assert forgotten.verification is not None
        assert forgotten.verification.is_gone
        assert its.sink.name in " ".join(forgotten.verification.searched)
        assert await its.sink.count(space) == 1
        await memory.forget(everything=True)
        assert await its.sink.count(space) == 0
        assert (await state_of(memory)).scopes == 0
        assert kept.id


async def test_another_model_takes_over(database_path: Path, store: str):
    async with opened(settings_of(database_path, store)) as memory:
        for told in _TOLD:
            await memory.remember(told)
        await memory.drain()
        before = await contents(memory, "an insect")
        parts = services(memory)
        # The same vectors under another number: as after `recollect reindex`.
        await parts.database.write(_renumber_model)
        assert await contents(memory, "an insect") == before
        await memory.drain()
        assert (await state_of(memory)).condition == "current"
        (found,) = await memory.reconcile(dry_run=True)
        assert (found.items, found.missing, found.extra) == (4, 0, 0)
        assert await contents(memory, "an insect") == before


def _renumber_model(connection: Any) -> None:
    scopes, vectors, models = schema.scopes, schema.vectors, schema.embedding_models
    (row,) = connection.execute(models.select()).mappings()
    connection.execute(models.insert(), {**row, "id": row["id"] + 1, "name": "older"})
    connection.execute(models.update().where(models.c.id == row["id"]).values(name="unused"))
    connection.execute(models.update().where(models.c.id == row["id"] + 1).values(name=row["name"]))
    connection.execute(vectors.update().values(model_id=row["id"] + 1))
    for scope in (
        connection.execute(scopes.select().where(scopes.c.unit_count > 0)).mappings().all()
    ):
        version = scope["version"] + 1
        its = scopes.c.id == scope["id"]
        connection.execute(
            scopes.update().where(its).values(model_id=row["id"] + 1, version=version)
        )
        change = {"scope_id": scope["id"], "version": version, "seq": 0, "entity": "model"}
        connection.execute(schema.changes.insert(), {**change, "id": "2", "op": "put"})


# --- While the store is away ----------------------------------------------------------------------


async def test_recall_goes_on_while_the_store_is_away_and_it_catches_up_afterwards(
    database_path: Path, postgresql: str, caplog: pytest.LogCaptureFixture
):
    with Proxy.to(postgresql) as proxy:
        async with opened(settings_of(database_path, proxy.url)) as memory:
            await memory.remember("Ann keeps bees behind the house")
            await memory.drain()
            proxy.cut()
            await memory.remember("Ben is allergic to peanuts")
            assert await contents(memory, "some food") == ["Ben is allergic to peanuts"]
            recalled = await memory.recall("an insect", min_score=0)
            assert [hit.content for hit in recalled] == ["Ann keeps bees behind the house"]
            (note,) = recalled.degraded
            assert "pgvector at" in note
            assert "does not answer" in note
            assert "compared instead" in note
            assert "is away" in caplog.text
            assert (await state_of(memory)).condition == "away"
            # It is asked again after a pause, and nobody waits for it before.
            started = asyncio.get_running_loop().time()
            assert (await memory.recall("an insect of Ann", min_score=0)).degraded
            assert asyncio.get_running_loop().time() - started < 1
            with pytest.raises(RecollectError, match="does not answer"):
                await memory.reconcile(dry_run=True)
            proxy.mend()
            await memory.reconcile()
            assert (await state_of(memory)).condition == "current"
            recalled = await memory.recall("an insect again", min_score=0)
            assert not recalled.degraded
            assert [hit.content for hit in recalled] == ["Ann keeps bees behind the house"]


async def test_two_stores_follow_and_either_may_be_asked(
    database_path: Path, tmp_path: Path, postgresql: str
):
    qdrant = f"qdrant://{tmp_path}/vectors"
    with Proxy.to(postgresql) as proxy:
        # Nothing is compared in this process instead.
        storage = {"vectors_exact": 0}
        first = settings_of(database_path, qdrant, vectors_also=proxy.url, **storage)
        async with opened(first) as memory:
            kept = [await memory.remember(told) for told in _TOLD]
            await memory.drain()
            before = (await memory.stats()).followers
            assert [(it.condition, it.done) for it in before] == [("current", 4)] * 2
            found = await contents(memory, "an insect")
        places = [it for it in (await diagnose(first)).findings if it.part == "vectors store"]
        assert [it.verdict for it in places] == ["ok", "ok"]
        swapped = settings_of(database_path, proxy.url, vectors_also=qdrant, **storage)
        async with opened(swapped) as memory:
            # Neither is built anew.
            assert (await memory.stats()).followers == before[::-1]
            assert await contents(memory, "an insect") == found
            proxy.cut()
            recalled = await memory.recall("an insect again", min_score=0, limit=10)
            assert [hit.content for hit in recalled] == found
            assert not recalled.degraded
            states = (await memory.stats()).followers
            assert [it.condition for it in states] == ["away", "current"]
            forgotten = await memory.forget(kept[0].id, verify=True)
            (away,) = forgotten.away
            assert "pgvector at" in away
            proxy.mend()
            each = await memory.reconcile()
            assert [(it.items, it.missing, it.extra) for it in each] == [(3, 0, 0)] * 2
            for its in services(memory).vector_stores:
                (place,) = await its.following.rows.places()
                space = await its.following.follower.space(place)  # type: ignore[attr-defined]
                assert await its.sink.count(space) == 3


async def test_large_scopes_are_found_by_words_while_the_store_is_away(
    database_path: Path, postgresql: str
):
    with Proxy.to(postgresql) as proxy:
        settings = settings_of(database_path, proxy.url, vectors_exact=2)
        async with opened(settings) as memory:
            for told in _TOLD:
                await memory.remember(told)
            await memory.drain()
            assert "Ann keeps bees behind the house" in await contents(memory, "an insect")
            proxy.cut()
            await memory.remember("There is a wasp in the kitchen")
            recalled = await memory.recall("report, and an insect", min_score=0)
            # By words, and what the store never had by meaning.
            assert {hit.content for hit in recalled} == {_TOLD[2], "There is a wasp in the kitchen"}
            assert "found by words only" in recalled.degraded[0]


async def test_what_was_forgotten_while_the_store_was_away_is_erased_by_the_next_process(
    database_path: Path, postgresql: str
):
    with Proxy.to(postgresql) as proxy:
        settings = settings_of(database_path, proxy.url)
        async with opened(settings) as memory:
            await memory.remember("Ann keeps bees behind the house")
            await memory.drain()
            its = services(memory).vector_stores[0]
            (place,) = await its.following.rows.places()
            space = await its.following.follower.space(place)  # type: ignore[attr-defined]
            proxy.cut()
            forgotten = await memory.forget(everything=True, verify=True)
            assert forgotten.erasure_pending
            assert [it for it in forgotten.away if "pgvector at" in it]
            assert forgotten.verification is None or not forgotten.verification.is_gone
            assert (await state_of(memory)).to_erase == 1
        proxy.mend()
        async with opened(settings) as memory:
            its = services(memory).vector_stores[0]
            assert await its.sink.count(space) == 1
            await memory.drain()
            assert await its.sink.count(space) == 0
            assert (await state_of(memory)).to_erase == 0


async def test_a_memory_opens_while_the_store_is_away(database_path: Path):
    settings = settings_of(database_path, "qdrant://127.0.0.1:1")
    async with opened(settings) as memory:
        await memory.remember("Ann keeps bees behind the house")
        recalled = await memory.recall("an insect", min_score=0)
        assert [hit.content for hit in recalled] == ["Ann keeps bees behind the house"]
        assert (await state_of(memory)).condition in ("building", "away")


async def test_doctor_says_how_the_store_is(database_path: Path, postgresql: str):
    settings = settings_of(database_path, postgresql)
    async with opened(settings) as memory:
        await memory.remember("Ann keeps bees behind the house")
        await memory.drain()
    (finding,) = [it for it in (await diagnose(settings)).findings if it.part == "vectors store"]
    assert finding.verdict == "ok"
    assert re.search(r"pgvector \d.*HNSW.*1 of 1 units of 1 scopes, up to date", finding.message)
    away = settings_of(database_path, "qdrant://127.0.0.1:1")
    (finding,) = [it for it in (await diagnose(away)).findings if it.part == "vectors store"]
    assert finding.verdict == "warning"
    assert "does not answer" in finding.message


async def test_a_store_is_emptied_before_it_is_left(database_path: Path, postgresql: str):
    async with opened(settings_of(database_path, postgresql)) as memory:
        await memory.remember("Ann keeps bees behind the house")
        await memory.drain()
    left = settings_of(database_path, "none")
    findings = {it.part: it for it in (await diagnose(left)).findings}
    assert "pgvector at" in findings["left store"].message
    async with opened(settings_of(database_path, postgresql)) as memory:
        its = services(memory).vector_stores[0]
        (place,) = await its.following.rows.places()
        space = await its.following.follower.space(place)  # type: ignore[attr-defined]
        (found,) = await memory.reconcile(clear=True)
        assert found.scopes == 0
        assert await its.sink.count(space) == 0
    assert "left store" not in {it.part for it in (await diagnose(left)).findings}


async def test_a_copy_has_its_own_vectors(database_path: Path, tmp_path: Path, store: str):
    settings = settings_of(database_path, store)
    async with opened(settings) as memory:
        for told in _TOLD:
            await memory.remember(told)
        await memory.drain()
    target = Settings.load(
        {
            "data_dir": tmp_path / "copy",
            "storage": {"path": tmp_path / "copy.db", "vectors": store, "vectors_from": 1},
        }
    )
    await copy_store(settings, target)
    async with opened(target) as memory:
        assert (await state_of(memory)).condition == "building"
        assert "Ann keeps bees behind the house" in await contents(memory, "an insect")
        await memory.drain()
        assert (await state_of(memory)).done == 4
        await memory.forget(everything=True)
    async with opened(settings) as memory:
        (found,) = await memory.reconcile(dry_run=True)
        assert (found.items, found.missing, found.extra) == (4, 0, 0)


@pytest.mark.sqlite(reason="backups are of files")
async def test_a_restored_backup_starts_with_an_empty_store(
    database_path: Path, tmp_path: Path, store: str
):
    settings = settings_of(database_path, store)
    async with opened(settings) as memory:
        await memory.remember("Ann keeps bees behind the house")
        await memory.drain()
        await memory.backup(tmp_path / "backup.db")
        await memory.remember("This is not in the backup")
        await memory.drain()
        assert (await state_of(memory)).done == 2
    await restore(tmp_path / "backup.db", settings)
    async with opened(settings) as memory:
        await memory.drain()
        (found,) = await memory.reconcile(dry_run=True)
        assert (found.items, found.missing, found.extra) == (1, 0, 0)


async def test_pgvector_needs_a_memory_on_postgresql(tmp_path: Path):
    settings = Settings.load(
        {"data_dir": tmp_path, "storage": {"path": tmp_path / "memory.db", "vectors": "pgvector"}}
    )
    with pytest.raises(SettingsError, match="needs a memory on PostgreSQL"):
        async with opened(settings):
            pass
