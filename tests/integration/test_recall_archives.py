"""Archived tool results are found when they are asked for, by the passage that answers."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.domain.archive import Archive
from recollect.domain.filters import Filter, make_filter
from recollect.errors import InvalidInput
from tests.command_line import CommandLine
from tests.conftest import TurnedClock
from tests.integration.archive_texts import ANSWERS, manual
from tests.integration.test_late_vectors import HeldEmbedder
from tests.integration.test_server import serving

_ALL: Any = ["record", "turn", "archive"]


async def _archived(memory: Memory, language: str, session: str = "s") -> Archive:
    manager = memory.session(session).archive
    await manager.process_tool_result("search", {"query": "q"}, manual(language), session)
    await memory.drain()
    return (await memory.archives.list(limit=1))[0]


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_an_archive_answers_with_the_passage_that_fits(memory: Memory, language: str):
    question, answer = ANSWERS[language]
    archive = await _archived(memory, language)
    (hit,) = await memory.recall(question, owners="archive")
    assert hit.archive is not None
    assert (hit.record, hit.turn) == (None, None)
    assert hit.id == hit.archive.id == archive.id
    assert answer in hit.content
    assert len(hit.content) < 2_000
    assert hit.passage == hit.content
    assert (hit.archive.tool, hit.archive.session) == ("search", "s")
    assert hit.archive.created_at == archive.created_at
    assert hit.archive.span is not None
    start, end = hit.archive.span
    whole = await memory.load_tool_history(archive.id, range=f"chars {start}-{end}")
    assert answer in whole


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_archives_stand_beside_what_is_remembered(memory: Memory, language: str):
    question, answer = ANSWERS[language]
    archive = await _archived(memory, language)
    record = await memory.remember(answer)
    assert [hit.id for hit in await memory.recall(question)] == [record.id]
    both = await memory.recall(question, owners=_ALL, min_score=0.0)
    assert {hit.id for hit in both} == {record.id, archive.id}
    assert (await memory.context(question, owners=_ALL)).ids == (record.id,)


async def test_an_archive_that_only_is_about_it_answers_with_its_summary(memory: Memory):
    manager = memory.session("s").archive
    asked = {"query": "quarterly zebra census"}
    await manager.process_tool_result("search", asked, manual("en"), "s")
    await memory.drain()
    (hit,) = await memory.recall("zebra census", owners="archive", min_score=0.0)
    assert hit.archive is not None
    assert hit.archive.query == "quarterly zebra census"


async def test_other_conditions_hold_for_archives_too(memory: Memory, clock: TurnedClock):
    question, _ = ANSWERS["en"]
    archive = await _archived(memory, "en", session="one")
    before, after = archive.created_at, clock.turn(days=1)

    async def found(**where: Any) -> list[str]:
        recalled = await memory.recall(question, owners="archive", **where)
        return [hit.id for hit in recalled]

    assert await found(session="one") == await found(since=before) == [archive.id]
    assert await found(session="two") == await found(since=after) == await found(tags="x") == []
    stranger = memory.scope(user="somebody else")
    assert not (await stranger.recall(question, owners="archive")).hits
    clock.turn(days=40)
    assert await found() == []


def test_archives_are_asked_for_by_name():
    assert not Filter().wants_archives
    where = make_filter(owners=_ALL)
    assert (where.wants_archives, where.wants_turns, where.wants_records) == (True, True, True)
    assert not where.without_archives.wants_archives
    assert not make_filter(owners="archive", kind="semantic").wants_archives
    with pytest.raises(InvalidInput, match="record, turn, archive"):
        make_filter(owners="letter")  # type: ignore[arg-type]


def test_the_command_line_looks_in_archives(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(tmp_path / "data"))
    command = CommandLine(capfdbinary)
    question, answer = ANSWERS["en"]

    async def tell() -> str:
        async with Memory.open() as memory:
            return (await _archived(memory, "en")).id

    archived = asyncio.run(tell())
    assert archived not in command("recall", question).out
    assert archived in command("recall", question, "--in", "archives").out
    (hit,) = command("recall", question, "--in", "archives", "--json").json["hits"]
    assert answer in hit["archive"]["content"]


async def test_the_server_looks_in_archives(tmp_path: Path):
    question, answer = ANSWERS["zh"]
    async with Memory.open(tmp_path / "data") as memory:
        archive = await _archived(memory, "zh")
    async with serving(tmp_path / "data") as client:
        asked = {"query": question, "owners": ["archive"]}
        (hit,) = (await client.post("/v1/recall", json=asked)).json()["hits"]
    assert (hit["id"], hit["archive"]["tool"]) == (archive.id, "search")
    assert answer in hit["passage"]
    assert (hit["record"], hit["turn"]) == (None, None)


async def test_an_archive_is_found_among_many_records_that_fit(memory: Memory):
    question, answer = ANSWERS["en"]
    archive = await _archived(memory, "en")
    await memory.remember_many([f"role permissions are configured by {n}" for n in range(300)])
    (hit,) = await memory.recall(question, owners="archive", min_score=0.0)
    assert hit.id == archive.id
    assert answer in hit.content


async def test_an_archive_is_found_by_its_words_while_its_vectors_are_made(database_path: Path):
    # The vectors of a long result take seconds, and a short process ends before they are there.
    question, answer = ANSWERS["en"]
    embedder = HeldEmbedder()
    async with Memory.open(database_path, embedder=embedder) as memory:
        manager = memory.session("s").archive
        await manager.process_tool_result("search", {"query": "q"}, manual("en"), "s")
        working = asyncio.create_task(memory.drain())
        for _ in range(1_000):
            if embedder.batches:
                break
            await asyncio.sleep(0.01)
        (hit,) = await memory.recall(question, owners="archive")
        assert answer in hit.content
        assert not working.done()
        embedder.is_let.set()
        await working
        (hit,) = await memory.recall(question, owners="archive")
        assert {path.path for path in hit.explanation.paths} == {"keyword", "vector"}
