"""Moves an agent again and again, killed at another transaction each time; tells what was left.

One interpreter forks every process that takes part, since starting one takes longer than a move.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recollect import Memory
from recollect.assemble import moves
from recollect.backends.sql import sqlite_database
from recollect.domain.notes import ScratchpadUpdate
from recollect.settings import Settings

moves.FOLLOW_SECONDS = 0.1
moves.KNOWN_EVERYWHERE_SECONDS = 0.2


def settings_at(folder: Path) -> Settings:
    stores = {"own": {"path": "own.db"}}
    given = {
        "embedding": {"model": "none"},
        "writing": {"close_seconds": 0, "judge": "rules"},
    }
    return Settings.load({"data_dir": folder, "stores": stores, **given})


async def fill(folder: Path, to: str) -> None:
    async with Memory.open(settings_at(folder)) as memory:
        sql = memory.scope(agent="sql", user="ann")
        await sql.remember_many(f"note {number} 笔记{number}" for number in range(30))
        await sql.observe({"role": "user", "content": "I prefer black tea."}, session="s")
        long = "a long result of a tool " * 800
        await sql.session("s").archive.process_tool_result("search", {"q": "tea"}, long, "s")
        await memory.scope(agent="other", user="ann").remember("somebody else's")
        if to == "common":
            await memory.agents.move("sql", "own")
            await memory.agents.purge_copy("sql")


async def move(folder: Path, to: str) -> None:
    async with Memory.open(settings_at(folder)) as memory:
        await memory.agents.move("sql", to)


async def write(folder: Path, told: Path) -> None:
    """Write until a file says so; what was acknowledged is told before the next one."""
    async with Memory.open(settings_at(folder)) as memory:
        sql = memory.scope(agent="sql", user="bob")
        session = sql.session("talk")
        number = 0
        with told.open("a") as acknowledged:
            while not told.with_suffix(".stop").exists():
                number += 1
                record = await sql.remember(f"parcel {number} 包裹{number}")
                acknowledged.write(record.id + "\n")
                acknowledged.flush()
                await session.scratchpad.update(ScratchpadUpdate(current_step=f"step {number}"))
                await asyncio.sleep(0.005)


async def look(folder: Path, told: Path) -> dict[str, Any]:
    async with Memory.open(settings_at(folder)) as memory:
        ann, bob = (memory.scope(agent="sql", user=user) for user in ("ann", "bob"))
        written = told.read_text().split()
        page = await bob.list(limit=1000)
        kept = {record.id for record in page.items}
        (archive,) = (await ann.archives.list()).items
        agents = [it.name for it in (await memory.scope(user=None).workspace.agents()).items]
        return {
            "written": len(written),
            "missing": sorted(set(written) - kept),
            "doubled": len(page.items) - len(kept),
            "notes": len([it for it in (await ann.list(limit=100)) if "note" in it.content]),
            "turns": len((await ann.turns(session="s")).items),
            "archived": "long result" in await ann.load_tool_history(archive.id),
            "is_intact": (await memory.audit.verify()).is_intact,
            "store": memory.settings.agent("sql").store,
            "agents": sorted(agents),
        }


def fork(work: Callable[[], Coroutine[Any, Any, Any]], answer: Path | None = None) -> int:
    """Run something in a process of its own; its answer lies in a file."""
    if pid := os.fork():
        return pid
    status = 1
    try:
        result = asyncio.run(work())
        if answer is not None:
            answer.write_text(json.dumps(result))
        status = 0
    except BaseException:  # noqa: BLE001  (the parent sees the status)
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def wait_for(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def wait_for_writes(writer: int, told: Path, more: int) -> None:
    before, ends = len(told.read_text().split()), time.monotonic() + 30
    while len(told.read_text().split()) < before + more:
        assert os.waitpid(writer, os.WNOHANG) == (0, 0), "the writer has ended"
        assert time.monotonic() < ends, "the writer waits"
        time.sleep(0.01)


def die_at(number: int, *, is_committed: bool) -> Callable[[], int]:
    """Kill this process at the transaction with this number; 0 only counts them."""
    original, count = sqlite_database._transaction, 0  # pyright: ignore[reportPrivateUsage]

    @contextmanager
    def counting(connection: Any, begin: str) -> Generator[None]:
        nonlocal count
        writes = "IMMEDIATE" in begin
        with original(connection, begin):
            yield
            count += writes
            mine = count
            if writes and mine == number and not is_committed:
                os.kill(os.getpid(), signal.SIGKILL)
        if writes and mine == number:
            os.kill(os.getpid(), signal.SIGKILL)

    sqlite_database._transaction = counting  # pyright: ignore[reportPrivateUsage]
    return lambda: count


def killed_move(folder: Path, to: str, number: int, *, is_committed: bool) -> dict[str, Any]:
    """Kill a move while somebody writes; what serves after that, and when it was moved again."""
    told, answer = folder / "told.txt", folder / "answer.json"
    told.touch()
    writer = fork(lambda: write(folder, told))
    wait_for_writes(writer, told, 3)
    counted = folder / "count.json"

    async def moving() -> int:
        count = die_at(number, is_committed=is_committed)
        await move(folder, to)
        return count()

    status = wait_for(fork(moving, counted))
    wait_for_writes(writer, told, 5)
    told.with_suffix(".stop").touch()
    result: dict[str, Any] = {"status": status, "writer": wait_for(writer)}
    for name in ("killed", "moved"):
        assert wait_for(fork(lambda: look(folder, told), answer)) == 0
        result[name] = json.loads(answer.read_text())
        if name == "killed":
            assert wait_for(fork(lambda: move(folder, to))) == 0
    result["count"] = json.loads(counted.read_text()) if counted.exists() else None
    return result


def tell(result: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(result) + "\n")
    sys.stdout.flush()


def main() -> None:
    place, to, numbers = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    first = place / "first"
    first.mkdir()
    assert wait_for(fork(lambda: fill(first, to))) == 0
    shutil.copytree(first, place / "whole")
    whole = killed_move(place / "whole", to, 0, is_committed=True)
    tell({"number": 0, **whole})
    last = whole["count"]
    # The last ones are those in which the stores change places.
    wanted = range(1, last + 1) if numbers == "all" else (last // 3, *range(last - 10, last, 3))
    for number in wanted:
        folder = place / f"at-{number}"
        shutil.copytree(first, folder)
        result = killed_move(folder, to, number, is_committed=number % 2 == 0)
        tell({"number": number, **result})
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
