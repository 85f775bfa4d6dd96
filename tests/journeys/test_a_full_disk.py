"""The disk is full: nothing is lost, it is said so, and something can still be removed."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory, RecollectError
from recollect.backends.sql.companions import Reserve, reserve_of
from tests.nursery import WARM
from tests.services import database_of

# Lets no file grow beyond 2 MB, and archives something larger.
_LIMITED = """
import asyncio, os, resource, sys
from recollect import Memory, RecollectError

async def main():
    async with Memory.open(sys.argv[1]) as memory:
        kept = await memory.remember("kept")
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, resource.RLIM_INFINITY))
        archive = memory.session("s").archive
        try:
            await archive.process_tool_result("search", {"q": 1}, os.urandom(4_000_000).hex(), "s")
        except RecollectError as refused:
            print(refused.code, refused.hint, sep="\\n")
        assert await memory.get(kept.id) == kept

asyncio.run(main())
"""


async def test_an_archive_that_does_not_fit_says_that_the_disk_is_full(database_path: Path):
    command = [WARM, "-c", _LIMITED, str(database_path)]
    ended = await asyncio.to_thread(
        subprocess.run, command, check=True, capture_output=True, text=True, timeout=60
    )
    code, hint = ended.stdout.splitlines()
    assert code == "disk_full"
    assert f"Free at least 32 MB on the disk of {database_path}-blobs" in hint
    # Nothing of it lies around.
    assert [
        it for it in database_path.with_name("memory.db-blobs").rglob("*") if it.is_file()
    ] == []


async def limit(memory: Memory, more_pages: int = 0) -> None:
    """Let the database grow no more, as on a full disk."""

    def set_limit(connection: Any) -> None:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages + more_pages}")

    await database_of(memory).write(set_limit)


async def fill(memory: Memory) -> None:
    async def write_on() -> None:
        for _ in range(100):
            await memory.remember("x" * 3_000)

    with pytest.raises(RecollectError, match="disk_full"):
        await write_on()


Removal = Callable[[Memory, str], Any]


@pytest.mark.parametrize(
    "remove",
    [
        lambda memory, ident: memory.delete(ident),
        lambda memory, ident: memory.forget(ident),
        lambda memory, _: memory.forget(everything=True),
    ],
)
@pytest.mark.sqlite(reason="it fills the file")
async def test_something_can_be_removed_thanks_to_the_reserve(
    database_path: Path, monkeypatch: pytest.MonkeyPatch, remove: Removal
):
    # The reserve of a full disk is its last room: here giving it up lets the database grow again.
    released: list[bool] = []

    def release(self: Reserve) -> None:
        released.append(reserve_of(database_path).exists())
        real(self)
        connection, _ = database_of(memory)._held.connection()  # type: ignore[attr-defined]
        connection.exec_driver_sql("PRAGMA max_page_count=1000000")

    real = Reserve.release
    monkeypatch.setattr(Reserve, "release", release)
    monkeypatch.setattr("recollect.backends.sql.companions._PLENTY_BYTES", sys.maxsize)
    async with Memory.open(database_path) as memory:
        assert reserve_of(database_path).exists()
        kept = [it.id for it in await memory.remember_many([f"note {it}" for it in range(50)])]
        await limit(memory)
        await fill(memory)
        assert released == []
        for ident in kept:
            # Some fit into what was free all the same.
            if not released:
                await remove(memory, ident)
        assert released == [True]
        assert not reserve_of(database_path).exists()
        assert kept[0] not in {it.id for it in await memory.list(limit=1_000)}
    # When there is room again, some of it is reserved again.
    async with Memory.open(database_path):
        assert reserve_of(database_path).exists()


@pytest.mark.sqlite(reason="it fills the file")
async def test_a_removal_that_does_not_fit_says_what_to_free(database_path: Path):
    async with Memory.open(database_path) as memory:
        kept = await memory.remember_many([f"note {it}" for it in range(200)])
        database_path.with_name("memory.db.before-restore").write_bytes(bytes(3 << 20))
        await limit(memory)
        await fill(memory)

        async def remove_all() -> None:
            for record in kept:
                await memory.delete(record.id)

        with pytest.raises(RecollectError) as refused:
            await remove_all()
        assert refused.value.code == "disk_full"
        assert "Free at least 32 MB on the disk of" in refused.value.hint
        assert "if you do not need it: memory.db.before-restore (3.0 MB)" in refused.value.hint
        assert await memory.list()
