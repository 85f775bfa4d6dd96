"""A script tells an agent something and ends; whoever asks next is answered."""

import asyncio
import gzip
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from recollect import Memory
from recollect.adapters.plain import wrap
from recollect.domain.record import Status
from recollect.sync import Memory as BlockingMemory
from tests.database_servers import environment_of, place_of
from tests.nursery import WARM
from tests.processes import RECOLLECT, Child
from tests.reports import write_report
from tests.serving import served

_FACTS = {
    "My name is Marta.": "User's name is Marta",
    "I live in Lisbon.": "User lives in Lisbon",
    "I'm allergic to peanuts.": "User is allergic to peanuts",
    "I work at Acme as a nurse.": "User works at Acme as a nurse",
    "我女儿叫米娅。": "用户的女儿叫米娅",
    "我对花粉过敏。": "用户对花粉过敏",
    "我不吃猪肉。": "用户不吃猪肉",
    "我喜欢靠窗的座位。": "用户喜欢靠窗的座位",
}
_TELL = f"""
import asyncio, sys
from recollect import Memory

async def main():
    async with Memory.open(sys.argv[1]) as memory:
        session = memory.session("first")
        for text in {[*_FACTS]!r}:
            await session.observe({{"role": "user", "content": text}})
        await session.end()

asyncio.run(main())
"""
_ASK = """
import asyncio, json, sys
from recollect import Memory

async def main():
    async with Memory.open(sys.argv[1]) as memory:
        known = [record.content for record in await memory.list(limit=100)]
        found = await memory.recall("Where do I live?")
        print(json.dumps({"known": known, "first": found[0].content if found else ""}))

asyncio.run(main())
"""


def _run(script: str, database: Path) -> str:
    return subprocess.run(
        [WARM, "-c", script, place_of(database)],
        env=environment_of(database),
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def _ask(database: Path) -> tuple[set[str], str]:
    """What a new process finds: the facts that are kept, and the first answer."""
    answer = json.loads(_run(_ASK, database))
    return {*_FACTS.values()} & {*answer["known"]}, answer["first"]


@pytest.fixture
def as_delivered(monkeypatch: pytest.MonkeyPatch, own_settings: None) -> None:
    """With the models and the times that a new user has."""
    for name in ("EMBEDDING__MODEL", "WRITING__JUDGE", "WRITING__CLOSE_SECONDS"):
        monkeypatch.delenv(f"RECOLLECT_{name}")


@pytest.fixture
def closing(monkeypatch: pytest.MonkeyPatch, own_settings: None) -> None:
    """Closing waits for reading, as it does by default; but long enough on a busy machine."""
    monkeypatch.setenv("RECOLLECT_WRITING__CLOSE_SECONDS", "60")


# --- The script that everybody writes first -------------------------------------------------------


def test_a_script_tells_eight_facts_and_the_next_one_knows_them(
    as_delivered: None, database_path: Path
):
    _run(_TELL, database_path)
    known, first = _ask(database_path)
    assert len(known) == 8
    assert "Lisbon" in first


@contextmanager
def _busy(count: int) -> Iterator[None]:
    """Keep as many processors busy."""
    loops = [subprocess.Popen([WARM, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@pytest.mark.soak
@pytest.mark.timeout(7_200)
def test_a_hundred_scripts_tell_eight_facts_each(as_delivered: None, tmp_path: Path):
    figures: dict[str, object] = {}
    kept: list[int] = []
    for load, loops in {"idle": 0, "full load": 2 * (os.cpu_count() or 1)}.items():
        seconds: list[float] = []
        found: list[int] = []
        with _busy(loops):
            for number in range(50):
                database = tmp_path / f"{loops}-{number}.db"
                began = time.monotonic()
                _run(_TELL, database)
                seconds.append(time.monotonic() - began)
                found.append(len(_ask(database)[0]))
        kept += found
        figures[load] = {
            "scripts": len(found),
            "with_all_facts": found.count(len(_FACTS)),
            "fewest_facts": min(found),
            "busy_loops": loops,
            "seconds_median": round(sorted(seconds)[len(seconds) // 2], 2),
            "seconds_longest": round(max(seconds), 2),
        }
    write_report("nothing-told-is-lost", figures)
    assert kept == [len(_FACTS)] * 100


# --- What closing says, and how a later opening goes on -------------------------------------------


async def _facts(memory: Memory) -> set[str]:
    return {*_FACTS.values()} & {it.content for it in (await memory.list(limit=100)).items}


async def _facts_soon(memory: Memory, count: int = len(_FACTS)) -> set[str]:
    """What is known as soon as so many facts are, or after half a minute."""
    for _ in range(300):
        if len(known := await _facts(memory)) >= count:
            return known
        await asyncio.sleep(0.1)
    return await _facts(memory)


async def test_ending_says_what_is_still_to_be_read_and_closing_reads_it(
    closing: None, database_path: Path
):
    memory = await Memory.open(database_path)
    async with memory.session("first") as session:
        await session.observe([{"role": "user", "content": text} for text in _FACTS])
        assert (await session.end()).turns == 8
    assert (session.unread.turns, session.unread.sessions) == (8, 1)
    assert not await memory.close()

    async with Memory.open(database_path) as memory:
        assert len(await _facts(memory)) == 8


async def test_what_was_said_in_no_session_of_its_own_is_read_when_memory_is_closed(
    closing: None, database_path: Path
):
    async with Memory.open(database_path) as memory:
        ann = memory.scope(user="ann")
        await ann.observe({"role": "user", "content": "My name is Marta."})
        async with ann.session("left") as session:
            await session.observe({"role": "user", "content": "I live in Lisbon."})
        assert session.unread.turns == 1

    async with Memory.open(database_path) as memory:
        assert len(await _facts(memory.scope(user="ann"))) == 2


async def test_closing_at_once_says_what_is_left_and_the_next_opening_goes_on(
    database_path: Path, caplog: pytest.LogCaptureFixture
):
    memory = await Memory.open(database_path)
    await memory.observe([{"role": "user", "content": text} for text in _FACTS], session="s")
    left = await memory.close()
    assert (left.turns, left.sessions) == (8, 1)
    (line,) = [it for it in caplog.messages if "still to be read" in it]
    assert line.startswith("8 turns of 1 sessions are still to be read; the next opening goes on")

    async with Memory.open(database_path) as memory:
        assert len(await _facts_soon(memory)) == 8
    assert len([it for it in caplog.messages if "still to be read" in it]) == 1


async def test_where_nothing_may_be_read_nothing_is_left(
    monkeypatch: pytest.MonkeyPatch, database_path: Path
):
    monkeypatch.setenv("RECOLLECT_WRITING__POLICY", "off")
    memory = await Memory.open(database_path)
    async with memory.session("first") as session:
        await session.observe({"role": "user", "content": "My name is Marta."})
        assert not await session.end()
    assert not await memory.close()


def test_the_blocking_memory_reads_before_it_is_closed_too(closing: None, database_path: Path):
    with BlockingMemory.open(database_path) as memory, memory.session("s") as session:
        session.observe([{"role": "user", "content": text} for text in _FACTS])
        assert session.end().turns == 8
    memory = BlockingMemory.open(database_path)
    known = {it.content for it in memory.list(limit=100).items}
    assert not memory.close()
    assert {*_FACTS.values()} <= known


@pytest.mark.parametrize("leaves", [True, False])
async def test_what_an_adapter_heard_is_read_when_its_memory_is_closed(
    closing: None, database_path: Path, leaves: bool
):
    async with Memory.open(database_path) as memory:
        said = [{"role": "user", "content": text} for text in _FACTS]
        chat = wrap(memory.scope(user="me"), said)
        await chat.to_send()
        if leaves:
            await chat.leave()
    async with Memory.open(database_path) as memory:
        assert len(await _facts(memory)) == 8


@pytest.mark.several_programs
async def test_a_server_reads_what_clients_told_before_it_stops(closing: None, database_path: Path):
    async with (
        served(database_path) as address,
        Memory.open(address) as memory,
        memory.session("first") as session,
    ):
        await session.observe([{"role": "user", "content": text} for text in _FACTS])
        assert (await session.close()).turns == 8
    async with Memory.open(database_path) as memory:
        assert len(await _facts(memory)) == 8


# --- Killed in the middle -------------------------------------------------------------------------

_KILLED = """
import asyncio, sys
from recollect import Memory
from recollect.writing.pipeline import WritePipeline

async def main():
    memory = await Memory.open(sys.argv[1])
    session = memory.session("first")
    await session.observe([{{"role": "user", "content": text}} for text in {facts!r}])
    if {ends}:
        await session.end()

        async def take(*given, **named):
            print("reading", flush=True)
            await asyncio.sleep(600)

        WritePipeline.take = take
        await memory.drain()
    print("told", flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.parametrize("ends", [True, False])
async def test_what_a_killed_process_was_reading_is_read_after_the_next_opening(
    database_path: Path, ends: bool
):
    script = _KILLED.format(facts=[*_FACTS], ends=ends)
    command = [WARM, "-c", script, place_of(database_path)]
    environment = environment_of(database_path)
    with Child(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == ("reading" if ends else "told")
        process.kill()

    began = time.monotonic()
    async with Memory.open(database_path) as memory:
        assert len(await _facts_soon(memory)) == 8
    assert time.monotonic() - began < 50, "the lease of a killed process is not waited for"


@pytest.mark.several_programs
@pytest.mark.parametrize("ends_politely", [True, False])
def test_a_client_that_closes_the_pipe_at_once_does_not_keep_mcp_from_reading(
    closing: None, database_path: Path, monkeypatch: pytest.MonkeyPatch, ends_politely: bool
):
    with monkeypatch.context() as patch:
        patch.setenv("RECOLLECT_WRITING__CLOSE_SECONDS", "0")
        _run(_TELL, database_path)
    command = [*RECOLLECT, "--data", place_of(database_path), "mcp"]
    with Child(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.close()
        if not ends_politely:
            process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
    if ends_politely:
        memory = BlockingMemory.open(database_path)
        known = {it.content for it in memory.list(limit=100).items}
        memory.close()
        assert {*_FACTS.values()} <= known
    assert len(_ask(database_path)[0]) in (0, 8), "all of it, or it is read later"


@pytest.mark.several_programs
def test_the_command_line_reads_what_it_observes(closing: None, database_path: Path):
    told = {text: fact for text, fact in _FACTS.items() if "Marta" in text or "花粉" in text}
    for text in told:
        command = [*RECOLLECT, "--data", place_of(database_path), "observe", text, "--session", "s"]
        subprocess.run(command, check=True, capture_output=True)
    assert _ask(database_path)[0] == {*told.values()}


@pytest.mark.several_programs
def test_the_command_line_says_what_it_could_not_read(database_path: Path):
    command = [*RECOLLECT, "--data", place_of(database_path), "observe", "My name is Marta."]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stderr == "1 message is still to be read; the next command goes on with that.\n"


# --- What an earlier release lost -----------------------------------------------------------------

_LOST = Path(__file__).parent.parent / "data" / "lost_readings.db.gz"
"""Made by the release that lost facts: it read sessions after it had summed them up."""


@pytest.mark.sqlite
async def test_what_an_earlier_release_lost_is_read_again_once(database_path: Path):
    database_path.write_bytes(gzip.decompress(_LOST.read_bytes()))
    async with Memory.open(database_path) as root:
        await root.drain()
        marta, li = root.scope(user="marta"), root.scope(user="li")
        known = [it.content for it in (await marta.list(limit=100)).items if it.source != "session"]
        assert sorted(known) == [
            "User collects old maps",
            "User has a dog named Rex",
            "User is allergic to peanuts",
            "User is vegetarian",
            "User lives in Lisbon",
            "User plays the cello",
            "User speaks Portuguese",
            "User works at Acme",
            "User's brother is called Tom",
            "User's daughter is called Mia",
            "User's name is Marta",
            "User's son is called Leo",
            "用户不吃猪肉",
            "用户对花粉过敏",
        ]
        deleted = await marta.list(limit=100, status=Status.DELETED)
        assert [it.content for it in deleted] == ["User's birthday is on 4 May"]
        theirs = [it.content for it in (await li.list(limit=100)).items if it.source != "session"]
        assert sorted(theirs) == ["用户住在杭州", "用户叫李娜", "用户在医院工作", "用户对花生过敏"]
        assert all(it.evidence_count == 1 for it in (await marta.list(limit=100)).items)
        gone = next(it for it in await marta.list(limit=100) if it.content.endswith("Lisbon"))
        await marta.delete(gone.id)

    async with Memory.open(database_path) as root:
        await root.drain()
        marta = root.scope(user="marta")
        assert "User lives in Lisbon" not in {it.content for it in await marta.list(limit=100)}
        assert len(known) - 1 == len([it for it in await marta.list(limit=100) if it.source == ""])
