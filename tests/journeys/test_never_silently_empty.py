"""A memory that lost its file, its log or its end says so; it never opens as an empty one."""

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from recollect import Memory, RecollectError
from recollect.assemble.doctor import diagnose
from recollect.assemble.stores import restore
from recollect.settings import Settings
from tests.nursery import WARM

pytestmark = pytest.mark.sqlite(reason="it is about files")

# Remembers something and is killed: nothing is closed, sealed or brought from the log to the file.
_KILLED = """
import asyncio, os, signal, sys
from recollect import Memory

async def main():
    memory = await Memory.open(sys.argv[1])
    for text in ("first", "second", "third"):
        await memory.remember(text)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""

# Restores a backup, and is killed when it renames or links a file for the n-th time.
_RESTORER = """
import asyncio, os, signal, sys
from pathlib import Path
from recollect.assemble.stores import restore

left = int(sys.argv[3])

def watch(event, arguments):
    global left
    if event in ("os.rename", "os.link", "os.remove"):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(watch)
asyncio.run(restore(Path(sys.argv[1]), Path(sys.argv[2])))
"""


def run(program: str, *arguments: object) -> int:
    command = [WARM, "-c", program, *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, timeout=60).returncode


async def contents(database: Path) -> list[str]:
    async with Memory.open(database) as memory:
        return sorted(record.content for record in await memory.list())


async def refusal(database: Path) -> RecollectError:
    """What opening it says; `doctor` must say the same, and neither may change anything."""
    before = sorted((it.name, it.stat().st_size) for it in database.parent.iterdir())
    with pytest.raises(RecollectError) as refused:
        await Memory.open(database)
    found = await diagnose(Settings.load({"storage": {"path": database}}))
    assert found.verdict == "problem"
    assert refused.value.message in {it.message for it in found.findings}
    after = sorted((it.name, it.stat().st_size) for it in database.parent.iterdir())
    assert after == before
    return refused.value


async def remembered(database: Path, *texts: str) -> None:
    async with Memory.open(database) as memory:
        await memory.remember_many(list(texts))


@pytest.mark.parametrize("what", ["removed", "emptied"])
async def test_a_lost_file_beside_what_belongs_to_it_is_refused(database_path: Path, what: str):
    await remembered(database_path, "kept")
    copy = database_path.with_name("copy.db")
    async with Memory.open(database_path) as memory:
        await memory.backup(copy)
    if what == "removed":
        database_path.unlink()
    else:
        os.truncate(database_path, 0)

    told = await refusal(database_path)
    assert told.code == "database_missing"
    assert "memory.db-audit-anchor.json" in told.message
    assert "recollect restore COPY" in told.hint

    await restore(copy, database_path)
    assert await contents(database_path) == ["kept"]


async def test_every_sign_of_a_memory_keeps_a_new_one_from_being_made(tmp_path: Path):
    signs = ("x.db-forgotten.jsonl", "x.db-audit-anchor.json", "x.db.unfinished", "x.db.copying")
    for sign in (*signs, "x.db.before-restore", "x.db.before-restore2", "x.db-wal"):
        database = tmp_path / sign / "x.db"
        database.parent.mkdir()
        (database.parent / sign).write_bytes(b"something")
        told = await refusal(database)
        assert (told.code, sign in told.hint) == ("database_missing", True)
        (database.parent / sign).unlink()
        assert await contents(database) == []


async def test_a_file_that_was_cut_short_is_damaged(database_path: Path):
    await remembered(database_path, *(f"note {number} " + "x" * 400 for number in range(50)))
    pages = database_path.stat().st_size // 4096
    for kept in (1, 2, pages // 2, pages - 1):
        os.truncate(database_path, kept * 4096)
        assert (await refusal(database_path)).code == "database_corrupt"


async def test_a_log_that_was_taken_away_is_missed(database_path: Path):
    await asyncio.to_thread(run, _KILLED, database_path)
    log = database_path.with_name("memory.db-wal")
    elsewhere = log.rename(database_path.with_name("elsewhere"))
    told = await refusal(database_path)
    assert told.code == "log_missing"
    assert "Put memory.db-wal back" in told.hint
    elsewhere.rename(log)
    assert await contents(database_path) == ["first", "second", "third"]


async def test_whoever_has_only_the_file_has_more_than_nothing(database_path: Path, tmp_path: Path):
    await asyncio.to_thread(run, _KILLED, database_path)
    alone = tmp_path / "alone" / "memory.db"
    alone.parent.mkdir()
    shutil.copy(database_path, alone)
    assert await contents(alone) == ["first"]


async def test_an_older_file_put_in_the_place_of_a_newer_one_is_refused(
    database_path: Path, tmp_path: Path
):
    await remembered(database_path, "Monday")
    shutil.copy(database_path, tmp_path / "monday")
    await remembered(database_path, "Tuesday")
    shutil.copy(database_path, tmp_path / "tuesday")

    shutil.copy(tmp_path / "monday", database_path)
    told = await refusal(database_path)
    assert told.code == "database_older"
    assert "went to 2 and ends at 1" in told.message

    shutil.copy(tmp_path / "tuesday", database_path)
    assert await contents(database_path) == ["Monday", "Tuesday"]
    await restore(tmp_path / "monday", database_path)
    assert await contents(database_path) == ["Monday"]


async def test_a_restore_that_is_killed_leaves_one_database_or_the_other(tmp_path: Path):
    ready = tmp_path / "ready"
    ready.mkdir()
    copy = tmp_path / "copy.db"
    async with Memory.open(ready / "memory.db") as memory:
        await memory.remember("old")
        await memory.backup(copy)
        await memory.remember("new")

    found: list[list[str]] = []
    for step in range(20):
        place = tmp_path / f"killed-{step}"
        shutil.copytree(ready, place)
        ended = await asyncio.to_thread(run, _RESTORER, copy, place / "memory.db", step)
        found.append(await contents(place / "memory.db"))
        if ended == 0:
            break
    assert ended == 0
    # It goes on as before until one moment, and from then on it is the restored one.
    switched = found.index(["old"])
    assert 0 < switched < len(found) - 1
    assert found == [["new", "old"]] * switched + [["old"]] * (len(found) - switched)
