"""A coordinator in the common store sees all of its agents, wherever their memory lies.

What it may see is read from the store that has it. While a store is away, every answer that would
need it says so.
"""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.domain.job import NewJob
from recollect.errors import StorageError
from recollect.settings import Settings
from tests.database_servers import Server
from tests.services import services
from tests.serving import served

_AGENTS = ("near", "far", "usual")


@pytest.fixture
def given(tmp_path: Path, database_server: Server | None) -> dict[str, Any]:
    """One coordinator of three agents, two of which have a store of their own."""
    stores: dict[str, Any] = {"near": {"path": "near.db"}, "far": {"path": "far.db"}}
    if database_server is not None:
        stores["far"] = {"url": database_server.url_for(tmp_path / "far.db")}
    return {
        "data_dir": tmp_path,
        "stores": stores,
        "archive": {"threshold": 200},
        "agents": {
            "boss": {"role": "coordinator", "children": list(_AGENTS)},
            "near": {"store": "near"},
            "far": {"store": "far"},
        },
    }


@pytest.fixture
async def memory(given: dict[str, Any]) -> AsyncIterator[Memory]:
    async with Memory.open(Settings.load(given)) as memory:
        yield memory


async def _tell(memory: Memory) -> dict[str, str]:
    """Let each agent keep a record, a conversation and the result of a tool; ids of the records."""
    kept: dict[str, str] = {}
    for agent in _AGENTS:
        own = memory.scope(user="ann", agent=agent)
        kept[agent] = (await own.remember(f"The {agent} tea shop opens at nine", tags=["tea"])).id
        async with own.session(f"at-{agent}") as session:
            await session.observe({"role": "user", "content": f"Order tea at the {agent} shop."})
            menu = f"Menu of {agent}: tea. " * 40
            await session.archive.process_tool_result("shop", {"at": agent}, menu, session.id)
    await memory.scope(user="bob", agent="far").remember("Bob drinks cocoa")
    return kept


async def test_it_finds_and_lists_what_they_know(memory: Memory):
    kept = await _tell(memory)
    boss = memory.scope(user="ann", agent="boss")

    recalled = await boss.recall("When does the tea shop open?", min_score=0.0, limit=20)
    assert set(kept.values()) <= {hit.id for hit in recalled}
    assert not any("store" in note for note in recalled.degraded)
    assert {it.id for it in await boss.list()} == set(kept.values())
    first = await boss.list(limit=2)
    rest = await boss.list(limit=2, cursor=first.next_cursor)
    assert [it.id for it in (*first, *rest)] == [it.id for it in await boss.list()]
    assert {it.id for it in await boss.sessions()} == {f"at-{it}" for it in _AGENTS}
    assert [(it.name, it.records) for it in await boss.tags()] == [("tea", 3)]
    assert (await boss.upkeep.health()).total == 3
    assert (await boss.stats()).store.records == 3
    for agent in _AGENTS:
        assert (await boss.get(kept[agent])).content.startswith(f"The {agent}")
        assert "shop" in (await boss.context(f"When does the {agent} shop open?")).text
    archives = await boss.archives.list()
    assert {it.scope.agent for it in archives} == set(_AGENTS)
    for archive in archives:
        assert f"Menu of {archive.scope.agent}" in await boss.load_tool_history(archive.id)
    done = {it.target for it in await boss.audit.tail(limit=100, action="remember")}
    assert done == set(kept.values())
    assert (await boss.audit.verify()).is_intact


async def test_an_operator_sees_the_whole_workspace(memory: Memory):
    kept = await _tell(memory)
    workspace = memory.scope(user=None).workspace

    assert {it.name: it.contents.records for it in await workspace.agents()} == {
        "near": 1,
        "far": 2,
        "usual": 1,
    }
    assert {it.name: it.contents.records for it in await workspace.users()} == {"ann": 3, "bob": 1}
    found = await workspace.records(facets=True)
    assert found.total == 4
    assert found.facets is not None
    assert found.facets.agents == {"near": 1, "far": 2, "usual": 1}
    for what in (workspace.scopes, workspace.users, workspace.agents, workspace.sessions):
        everything = (await what()).items
        some: list[Any] = []
        cursor = None
        while len(some) < len(everything):
            page = await what(limit=1, cursor=cursor)
            some += page.items
            cursor = page.next_cursor
        assert some == list(everything)
        assert cursor is None
    recalled = await workspace.recall("tea shop", min_score=0.0, limit=20)
    assert set(kept.values()) <= {hit.id for hit in recalled}
    assert (await workspace.health()).total == 4
    assert [(it.name, it.records) for it in await workspace.tags()] == [("tea", 3)]


async def test_it_changes_what_they_know(memory: Memory):
    kept = await _tell(memory)
    boss = memory.scope(user="ann", agent="boss")
    mark = (await boss.changes()).mark

    await boss.update(kept["far"], "The far tea shop opens at ten")
    namespace = "far_memories/ann"
    told = await boss.write("The far tea shop opens at eleven", namespace=namespace)
    assert told.record is not None
    assert told.record.scope.agent == "far"
    assert (await boss.trace(told.write_id)).id == told.write_id
    assert {it.scope.agent for it in (await boss.changes(mark)).items} == {"far"}
    far = memory.scope(user="ann", agent="far")
    assert "eleven" in " ".join(it.content for it in await far.list())
    archive = (await far.archives.list())[0]
    await boss.archives.delete(archive.id)
    assert not len(await far.archives.list())


async def test_what_it_forgets_is_gone_in_their_stores(memory: Memory):
    kept = await _tell(memory)
    boss = memory.scope(user="ann", agent="boss")

    done = await boss.forget([kept["near"], kept["far"]], verify=True)
    assert done.records == 2
    assert done.verification is not None
    assert done.verification.traces == ()
    foreseen = await boss.forget(tags=["tea"], dry_run=True)
    assert foreseen.records == 1
    assert (await boss.forget(session="at-far")).counts["turns"] == 1
    assert (await boss.forget(tags=["tea"])).records == 1
    assert not len(await boss.list())
    assert [it.content for it in await memory.scope(user="bob", agent="far").list()]


async def test_an_export_has_it_all_and_comes_back_where_it_belongs(
    memory: Memory, given: dict[str, Any], tmp_path: Path
):
    kept = await _tell(memory)
    boss = memory.scope(user="ann", agent="boss")
    counts = await boss.export_to(tmp_path / "boss.jsonl")
    assert (counts.records, counts.archives, counts.lost) == (3, 3, ())
    counts = await memory.export_to(tmp_path / "all.jsonl", all_scopes=True)
    assert (counts.records, counts.archives, counts.lost) == (4, 3, ())

    elsewhere = Settings.load(
        {
            **given,
            "data_dir": tmp_path / "new",
            "stores": {"near": {"path": "near.db"}, "far": {"path": "far.db"}},
            "storage": {"backend": "sqlite", "path": tmp_path / "new" / "memory.db", "url": ""},
        }
    )
    whole = tmp_path / "all.jsonl"
    for source in (whole, io.BytesIO(whole.read_bytes())):
        async with Memory.open(elsewhere) as new:
            done = await new.import_from(source, all_scopes=True)
            assert (done.added + done.unchanged, done.lost, done.bad) == (counts.lines, 0, 0)
            far = new.scope(user="ann", agent="far")
            assert [it.id for it in await far.list()] == [kept["far"]]
            archive = (await far.archives.list())[0]
            assert "Menu of far" in await far.load_tool_history(archive.id)


async def test_a_store_that_is_away_is_told_of(given: dict[str, Any]):
    given["stores"]["far"] = {"url": "postgresql://nobody@127.0.0.1:1/nothing"}
    async with Memory.open(Settings.load(given)) as memory:
        boss = memory.scope(user="ann", agent="boss")
        workspace = memory.scope(user=None).workspace
        kept = await memory.scope(user="ann", agent="near").remember("The shop opens at nine")

        for asked in (boss, workspace):
            recalled = await asked.recall("When does the shop open?", min_score=0.0)
            assert [hit.id for hit in recalled] == [kept.id]
            assert any("far" in note for note in recalled.degraded)
        # What is not missing needs no other store; nor does what the coordinator keeps itself.
        assert (await boss.get(kept.id)).content == kept.content
        assert (await boss.write("The shop closes at six")).record is not None
        for all_of_it in (boss.list, boss.sessions, boss.tags, boss.upkeep.health, boss.audit.tail):
            with pytest.raises(StorageError) as refused:
                await all_of_it()
            assert refused.value.code == "database_unreachable"
        with pytest.raises(StorageError) as refused:
            await boss.get("mem_unknown")
        assert refused.value.code == "database_unreachable"
        with pytest.raises(StorageError) as refused:
            await boss.forget(tags=["tea"])
        assert refused.value.code == "database_unreachable"
        for listed in (
            workspace.agents,
            workspace.records,
            workspace.scopes,
        ):
            with pytest.raises(StorageError) as refused:
                await listed()
            assert refused.value.code == "store_unopened"
        assert (await workspace.records(agent="near")).total == 1


async def test_an_operator_sees_the_jobs_and_figures_of_all_stores(memory: Memory):
    await _tell(memory)
    for agent in (None, *_AGENTS):
        await services(memory.scope(user="ann", agent=agent)).jobs.add(
            [NewJob(kind="odd", key="k")]
        )
    listed = list(await memory.jobs.list(kind="odd"))
    # Two agents have stores of their own; the two others share one job of one key.
    assert len(listed) == 3
    assert [it.id for it in listed] == sorted((it.id for it in listed), reverse=True)
    first = await memory.jobs.list(kind="odd", limit=2)
    rest = await memory.jobs.list(kind="odd", limit=2, cursor=first.next_cursor)
    assert [*first, *rest] == listed
    for job in listed:
        assert (await memory.jobs.get(job.id)).state == "waiting"
        assert (await memory.jobs.cancel(job.id)).state == "cancelled"

    before = (await memory.metrics()).total.recalls
    for agent in _AGENTS:
        await memory.scope(user="ann", agent=agent).recall("tea")
    after = (await memory.metrics()).total.recalls
    # Those with a store of their own read the common one too.
    assert after - before == 5
    assert (await memory.scope(agent="far").stats()).last_day.recalls == after


async def test_reindexing_reaches_every_store(memory: Memory):
    await _tell(memory)
    await memory.drain()
    units = (await memory.reindexing()).units
    alone = [await parts.store_reindex.progress() for parts in services(memory).router.every()]
    assert len(alone) == 3
    assert units == sum(it.units for it in alone) > max(it.units for it in alone)
    assert await memory.stop_reindexing() is False
    told: list[tuple[int, int]] = []
    assert await memory.reindex(lambda done, total: told.append((done, total))) == 0


@pytest.mark.sqlite(reason="a server has its own tool for backups")
async def test_a_backup_names_whom_it_leaves_out(
    memory: Memory, given: dict[str, Any], tmp_path: Path
):
    await _tell(memory)
    common = await memory.backup(tmp_path / "common-copy.db")
    assert common.agents_left_out == ("far", "near")
    near = await memory.scope(agent="near").backup(tmp_path / "near-copy.db")
    assert near.agents_left_out == ("boss", "far")
    async with Memory.open(tmp_path / "near-copy.db") as copy:
        own = copy.scope(user="ann", agent="near")
        assert "near tea shop" in (await own.list())[0].content
    async with (
        served(Settings.load(given)) as address,
        Memory.open(address) as client,
    ):
        assert await client.backup(tmp_path / "fetched.db") == common
