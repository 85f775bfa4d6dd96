"""A memory on a server has the verbs of one's own, in async and in blocking code."""

import asyncio
import io
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from recollect import Kind, Memory, ScratchpadUpdate
from recollect.client import RemoteMemory
from recollect.domain.forgetting import Forgotten
from recollect.domain.job import Progress
from recollect.domain.record import Episode, Procedure
from recollect.errors import (
    Conflict,
    InvalidInput,
    NotAvailable,
    NotFound,
    StaleVersion,
    StorageBusy,
    Unreachable,
)
from recollect.sync import Memory as BlockingMemory
from tests.other_memories import write_samples
from tests.serving import served


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with served(tmp_path / "memory.db") as address, Memory.open(address) as opened:
        yield opened.scope(user="ann")


async def test_records_come_back_as_they_are_stored(memory: Memory, tmp_path: Path):
    assert isinstance(memory, RemoteMemory)
    moment = datetime(2026, 1, 2, 3, tzinfo=UTC)
    event = await memory.remember(
        "Release went out", kind=Kind.EPISODIC, participants=["Ann"], timestamp=moment
    )
    way = await memory.remember("Deploy", kind="procedural", steps=("build", "ship"), title="d")
    async with Memory.open(tmp_path / "memory.db") as direct:
        own = direct.scope(user="ann")
        assert (await own.get(event.id), await own.get(way.id)) == (event, way)
    assert isinstance(event.details, Episode)
    assert isinstance(way.details, Procedure)
    assert event.details.timestamp == moment
    assert [it.id for it in await memory.list(kind=[Kind.PROCEDURAL])] == [way.id]
    changed = await memory.update(way.id, "Deploy with care", expected_version=1, valid_to=moment)
    assert [it.number for it in await memory.history(way.id)] == [1, 2]
    with pytest.raises(StaleVersion) as stale:
        await memory.update(way.id, "late", expected_version=1)
    assert stale.value.current == changed.version
    assert (await memory.undo(way.id)).content == "Deploy"
    done = await memory.update_many([event.id, "mem_nothing"], add_tags=["shipped"])
    assert (done.changed[0].tags, done.failed[0].code) == (("shipped",), "not_found")
    await memory.delete(event.id)
    with pytest.raises(NotFound):
        await memory.get(event.id)


async def test_names_with_slashes_are_found(tmp_path: Path):
    """Whatever stands in a name: it is one part of the address."""
    name, document = "team/2026 %2F?#周一", "https://example.org/a/b"
    async with (
        served(tmp_path / "memory.db") as address,
        Memory.open(address) as memory,
        memory.session(name) as session,
    ):
        await session.observe({"role": "user", "content": "We meet on Monday"})
        session.notes.cache_toc(document, ["1 Scope"])
        await session.save()
        async with memory.session(name) as again:
            assert (again.id, again.usage.messages) == (name, 1)
            assert again.notes.get_cached_toc(document) == ["1 Scope"]
        async with httpx.AsyncClient(base_url=address) as client:
            found = await client.get(f"/v1/sessions/{quote(name, safe='')}")
            assert (found.status_code, found.json()["id"]) == (200, name)
            # A slash that is not encoded separates, as ever.
            assert (await client.get("/v1/sessions/team/2026")).status_code == 404


async def test_recall_context_and_tools_work_from_afar(memory: Memory):
    record = await memory.remember("安妮喜欢喝绿茶", category="preference")
    (turn,) = await memory.observe({"role": "user", "content": "I moved to Porto"}, session="s")
    hits = await memory.recall("安妮喜欢什么茶")
    assert (hits[0].record, hits[0].explanation.paths != ()) == (record, True)
    assert (await memory.recall("who moved to Porto"))[0].turn == turn
    block = await memory.context("安妮喜欢什么茶？")
    assert record.id in block.ids
    assert (await memory.audit.replay(block.recall_id)).items[0].id == record.id
    box = memory.tools()
    assert {it.name for it in box.specs} >= {"memory_save", "memory_recall"}
    saved = await box.run("memory_write", {"content": "Ann is vegetarian", "metadata": {}})
    assert (await memory.get(saved["id"])).content == "Ann is vegetarian"
    assert "error" in await box.call("memory_delete", {"id": 5})
    written = await memory.write("Ann works in Porto")
    assert (await memory.trace(written.write_id)).steps
    assert "memory_save" in memory.guide()
    assert (await memory.used(hits[0])).helped == 1


async def test_a_session_from_afar(memory: Memory):
    async with memory.session("monday", context_tokens=4_000) as session:
        said = [
            {"role": ("user", "assistant")[it % 2], "content": f"point {it} " + "tea " * 80}
            for it in range(60)
        ]
        assert len(await session.observe(said)) == 60
        await session.prepare()
        await session.settle()
        window = await session.prepare(format="neutral")
        assert session.usage.level >= 2
        assert session.usage.window_messages == len(window)
        turns = await session.expand(session.summaries[0])
        assert turns[0].content.startswith("point 0 ")
        session.notes.add_page_content("The limit is 30 days", "manual")
        await session.scratchpad.update(ScratchpadUpdate(current_goal="Book"))
    again = await memory.session("monday")
    assert [it.content for it in again.notes.relevant_chunks] == ["The limit is 30 days"]
    assert (await again.scratchpad.read()).current_goal == "Book"
    assert (await again.prepare(format="anthropic")).messages
    large = "the harbour " * 2_000
    shown = await again.archive.process_tool_result("search", {"q": 1}, large, "monday")
    (archive,) = await memory.archives.list()
    assert archive.id in shown
    assert await memory.archives.load(archive.id) == large
    assert "harbour" in await memory.load_tool_history(archive.id, range="chars 0-50")
    await again.end()
    assert [it.id for it in await memory.sessions()] == ["monday"]


async def test_rooms_transfers_and_jobs_from_afar(memory: Memory, tmp_path: Path):
    await memory.remember("kept", tags=["t"], category="c")
    mark = (await memory.changes()).mark
    proposal = await memory.shared.propose("Commits are squashed", "convention")
    approved = await memory.shared.approve(proposal.id)
    assert approved.record is not None
    assert (await memory.shared.get(approved.record)).content == "Commits are squashed"
    assert (await memory.changes(mark)).items
    assert (await memory.upkeep.health()).total >= 1
    assert await memory.upkeep.conflicts() == ()
    assert (await memory.audit.verify()).is_intact
    assert [it.name for it in await memory.tags()] == ["t"]
    assert "ann" in [it.name for it in await memory.workspace.users()]
    found = await memory.workspace.records(facets=True, user="ann")
    assert (found.total, found.facets and found.facets.tags) == (1, {"t": 1})
    lines = io.BytesIO()
    counts = await memory.export_to(lines)
    assert counts.records == lines.getvalue().count(b'"type":"record"') >= 1
    lines.seek(0)
    assert (await memory.import_from(lines)).unchanged == counts.lines
    chat = tmp_path / "summer.jsonl"
    chat.write_text('{"role": "user", "content": "We sail."}\n', encoding="utf-8")
    assert [(await memory.import_chat(chat)).added for _ in range(2)] == [1, 0]
    assert [it.content for it in await memory.turns(session="summer")] == ["We sail."]
    with pytest.raises(InvalidInput):
        await memory.move_in("http://127.0.0.1:9/mem0", "mem0")
    write_samples(tmp_path / "others")
    # A folder travels as an archive of it.
    helpers = tmp_path / "others" / "agents"
    helpers.mkdir()
    (tmp_path / "others" / "helper.af").rename(helpers / "helper.af")
    moved = [await memory.move_in(helpers, "letta") for _ in range(2)]
    assert [(it.records.added, it.messages.added) for it in moved] == [(1, 2), (0, 0)]
    assert any("tools" in it.reason for it in moved[0].left_out)
    await memory.drain()
    assert (await memory.stats()).jobs.failed == 0
    assert (await memory.reindexing()).is_going_on is False
    await memory.jobs.list()
    assert (await memory.forget(user="ann", dry_run=True)).records >= 1


async def test_the_progress_of_a_forgetting_is_told_from_afar(memory: Memory):
    await memory.remember_many([f"note {number}" for number in range(450)])
    told: list[tuple[int, int]] = []
    gone = await memory.forget(user="ann", verify=True, progress=lambda *it: told.append(it))
    assert (gone.records, gone.verification and gone.verification.is_gone) == (450, True)
    assert len(told) > 1
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1] == (450, 450)
    with pytest.raises(InvalidInput) as refused:
        await memory.forget(user="ann", session="s")
    assert refused.value.code == "what_to_forget"


async def test_a_forgetting_that_breaks_off_there_is_told_as_its_error(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
):
    await memory.remember("note")
    fault = StorageBusy("Another program holds the database", hint="Try again.")

    async def break_off(*_: object, progress: Progress | None, **__: object) -> Forgotten:
        assert progress is not None
        progress(1, 2)
        raise fault

    monkeypatch.setattr(Memory, "forget", break_off)
    told: list[tuple[int, int]] = []
    with pytest.raises(StorageBusy) as caught:
        await memory.forget(user="ann", progress=lambda *it: told.append(it))
    assert (caught.value.message, caught.value.hint) == (fault.message, fault.hint)
    assert told == [(1, 2)]


@pytest.mark.sqlite(reason="a server has its own tool for backups")
async def test_a_backup_from_afar(memory: Memory, tmp_path: Path):
    await memory.remember("kept", category="c")
    copied = await memory.backup(tmp_path / "copy.db")
    assert copied.lost == ()
    async with Memory.open(tmp_path / "copy.db") as copy:
        assert [it.content for it in await copy.scope(user="ann").list(category="c")] == ["kept"]
    with pytest.raises(Conflict):
        await memory.backup(tmp_path / "copy.db")


async def test_what_cannot_be_is_told_as_ever(memory: Memory, tmp_path: Path):
    with pytest.raises(InvalidInput) as empty:
        await memory.remember(" ")
    assert (empty.value.code, bool(empty.value.hint)) == ("empty_text", True)
    with pytest.raises(NotAvailable):
        _ = memory.settings
    with pytest.raises(Unreachable):
        await Memory.open("http://127.0.0.1:9")
    first = await memory.remember("once", idempotency_key="k")
    assert (await memory.remember("once", idempotency_key="k")).id == first.id


@contextmanager
def server_in_a_thread(path: Path) -> Iterator[str]:
    address: list[str] = []
    is_up, is_over = threading.Event(), threading.Event()

    async def serve() -> None:
        async with served(path) as at:
            address.append(at)
            is_up.set()
            await asyncio.to_thread(is_over.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    is_up.wait(30)
    try:
        yield address[0]
    finally:
        is_over.set()
        thread.join()


def test_blocking_code_has_it_too(tmp_path: Path):
    with (
        server_in_a_thread(tmp_path / "memory.db") as address,
        BlockingMemory.open(address) as memory,
    ):
        ann = memory.scope(user="ann")
        record = ann.remember("Ann prefers window seats")
        assert ann.recall("which seat does Ann prefer")[0].id == record.id
        with ann.session("s") as session:
            session.observe({"role": "user", "content": "hello"})
            assert session.prepare()[-1]["content"] == "hello"
        assert ann.upkeep.health().total == 1
        told: list[tuple[int, int]] = []
        assert ann.forget(everything=True, progress=lambda *it: told.append(it)).records == 1
        assert told[-1] == (2, 2)
