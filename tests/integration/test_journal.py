"""Memory as a journal of JSON lines in a folder: `json:///FOLDER`."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

import pytest

from recollect import Memory
from recollect.assemble.doctor import diagnose
from recollect.assemble.stores import copy_store
from recollect.backends.sql import journaled_database
from recollect.errors import StorageError
from recollect.settings import Settings
from tests.command_line import CommandLine
from tests.nursery import WARM
from tests.processes import Child

pytestmark = pytest.mark.sqlite(reason="its stores are journals")

# Saves without pause and says each text only after `remember` has returned.
_SAVER = """
import asyncio, sys
from recollect import Memory

async def main():
    async with Memory.open(sys.argv[1]) as memory:
        for number in range(1000):
            await memory.remember(f"parcel {number} on shelf {number % 37} 第{number}号")
            print(number, flush=True)

asyncio.run(main())
"""


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "memory.jsonl"


@pytest.fixture
def url(journal: Path) -> str:
    return f"json://{journal.parent}"


async def _contents(url: str) -> set[str]:
    async with Memory.open(url) as memory:
        return {it.content for it in await memory.list(limit=1000)}


async def test_everything_is_there_again_and_the_file_is_plain_json(url: str, journal: Path):
    async with Memory.open(url) as memory:
        tea = await memory.remember("Ann drinks green tea", metadata={"杯": [1, None, 0.1]})
        await memory.update(tea.id, "Ann drinks black tea")
        await memory.observe({"role": "user", "content": "我喜欢绿茶"}, session="s")
        gone = await memory.remember("Bob drinks coffee")
        await memory.delete(gone.id)
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    told = [row for line in lines[1:] for row in line["commit"]["rows"]]
    assert any(table == "records" and row["content"] == tea.content for table, row in told)

    async with Memory.open(url) as memory:
        assert (await memory.recall("which tea?")).hits[0].content == "Ann drinks black tea"
        assert len(await memory.history(tea.id)) == 2
        assert (await memory.get(tea.id)).metadata == tea.metadata
        assert [it.content for it in await memory.turns(session="s")] == ["我喜欢绿茶"]
        assert (await memory.undo(gone.id)).content == "Bob drinks coffee"
        assert (await memory.audit.verify()).is_intact
    assert {it.name for it in journal.parent.iterdir()} >= {"memory.jsonl"}
    assert not (journal.parent / "working.db").exists()


async def test_what_was_acknowledged_before_a_kill_is_there_and_what_was_torn_is_not(
    url: str, journal: Path
):
    command = [WARM, "-c", _SAVER, url]
    with Child(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(20)]
        process.kill()
        lines += process.stdout.readlines()
    acknowledged = {
        f"parcel {number} on shelf {number % 37} 第{number}号"
        for number in (int(line) for line in lines if line.endswith("\n"))
    }
    assert acknowledged <= await _contents(url)

    with journal.open("ab") as file:
        file.write(b'{"crc32":"00000000","commit":{"generation":0,"rows":[["rec')
    assert acknowledged <= await _contents(url)
    async with Memory.open(url) as memory:
        await memory.remember("afterwards")
    assert "afterwards" in await _contents(url)


async def test_damage_in_the_middle_is_told_with_a_way_that_works(url: str, journal: Path):
    async with Memory.open(url) as memory:
        await memory.remember("Tea is green")
    kept = journal.read_bytes()
    async with Memory.open(url) as memory:
        await memory.remember("Coffee is black")
        await memory.remember("Milk is white")
    journal.write_bytes(journal.read_bytes().replace(b"Coffee is black", b"Coffee is BLACK"))
    with pytest.raises(StorageError) as refused:
        await Memory.open(url)
    assert refused.value.code == "database_corrupt"
    assert not (journal.parent / "working.db").exists()
    (finding,) = [it for it in (await diagnose(Settings.at(url))).findings if it.part == "database"]
    assert finding.verdict == "problem"

    way = (refused.value.hint or "").partition("after it: ")[2]
    await asyncio.to_thread(subprocess.run, ["sh", "-c", way], cwd=journal.parent, check=True)
    assert journal.read_bytes().startswith(kept)
    # The audit had gone further, and what lies beside the journal knows it.
    with pytest.raises(StorageError) as refused:
        await Memory.open(url)
    assert refused.value.code == "database_older"
    (journal.parent / "working.db-audit-anchor.json").unlink()
    assert await _contents(url) == {"Tea is green"}


async def test_what_is_forgotten_is_not_in_the_journal(url: str, journal: Path):
    async with Memory.open(url) as memory:
        ann = memory.scope(user="ann")
        await ann.remember("Ann's locker code is zanzibar")
        await memory.scope(user="bob").remember("Bob likes tea")
        assert "zanzibar" in journal.read_text()
        done = await ann.forget(user="ann", verify=True)
        assert done.verification is not None
        assert done.verification.traces == ()
        assert f"the file {journal.name}" in done.verification.searched
        assert "zanzibar" not in journal.read_text()
    assert "zanzibar" not in journal.read_text()
    async with Memory.open(url) as memory:
        assert len(await memory.scope(user="bob").list()) == 1


async def test_a_journal_that_has_grown_is_written_anew(
    url: str, journal: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(journaled_database, "_LONG_BYTES", 20_000)
    async with Memory.open(url) as memory:
        tea = await memory.remember("Tea number 0")
        sizes = [journal.stat().st_size]
        for number in range(1, 30):
            await memory.update(tea.id, f"Tea number {number}")
            sizes.append(journal.stat().st_size)
        assert sizes != sorted(sizes)
    async with Memory.open(url) as memory:
        assert (await memory.get(tea.id)).content == "Tea number 29"
        assert len(await memory.history(tea.id)) == 30


async def test_a_second_program_is_told_that_it_is_open(url: str):
    async with Memory.open(url) as memory:
        with pytest.raises(StorageError) as refused:
            await Memory.open(url)
        assert refused.value.code == "database_in_use"
        await memory.remember("still here")
    assert await _contents(url) == {"still here"}


async def test_a_memory_moves_to_a_journal_and_back(url: str, tmp_path: Path):
    async with Memory.open(tmp_path / "first.db") as memory:
        tea = await memory.remember("Ann drinks green tea")
        await memory.update(tea.id, "Ann drinks black tea")
    there = await copy_store(Settings.at(tmp_path / "first.db"), Settings.at(url))
    back = await copy_store(Settings.at(url), Settings.at(tmp_path / "second.db"))
    assert there.rows == back.rows
    async with Memory.open(tmp_path / "second.db") as memory:
        assert (await memory.recall("tea")).hits[0].content == "Ann drinks black tea"
        assert len(await memory.history(tea.id)) == 2


def test_the_command_line_takes_the_address(
    url: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
):
    said = CommandLine(capfdbinary)
    assert said("remember", "Tea is green", "--data", url).status == 0
    assert "Tea is green" in said("recall", "tea", "--data", url).out
    assert said("doctor", "--data", url).status == 0
    copied = tmp_path / "copy.db"
    assert said("backup", str(copied), "--data", url).status == 0
    refused = said("restore", str(copied), "--data", url, "--json")
    assert refused.error["code"] == "restore_by_copy"


async def test_an_agent_has_a_journal_and_another_forgets_with_the_process(tmp_path: Path):
    agents = {"a": {"store": "lines"}, "b": {"store": "brief"}, "c": {"backend": "json"}}
    stores = {"lines": {"url": f"json://{tmp_path / 'lines'}"}, "brief": {"url": "in_memory://"}}
    settings = Settings.load({"data_dir": tmp_path, "agents": agents, "stores": stores})
    for _ in range(2):
        async with Memory.open(settings) as memory:
            for agent in agents:
                await memory.scope(agent=agent).remember(f"{agent} was here")
    async with Memory.open(settings) as memory:
        kept = {agent: len(await memory.scope(agent=agent).list()) for agent in agents}
    assert kept == {"a": 2, "b": 0, "c": 2}
    assert "a was here" in (tmp_path / "lines" / "memory.jsonl").read_text()
    assert "c was here" in (tmp_path / "c.journal" / "memory.jsonl").read_text()
