"""Moves an agent again and again, killed at another transaction each time; tells what was left.

One interpreter forks every process that takes part, since starting one takes longer than a move.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from recollect import Memory
from recollect.agents.copying import AgentCopy
from recollect.assemble import lifetime, moves
from recollect.assemble.moves import AgentMover
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
                await asyncio.sleep(0.02)


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


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_before(owner: type, name: str) -> None:
    """Kill this process when it is about to do something."""
    setattr(owner, name, lambda *_, **__: die())


def die_after(owner: type, name: str) -> None:
    """Kill this process when it has done something."""
    original = getattr(owner, name)

    def done(*given: Any, **named: Any) -> None:
        original(*given, **named)
        die()

    setattr(owner, name, done)


def die_at(number: int) -> None:
    """Kill this process in the transaction with this number, before it is committed."""
    original, count = sqlite_database._transaction, 0  # pyright: ignore[reportPrivateUsage]

    @contextmanager
    def counting(connection: Any, begin: str, *given: Any) -> Generator[None]:
        nonlocal count
        with original(connection, begin, *given):
            yield
            count += "IMMEDIATE" in begin
            if count == number:
                die()

    sqlite_database._transaction = counting  # pyright: ignore[reportPrivateUsage]


# When a move is killed, in the order in which it comes there.
MOMENTS: dict[str, Callable[[], None]] = {
    "never": lambda: None,
    **{f"transaction {number}": partial(die_at, number) for number in range(1, 100)},
    "begun": partial(die_after, AgentCopy, "begin"),
    "copied": partial(die_after, AgentCopy, "run"),
    # The copy has its names, and the source serves.
    "named": partial(die_after, AgentCopy, "take_over"),
    # The source says that the agent has left, unless it says so together with what comes next.
    "left": partial(die_before, AgentMover, "_switch"),
    "kept": partial(die_before, AgentMover, "_put_away"),
}


def killed_move(folder: Path, to: str, moment: str) -> dict[str, Any]:
    """Kill a move while somebody writes; what serves after that, and when it was moved again."""
    told, answer = folder / "told.txt", folder / "answer.json"
    told.touch()
    writer = fork(lambda: write(folder, told))
    wait_for_writes(writer, told, 3)

    async def moving() -> None:
        MOMENTS[moment]()
        await move(folder, to)

    status = wait_for(fork(moving))
    wait_for_writes(writer, told, 5)
    told.with_suffix(".stop").touch()
    result: dict[str, Any] = {"moment": moment, "status": status, "writer": wait_for(writer)}
    for name in ("killed", "moved"):
        assert wait_for(fork(lambda: look(folder, told), answer)) == 0
        result[name] = json.loads(answer.read_text())
        if name == "killed":
            assert wait_for(fork(lambda: move(folder, to))) == 0
    return result


def main() -> None:
    place, to, *moments = Path(sys.argv[1]), *sys.argv[2:]
    # Imported once, not by every process.
    for module in lifetime._BACKGROUND_MODULES:  # pyright: ignore[reportPrivateUsage]
        importlib.import_module(module)
    first = place / "first"
    first.mkdir()
    assert wait_for(fork(lambda: fill(first, to))) == 0
    for moment in moments:
        folder = place / moment
        shutil.copytree(first, folder)
        sys.stdout.write(json.dumps(killed_move(folder, to, moment)) + "\n")
        sys.stdout.flush()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
