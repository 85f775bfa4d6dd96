"""Large tool results leave the window and come back whole."""

import asyncio
import subprocess
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from recollect.context.placeholder import Placeholder, find_placeholders, parse_placeholder
from recollect.domain.archive import Archive, Blob
from recollect.domain.memory_tools import is_memory_tool
from recollect.domain.scope import Scope
from recollect.domain.sections import ArchiveSettings
from recollect.errors import InvalidInput, NotFound, StorageError
from recollect.ports.runtime import SystemClock
from tests.conftest import TurnedClock
from tests.fakes import FakeEmbedder
from tests.integration.archive_bench import ANN, TOKENS, ArchiveBench, open_bench
from tests.integration.archive_texts import ANSWERS, manual
from tests.nursery import WARM
from tests.processes import Child
from tests.reports import write_report

_LARGE = manual("zh", 20_000)


@pytest.fixture
async def bench(tmp_path: Path, clock: TurnedClock) -> AsyncIterator[ArchiveBench]:
    async with open_bench(tmp_path, clock) as opened:
        yield opened


def _placeholder_in(shown: object) -> Placeholder:
    assert isinstance(shown, str)
    ((_, _, placeholder),) = find_placeholders(shown)
    return placeholder


async def _archive(
    bench: ArchiveBench,
    result: object,
    *,
    asked: object = None,
    scope: Scope = ANN,
    session: str = "monday",
) -> str:
    shown = await bench.manager(scope).process_tool_result("search", asked, result, session)
    return _placeholder_in(shown).id


@pytest.mark.parametrize(
    "result", ["short", "字" * 10_000, {"rows": [1, 2]}, b"\x00" * 9_000, None]
)
async def test_a_short_result_passes_through_as_it_is(bench: ArchiveBench, result: object):
    assert await bench.manager().process_tool_result("search", {}, result, "monday") is result
    assert bench.files() == []


@pytest.mark.parametrize(
    "result",
    [
        "字" * 10_001,
        "line\r\nline\n" * 3_000,
        "broken \ud800 text \x00 with everything 🙂" * 500,
        {"rows": [{"编号": n, "pi": 3.14, "none": None, "x": "\ud800"} for n in range(900)]},
        list(range(9_000)),
        "utf-8 字节".encode() * 2_000,
        bytes(range(256)) * 200,
    ],
    ids=["chinese", "line ends", "broken", "mapping", "list", "text bytes", "binary"],
)
async def test_a_large_result_is_put_away_and_comes_back_identical(
    bench: ArchiveBench, result: object
):
    manager = bench.manager()
    shown = await manager.process_tool_result("search", {"query": "x"}, result, "monday", "thread")
    assert shown != result
    back = await manager.load_tool_result(_placeholder_in(shown).id)
    assert back == result
    assert type(back) is type(result)


async def test_a_result_of_many_megabytes_is_searched_to_its_end(bench: ArchiveBench):
    log = "".join(f"2026-03-01 worker {n % 97} finished job {n}\n" for n in range(300_000))
    log += "2026-03-02 worker 5 failed: E4711 disk full\n"
    archive_id = await _archive(bench, log)
    (file,) = bench.files()
    assert file.stat().st_size < len(log) / 5
    assert await bench.manager().load_tool_result(archive_id) == log
    found = await bench.manager().load_tool_result(archive_id, query="why E4711")
    assert "E4711 disk full" in found
    assert TOKENS.count(found) < 5_000


async def test_the_placeholder_tells_what_was_put_away(bench: ArchiveBench, clock: TurnedClock):
    text = "来源：操作手册.pdf\n" + _LARGE
    shown = await bench.manager(options=ArchiveSettings(show="placeholder")).process_tool_result(
        "search_docs", {"query": "角色权限如何配置", "mode": "mix"}, text, "monday"
    )
    placeholder = parse_placeholder(shown)
    assert placeholder is not None
    assert placeholder.tool == "search_docs"
    assert placeholder.query == "角色权限如何配置"
    assert placeholder.time == clock.now()
    assert (placeholder.length, placeholder.unit) == (len(text), "characters")
    assert placeholder.language == "zh"
    assert placeholder.sources == ("操作手册.pdf",)
    assert len(placeholder.summary) > 100
    assert TOKENS.count(placeholder.summary) <= ArchiveSettings().summary_tokens
    (archive,) = await bench.archives.find([ANN])
    assert 200 <= len(archive.summary) <= 500
    assert archive.lines == text.count("\n") + 1
    assert archive.bytes == len(text.encode())


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_the_producing_turn_shows_the_passages_that_answer(
    bench: ArchiveBench, language: str
):
    question, answer = ANSWERS[language]
    text = manual(language)
    assert answer in text
    shown = await bench.manager().process_tool_result("docs", {"query": question}, text, "monday")
    assert answer in shown
    assert _placeholder_in(shown).language == language
    assert TOKENS.count(shown) < 2_000


async def test_all_of_it_is_shown_when_that_is_wanted_and_fits(bench: ArchiveBench):
    options = ArchiveSettings(show="full")
    text = manual("en", 12_000)
    shown = await bench.manager(options=options).process_tool_result("docs", {}, text, "monday")
    assert text in shown
    too_long = manual("en", 300_000)
    shown = await bench.manager(options=options).process_tool_result("docs", {}, too_long, "monday")
    assert len(shown) < 12_000


async def test_a_binary_result_is_shown_by_its_placeholder_alone(bench: ArchiveBench):
    picture = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 60
    shown = await bench.manager().process_tool_result(
        "draw", {"prompt": "a cat"}, picture, "monday"
    )
    placeholder = parse_placeholder(shown)
    assert placeholder is not None
    assert (placeholder.length, placeholder.unit) == (len(picture), "bytes")
    with pytest.raises(InvalidInput) as refused:
        await bench.manager().load_tool_result(placeholder.id, query="cat")
    assert refused.value.code == "not_text"


@pytest.mark.parametrize(
    "tool",
    [
        *("memory_search", "memory_save", "load_tool_history", "knowledge_search"),
        *("scratchpad_update", "mcp__recollect__memory_recall"),
    ],
)
async def test_results_of_memory_tools_are_never_archived(bench: ArchiveBench, tool: str):
    assert await bench.manager().process_tool_result(tool, {}, _LARGE, "monday") is _LARGE
    assert not is_memory_tool("read_memory_dump")


async def test_a_range_or_the_passages_for_a_question_can_be_loaded(bench: ArchiveBench):
    text = manual("zh")
    archive_id = await _archive(bench, text)
    manager = bench.manager()
    lines = text.split("\n")
    assert await manager.load_tool_result(archive_id, range="10-12") == "".join(
        f"{line}\n" for line in lines[9:12]
    )
    assert await manager.load_tool_result(archive_id, range="chars 100-300") == text[100:300]
    question, answer = ANSWERS["zh"]
    assert answer in await manager.load_tool_result(archive_id, query=question)
    with pytest.raises(InvalidInput):
        await manager.load_tool_result(archive_id, query=question, range="1-2")


async def test_a_loaded_result_is_seen_for_one_turn(bench: ArchiveBench):
    manager = bench.manager()
    first, second = manual("zh", seed=1), manual("en", seed=2)
    messages: list[dict[str, Any]] = [{"role": "user", "content": "权限怎么配置？"}]
    ids: list[str] = []
    for call, text in (("a", first), ("b", second)):
        shown = await manager.process_tool_result("docs", {"query": call}, text, "monday")
        ids.append(_placeholder_in(shown).id)
        messages.append({"role": "tool", "tool_call_id": call, "content": shown})

    small = await manager.restore_placeholders(messages)
    assert [parse_placeholder(it["content"]) is not None for it in small] == [False, True, True]
    assert small[0] is messages[0]

    loaded = await manager.prepare_context(messages, [ids[0]])
    assert first in loaded[1]["content"]
    assert loaded[2] == small[2]
    assert await manager.restore_placeholders(loaded) == small
    assert await manager.prepare_context(loaded) == small
    (archive,) = await bench.archives.find([ANN], ids=[ids[0]])
    assert (archive.loads, archive.last_loaded) == (1, bench.clock.now())


async def test_what_the_load_tool_gives_is_closed_in_the_next_turn(bench: ArchiveBench):
    manager = bench.manager()
    archive_id = await _archive(bench, _LARGE)
    shown = await manager.load_tool_history(archive_id)
    assert _LARGE in shown
    (message,) = await manager.restore_placeholders([{"role": "tool", "content": shown}])
    placeholder = parse_placeholder(message["content"])
    assert placeholder is not None
    assert placeholder.id == archive_id


async def test_an_unknown_id_is_told_and_the_conversation_goes_on(bench: ArchiveBench):
    manager = bench.manager()
    archive_id = await _archive(bench, _LARGE)
    for unknown in ("arc_unknown", "0b3c6a4e-4f3e-4d8e-9f38-1df5c4a5e8a1", ""):
        with pytest.raises(NotFound) as refused:
            await manager.load_tool_result(unknown)
        assert refused.value.code == "unknown_archive"
    assert await manager.load_tool_result(archive_id) == _LARGE


@pytest.mark.parametrize("damage", ["changed", "cut", "gone", "replaced"])
async def test_a_damaged_file_is_told_with_both_checksums_and_the_session_goes_on(
    bench: ArchiveBench, damage: str
):
    manager = bench.manager()
    other = await _archive(bench, _LARGE + "other")
    (kept,) = bench.files()
    archive_id = await _archive(bench, _LARGE)
    (file,) = set(bench.files()) - {kept}
    stored = file.read_bytes()
    match damage:
        case "changed":
            file.write_bytes(stored[:500] + bytes([stored[500] ^ 1]) + stored[501:])
        case "cut":
            file.write_bytes(stored[:-100])
        case "replaced":
            file.write_bytes(kept.read_bytes())
        case _:
            file.unlink()

    with pytest.raises(StorageError) as refused:
        await manager.load_tool_result(archive_id)
    assert refused.value.code == "archive_damaged"
    blob = await _blob(bench, archive_id)
    assert blob.stored_hash in refused.value.message
    if damage != "gone":
        assert refused.value.message.count("found ") == 1
        assert len(refused.value.message.rsplit(" ", 1)[1]) == 64

    shown = str(manager.placeholder((await bench.archives.find([ANN], ids=[archive_id]))[0]))
    prepared = await manager.prepare_context([{"role": "tool", "content": shown}], [archive_id])
    assert blob.stored_hash in prepared[0]["content"]
    assert (await manager.restore_placeholders(prepared))[0]["content"] == shown
    assert await manager.load_tool_result(other) == _LARGE + "other"


async def _blob(bench: ArchiveBench, archive_id: str) -> Blob:
    found = await bench.archives.with_blob([ANN], archive_id)
    assert found is not None
    return found[1]


async def test_the_same_content_is_stored_once_in_a_workspace(bench: ArchiveBench):
    bob = replace(ANN, user="bob")
    ids = {
        await _archive(bench, _LARGE, asked="one"),
        await _archive(bench, _LARGE, asked="two"),
        await _archive(bench, _LARGE, asked="one", session="tuesday"),
        await _archive(bench, _LARGE, asked="one", scope=bob),
    }
    assert len(ids) == 4
    assert len(bench.files()) == 1
    await _archive(bench, _LARGE, scope=replace(ANN, workspace="other"))
    assert len(bench.files()) == 2


async def test_the_same_call_with_the_same_result_keeps_its_archive(bench: ArchiveBench):
    first = await _archive(bench, _LARGE, asked={"a": 1, "b": 2})
    assert await _archive(bench, _LARGE, asked={"b": 2, "a": 1}) == first
    assert await _archive(bench, _LARGE + "!", asked={"a": 1, "b": 2}) != first


async def test_many_calls_at_once_that_give_the_same_leave_one_file(bench: ArchiveBench):
    ids = await asyncio.gather(*(_archive(bench, _LARGE, asked=n) for n in range(12)))
    assert len(set(ids)) == 12
    assert len(bench.files()) == 1
    assert await bench.manager().load_tool_result(ids[5]) == _LARGE


async def test_nobody_else_sees_an_archive(bench: ArchiveBench):
    archive_id = await _archive(bench, _LARGE, asked="x")
    for stranger in (Scope(), Scope(user="bob"), Scope(user="ann", workspace="other")):
        with pytest.raises(NotFound):
            await bench.manager(stranger).load_tool_result(archive_id)
        assert await bench.manager(stranger).find_earlier("search", "x") is None


async def test_an_earlier_result_of_the_same_call_is_offered_with_its_age(
    bench: ArchiveBench, clock: TurnedClock
):
    manager = bench.manager()
    assert await manager.find_earlier("search", {"query": "权限", "page": 1}) is None
    await _archive(bench, "old " + _LARGE, asked={"query": "权限", "page": 1})
    clock.turn(hours=1)
    newer = await _archive(bench, _LARGE, asked={"page": 1, "query": "权限"}, session="tuesday")
    clock.turn(hours=2)
    earlier = await manager.find_earlier("search", {"query": "权限", "page": 1})
    assert earlier is not None
    assert (earlier.archive.id, earlier.age) == (newer, timedelta(hours=2))
    assert await manager.find_earlier("search", {"query": "权限", "page": 2}) is None
    assert await manager.find_earlier("other", {"query": "权限", "page": 1}) is None
    clock.turn(days=31)
    assert await manager.find_earlier("search", {"query": "权限", "page": 1}) is None


async def test_archives_go_after_their_time_and_a_dry_run_only_tells(
    bench: ArchiveBench, clock: TurnedClock
):
    old = await _archive(bench, _LARGE, asked="old")
    clock.turn(days=20)
    young = await _archive(bench, manual("en"), asked="young")
    clock.turn(days=10)
    retention = bench.retention()
    for _ in range(2):
        told = await retention.sweep(ANN, dry_run=True)
        assert [archive.id for archive in told.archives] == [old]
        assert told.bytes == len(_LARGE.encode())
    swept = await retention.sweep(ANN)
    assert [archive.id for archive in swept.archives] == [old]
    assert [archive.id for archive in await bench.archives.find([ANN])] == [young]
    assert len(bench.files()) == 1
    assert (await retention.sweep(ANN)).archives == ()


async def test_of_too_many_or_too_large_archives_the_newest_stay(
    bench: ArchiveBench, clock: TurnedClock
):
    ids: list[str] = []
    for number in range(4):
        ids.append(await _archive(bench, f"{number}{_LARGE}"))
        clock.turn(minutes=1)
    by_count = await bench.retention(max_count=3).sweep(ANN, dry_run=True)
    assert [archive.id for archive in by_count.archives] == ids[:1]
    size = len(_LARGE.encode()) + 1
    by_size = await bench.retention(max_bytes=2 * size + 10).sweep(ANN)
    assert {archive.id for archive in by_size.archives} == set(ids[:2])
    assert len(bench.files()) == 2


async def test_a_shared_content_stays_until_the_last_archive_goes(bench: ArchiveBench):
    bob = replace(ANN, user="bob")
    mine = await _archive(bench, _LARGE)
    theirs = await _archive(bench, _LARGE, scope=bob)
    retention = bench.retention(max_count=0)
    await retention.sweep(ANN)
    with pytest.raises(NotFound):
        await bench.manager().load_tool_result(mine)
    assert await bench.manager(bob).load_tool_result(theirs) == _LARGE
    await retention.sweep(bob)
    assert bench.files() == []


async def test_removing_what_somebody_else_removed_counts_once(bench: ArchiveBench):
    await _archive(bench, _LARGE, asked="one")
    await _archive(bench, _LARGE, asked="two")
    one, two = await bench.archives.find([ANN])
    retention = bench.retention()
    await asyncio.gather(retention.remove([one]), retention.remove([one]), retention.remove([one]))
    assert await bench.manager().load_tool_result(two.id) == _LARGE


async def test_content_that_vanishes_while_it_is_archived_again_is_stored_anew(
    bench: ArchiveBench,
):
    """The blob is known when it is looked for, and removed before the archive is written."""
    await _archive(bench, _LARGE, asked="old")
    (old,) = await bench.archives.find([ANN])
    retention = bench.retention()
    look = bench.archives.blob

    async def look_and_lose(scope: Scope, content_hash: str) -> Blob | None:
        found = await look(scope, content_hash)
        await retention.remove([old])
        return found

    bench.archives.blob = look_and_lose
    anew = await _archive(bench, _LARGE, asked="new")
    assert await bench.manager().load_tool_result(anew) == _LARGE
    assert len(bench.files()) == 1


async def test_a_blob_without_a_row_is_harmless_and_collected_later(
    bench: ArchiveBench, clock: TurnedClock
):
    """As if the process was killed between the blob and the row."""
    kept = await _archive(bench, _LARGE + "kept")
    await bench.blobs.put("somewhere/left-behind.zst", b"left behind")
    retention = bench.retention()
    assert await retention.collect_orphans() == []
    clock.time = datetime.now(UTC) + timedelta(hours=2)
    assert await retention.collect_orphans(dry_run=True) == ["somewhere/left-behind.zst"]
    assert len(bench.files()) == 2
    assert await retention.collect_orphans() == ["somewhere/left-behind.zst"]
    assert await bench.manager().load_tool_result(kept) == _LARGE + "kept"
    assert len(bench.files()) == 1


async def test_a_blob_store_that_fails_leaves_no_row(bench: ArchiveBench):
    put = bench.blobs.put

    async def fail(key: str, content: bytes) -> None:
        raise StorageError("The disk is full", code="blobs_unreachable")

    bench.blobs.put = fail
    with pytest.raises(StorageError):
        await _archive(bench, _LARGE)
    assert await bench.archives.find([ANN]) == []
    bench.blobs.put = put
    assert await bench.manager().load_tool_result(await _archive(bench, _LARGE)) == _LARGE


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_archives_are_found_by_words_of_their_passages(bench: ArchiveBench, language: str):
    question, answer = ANSWERS[language]
    text = manual(language)
    archive_id = await _archive(bench, text)
    assert await bench.search(question) == []
    assert await bench.worker.run_due() == 1
    best = (await bench.search(question))[0]
    assert (best.kind, best.owner) == ("archive", archive_id)
    assert answer in text[slice(*best.span)]
    await bench.retention(max_count=0).sweep(ANN)
    assert await bench.search(question) == []


async def test_a_very_large_result_is_indexed_at_its_beginning_and_says_so(bench: ArchiveBench):
    text = "first words here\n" * 100 + "filler\n" * 200_000 + "unreachable\n"
    await _archive(bench, text)
    (archive,) = await bench.archives.find([ANN])
    assert archive.indexed_chars == 300_000
    assert archive.indexed_chars < archive.chars
    await bench.worker.run_due()
    assert await bench.search("first words") != []
    # Beyond what is indexed only the digest tells of it.
    assert "unreachable" in archive.summary
    assert [found.span for found in await bench.search("unreachable")] == [(0, 300_000)]


async def test_an_archive_that_is_gone_before_it_was_indexed_leaves_nothing(bench: ArchiveBench):
    await _archive(bench, _LARGE)
    await bench.retention(max_count=0).sweep(ANN)
    assert await bench.worker.run_due() == 1
    assert await bench.search("审批流") == []


async def test_while_the_model_fails_archives_are_found_by_words_and_tried_again(
    tmp_path: Path, clock: TurnedClock
):
    embedder = FakeEmbedder()
    embedder.is_broken = True
    async with open_bench(tmp_path, clock, embedder) as bench:
        await _archive(bench, manual("en", 12_000))
        await bench.worker.run_due()
        assert await bench.search("cost centre") != []
        assert await _vectors(bench) == 0
        embedder.is_broken = False
        clock.turn(minutes=1)
        await bench.worker.run_due()
        assert await _vectors(bench) > 5
        assert await bench.indexer.reindex() == 0


async def _vectors(bench: ArchiveBench) -> int:
    return await bench.database.read(
        lambda connection: connection.exec_driver_sql("SELECT count(*) FROM vectors").scalar_one()
    )


async def test_what_another_analyzer_indexed_is_indexed_again(tmp_path: Path, clock: TurnedClock):
    terms = "SELECT analyzer, terms FROM units ORDER BY ordinal"
    async with open_bench(tmp_path, clock, FakeEmbedder("old")) as bench:
        archive_id = await _archive(bench, manual("en", 12_000))
        await bench.worker.run_due()
        indexed, vectors = await _rows(bench, terms), await _vectors(bench)
        await _rows(bench, "UPDATE units SET analyzer = 'old', terms = x'' RETURNING id")
    async with open_bench(tmp_path, clock) as bench:
        assert await bench.worker.run_due() == 1
        assert await _rows(bench, terms) == indexed
        assert await _vectors(bench) == vectors
        assert await bench.indexer.reindex() == 0
        assert await bench.manager().load_tool_result(archive_id)


async def test_an_archive_that_is_damaged_is_found_as_before_under_a_new_analyzer(
    tmp_path: Path, clock: TurnedClock
):
    terms = "SELECT ordinal, terms FROM units ORDER BY ordinal"
    async with open_bench(tmp_path, clock) as bench:
        await _archive(bench, manual("en", 12_000))
        await bench.worker.run_due()
        indexed = await _rows(bench, terms)
        await _rows(bench, "UPDATE units SET analyzer = 'old' RETURNING id")
        for file in bench.files():
            file.unlink()
    async with open_bench(tmp_path, clock) as bench:
        assert await bench.worker.run_due() == 1
        assert await _rows(bench, terms) == indexed
        assert await _rows(bench, "SELECT count(*) FROM units WHERE analyzer = 'old'") == [(0,)]


async def _rows(bench: ArchiveBench, query: str) -> list[tuple[Any, ...]]:
    return await bench.database.write(
        lambda connection: [tuple(it) for it in connection.exec_driver_sql(query)]
    )


# Archives without pause and says each id only after the call has returned.
_ARCHIVER = """
import asyncio, sys
from pathlib import Path
from recollect.ports.runtime import SystemClock
from tests.integration.archive_bench import open_bench
from recollect.context.placeholder import find_placeholders

async def main():
    async with open_bench(Path(sys.argv[1]), SystemClock()) as bench:
        for number in range(1000):
            text = f"result {number} 第{number}号\\n" * 1000
            shown = await bench.manager().process_tool_result("t", number, text, "s")
            print(number, next(find_placeholders(shown))[2].id, flush=True)

asyncio.run(main())
"""


def _archive_until_killed(folder: Path) -> list[list[str]]:
    """The archives that a process acknowledged before it was killed."""
    command = [WARM, "-c", _ARCHIVER, str(folder)]
    with Child(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(0.5)
        process.kill()
        lines = [first, *process.stdout.readlines()]
    return [line.split() for line in lines if line.endswith("\n")]


async def test_what_was_acknowledged_survives_kill_9(tmp_path: Path, clock: TurnedClock):
    acknowledged = await asyncio.to_thread(_archive_until_killed, tmp_path)
    assert acknowledged
    async with open_bench(tmp_path, clock) as bench:
        for number, archive_id in acknowledged:
            text = await bench.manager().load_tool_result(archive_id)
            assert text == f"result {number} 第{number}号\n" * 1000
        rows = await bench.archives.find([ANN])
        # Not even an unacknowledged archive is without its content.
        for archive in rows:
            await bench.manager().load_tool_result(archive.id)


def _rounds(shown: Sequence[str], placeholders: Sequence[str], loaded: Sequence[str]) -> int:
    """Tokens sent over all rounds: each sends the placeholders of those before it."""
    small = [TOKENS.count(it) for it in placeholders]
    own = [TOKENS.count(it) for it in shown]
    extra = [TOKENS.count(it) for it in loaded] or [0] * len(own)
    return sum(sum(small[:turn]) + own[turn] + extra[turn] for turn in range(len(own)))


async def _ten_rounds(bench: ArchiveBench, language: str) -> dict[str, int]:
    """Tokens over the seed's ten rounds of 50,000 characters, for each way of showing them."""
    question, _ = ANSWERS[language]
    texts = [manual(language, seed=number) for number in range(10)]
    inline = sum(TOKENS.count(text) * (10 - turn) for turn, text in enumerate(texts))
    figures = {"inline": inline}
    for show in ("passages", "full", "placeholder"):
        manager = bench.manager(options=ArchiveSettings(show=show, full_tokens=60_000))
        shown = [
            await manager.process_tool_result("docs", {"query": question}, text, f"{show} {turn}")
            for turn, text in enumerate(texts)
        ]
        placeholders = [str(_placeholder_in(it)) for it in shown]
        figures[show] = _rounds(shown, placeholders, ())
        if show == "passages":
            # From the second round on, the result of the round before is loaded whole.
            loaded = ["", *texts[:-1]]
            figures["passages and one full load a round"] = _rounds(shown, placeholders, loaded)
    return figures


# The journey of working memory tells it in both languages, of a whole session.
@pytest.mark.soak
@pytest.mark.parametrize("language", ["zh", "en"])
async def test_ten_rounds_of_large_results_cost_a_fifth_at_most(bench: ArchiveBench, language: str):
    figures = await _ten_rounds(bench, language)
    assert figures["passages"] <= 0.2 * figures["inline"]
    assert figures["placeholder"] < figures["passages"] < figures["full"] < figures["inline"]
    assert figures["passages and one full load a round"] < 0.5 * figures["inline"]


@pytest.mark.soak
async def test_figures_of_the_archive(tmp_path: Path):
    figures: dict[str, Any] = {}
    async with open_bench(tmp_path, SystemClock()) as bench:
        for language in ("zh", "en"):
            figures[f"tokens of ten rounds, {language}"] = await _ten_rounds(bench, language)
            question, _ = ANSWERS[language]
            took: list[float] = []
            worked: list[float] = []
            for number in range(40):
                text = manual(language, seed=100 + number)
                began, at_work = time.perf_counter(), time.process_time()
                await bench.manager().process_tool_result("t", {"query": question}, text, "speed")
                took.append(1_000 * (time.perf_counter() - began))
                worked.append(1_000 * (time.process_time() - at_work))
            figures[f"50,000 characters archived, {language}, p50 ms"] = median(took)
            # What others do on the machine does not count here.
            figures[f"50,000 characters archived, {language}, processor p50 ms"] = median(worked)
            assert median(worked) <= 20, figures
        largest = bytes(range(256)) * 4 * 102_400
        began = time.perf_counter()
        archive_id = await _archive(bench, largest)
        figures["100 MB archived, s"] = time.perf_counter() - began
        began = time.perf_counter()
        assert await bench.manager().load_tool_result(archive_id) == largest
        figures["100 MB loaded, s"] = time.perf_counter() - began
    write_report("archive", figures)


def test_an_archive_says_whether_it_has_expired(clock: TurnedClock):
    archive = Archive(
        id="arc_1",
        scope=ANN,
        session="s",
        thread=None,
        tool="t",
        input="null",
        input_hash="",
        query="",
        summary="",
        sources=(),
        form="text",
        content_hash="",
        chars=1,
        lines=1,
        bytes=1,
        indexed_chars=1,
        created_at=clock.now(),
        expires_at=clock.now() + timedelta(days=1),
    )
    assert not archive.is_expired(clock.now())
    assert archive.is_expired(clock.turn(days=1))
    assert not replace(archive, expires_at=None).is_expired(clock.now())
