"""Archived tool results as a memory and the command line see them: listed, swept, told better."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import recollect.sync
from recollect import Memory
from recollect.domain.archive import Archive
from recollect.errors import InvalidInput, NotFound
from recollect.settings import Settings
from tests.chat_server import Answer, ChatServer, chat_server, openai_text, refusal
from tests.command_line import CommandLine
from tests.conftest import TurnedClock
from tests.integration.archive_texts import manual

TOLD = {
    "en": "The manual of the ledger: how permissions, exports and the tax rate are configured, "
    "and what to do when a step fails.",
    "zh": "该手册说明权限、导出和税率如何配置，以及某一步失败时应当怎样处理，"
    "并逐条列出各模块的注意事项和常见问题。",
}


async def archived(memory: Memory, result: str | bytes, session: str = "s") -> Archive:
    manager = memory.session(session).archive
    await manager.process_tool_result("search", {"query": "q"}, result, session)
    return (await memory.archives.list(limit=1))[0]


@asynccontextmanager
async def with_model(folder: Path, server: ChatServer, *answers: Answer) -> AsyncIterator[Memory]:
    server.answers = [*answers]
    models = {
        "summarise": "openai:small",
        "providers": {"openai": {"base_url": f"{server.url}/v1"}},
        "retries": 0,
    }
    async with Memory.open(Settings.load({"data_dir": folder, "models": models})) as memory:
        yield memory


async def test_archives_are_listed_newest_first_by_session_and_tool(
    memory: Memory, clock: TurnedClock
):
    first = await archived(memory, manual("en"), session="a")
    clock.turn(minutes=1)
    second = await archived(memory, manual("zh"), session="b")
    assert (await memory.archives.list()).items == (second, first)
    assert (await memory.archives.list(session="a")).items == (first,)
    assert (await memory.archives.list(tool="other")).items == ()
    assert (await memory.archives.list(limit=1)).items == (second,)
    assert await memory.archives.get(first.id) == first
    with pytest.raises(NotFound, match="unknown_archive"):
        await memory.archives.get("arc_unknown")
    with pytest.raises(InvalidInput):
        await memory.archives.list(limit=0)


async def test_those_of_others_are_neither_seen_nor_swept(memory: Memory, clock: TurnedClock):
    bob = memory.scope(user="bob")
    theirs = await archived(bob, manual("en"))
    clock.turn(days=31)
    assert (await memory.archives.list()).items == ()
    with pytest.raises(NotFound):
        await memory.archives.get(theirs.id)
    assert (await memory.archives.sweep()).archives == ()
    assert (await bob.archives.list()).items == (theirs,)


async def test_a_dry_run_tells_what_a_sweep_removes(memory: Memory, clock: TurnedClock):
    old = await archived(memory, manual("en"))
    clock.turn(days=20)
    young = await archived(memory, manual("zh"))
    clock.turn(days=15)
    told = await memory.archives.sweep(dry_run=True)
    assert (told.archives, told.is_dry_run, told.bytes) == ((old,), True, old.bytes)
    assert (await memory.archives.list()).items == (young, old)
    swept = await memory.archives.sweep()
    assert (swept.archives, swept.is_dry_run) == ((old,), False)
    assert (await memory.archives.list()).items == (young,)
    with pytest.raises(NotFound):
        await memory.load_tool_history(old.id)


def test_blocking_code_sees_them_too(tmp_path: Path):
    with recollect.sync.Memory.open(tmp_path / "memory.db") as memory:
        memory.session("s").archive.process_tool_result("t", {}, manual("en"), "s")
        (archive,) = memory.archives.list()
        assert memory.archives.get(archive.id) == archive
        assert memory.archives.sweep(dry_run=True).archives == ()


# --- Better summaries ----------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_model_tells_later_what_a_result_says(tmp_path: Path, language: Any):
    with chat_server() as server:
        async with with_model(tmp_path, server, openai_text(f"  {TOLD[language]}\n")) as memory:
            archive = await archived(memory, manual(language))
            assert archive.summary != TOLD[language]
            await memory.drain()
            assert (await memory.archives.get(archive.id)).summary == TOLD[language]
            loaded = await memory.load_tool_history(archive.id)
            assert TOLD[language][:100] in loaded
            # Indexing it again asks for nothing: it was told better already.
            await memory.reindex()
            await memory.drain()
    assert len(server.bodies) == 1
    assert manual(language)[:30] in str(server.bodies[0])


@pytest.mark.parametrize(
    "answer",
    [
        openai_text("The report of 2031 says that 99,731 widgets were sold to Zebulon Inc."),
        openai_text("A manual."),
        openai_text(""),
        refusal(400),
    ],
    ids=["not in it", "next to nothing", "empty", "refused"],
)
async def test_what_a_model_makes_up_or_refuses_leaves_the_summary_as_it_is(
    tmp_path: Path, answer: Answer
):
    with chat_server() as server:
        async with with_model(tmp_path, server, answer) as memory:
            archive = await archived(memory, manual("en"))
            await memory.drain()
            assert (await memory.archives.get(archive.id)).summary == archive.summary
            assert (await memory.stats()).jobs.failed == 0
    assert server.bodies


async def test_a_model_that_is_busy_is_asked_again(tmp_path: Path):
    with chat_server() as server:
        answers = (refusal(503), openai_text(TOLD["en"]))
        async with with_model(tmp_path, server, *answers) as memory:
            archive = await archived(memory, manual("en"))
            await memory.drain()
            assert (await memory.archives.get(archive.id)).summary == TOLD["en"]


async def test_a_result_that_is_no_text_is_not_asked_about(tmp_path: Path):
    with chat_server() as server:
        async with with_model(tmp_path, server, openai_text(TOLD["en"])) as memory:
            await archived(memory, b"\x89PNG" + b"\xff" * 20_000)
            await memory.drain()
    assert server.bodies == []


# --- The command line ----------------------------------------------------------------------------


@pytest.fixture
def cli(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> CommandLine:
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(tmp_path / "data"))
    return CommandLine(capfdbinary)


@pytest.fixture
def put_away(tmp_path: Path) -> Callable[[str], str]:
    def put(text: str) -> str:
        with recollect.sync.Memory.open(tmp_path / "data") as memory:
            memory.session("s").archive.process_tool_result("search", {"q": "茶"}, text, "s")
            return memory.archives.list(limit=1)[0].id

    return put


def test_archives_at_the_command_line(cli: CommandLine, put_away: Callable[[str], str]):
    cli("remember", "Ann likes tea")
    assert "No archived tool results" in cli("archives", "list").out
    text = manual("zh")
    archive = put_away(text)
    assert archive in cli("archives", "list").out
    (item,) = cli("archives", "list", "--session", "s", "--json").json["items"]
    assert (item["id"], item["tool"], item["chars"]) == (archive, "search", len(text))
    assert text[-50:] in cli("archives", "show", archive).out.replace("\n\n", "\n")
    shown = cli("archives", "show", archive, "--range", "chars 0-40", "--json").json
    assert text[:40] in shown["text"]
    assert cli("archives", "show", "arc_unknown", "--json").error["code"] == "unknown_archive"
    told = cli("archives", "sweep", "--dry-run")
    assert "0 archives (0 bytes) would be removed." in told.out
    assert cli("archives", "sweep", "--json").json["archives"] == []


def test_a_sweep_at_the_command_line_keeps_to_the_settings(
    cli: CommandLine, put_away: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
):
    archive = put_away(manual("en"))
    put_away(manual("zh"))
    monkeypatch.setenv("RECOLLECT_ARCHIVE__MAX_COUNT", "1")
    (going,) = cli("archives", "sweep", "--dry-run", "--json").json["archives"]
    assert going["id"] == archive
    assert "1 archives" in cli("archives", "sweep").out
    assert archive not in cli("archives", "list").out
