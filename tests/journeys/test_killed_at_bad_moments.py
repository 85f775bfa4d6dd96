"""Killed while it migrates, and two servers on one database that are killed in turn."""

import asyncio
import contextlib
import gzip
import json
import random
import sqlite3
import subprocess
import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect import Memory
from recollect.backends.sql.schema import HEAD_REVISION
from tests.nursery import WARM
from tests.processes import RECOLLECT, Child
from tests.reports import write_report

_OLD = sorted((Path(__file__).parent.parent / "data" / "schemas").glob("*.db.gz"))[:-1]
_OPENER = """
import asyncio, sys
from recollect import Memory

async def main():
    # What opening loads is loaded before, so that a kill hits the migration.
    async with Memory.open("in_memory://"):
        pass
    print("opening", flush=True)
    async with Memory.open(sys.argv[1]) as memory:
        print("open", flush=True)
        await memory.drain()

asyncio.run(main())
"""


async def _held(database: Path) -> dict[str, int]:
    """Return how much there is, after whatever migration is left to do."""
    async with Memory.open(database) as memory:
        await memory.drain()
    with closing(sqlite3.connect(database)) as rows:
        assert rows.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        assert (
            rows.execute("SELECT version_num FROM alembic_version").fetchone()[0] == HEAD_REVISION
        )
        return {
            table: rows.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("records", "versions", "turns")
        }


def _migrate_until_killed(database: Path, after: float | None) -> float:
    """Open an old database and kill the process, or let it finish; return how long it ran."""
    command = [WARM, "-c", _OPENER, str(database)]
    with Child(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        began = time.monotonic()
        if after is None:
            process.stdout.readline()
        else:
            time.sleep(after)
        process.kill()
        return time.monotonic() - began


def _revision(database: Path) -> str:
    with closing(sqlite3.connect(database)) as rows:
        return rows.execute("SELECT version_num FROM alembic_version").fetchone()[0]


async def _kill_migrations(folder: Path, times: int) -> dict[str, Any]:
    """Kill migrations at moments spread over the time that a whole one takes."""
    reached, wrong = {"not_begun": 0, "between": 0, "finished": 0}, list[str]()
    contents = [(old.name, gzip.decompress(old.read_bytes())) for old in _OLD]
    whole = folder / "whole.db"
    whole.write_bytes(contents[0][1])
    seconds = await asyncio.to_thread(_migrate_until_killed, whole, None)
    for attempt in range(times):
        name, content = contents[attempt % len(contents)]
        database, beside = folder / f"{attempt}.db", folder / f"{attempt}-whole.db"
        database.write_bytes(content)
        beside.write_bytes(content)
        before = _revision(database)
        moment = random.uniform(0, 1.2) * seconds
        await asyncio.to_thread(_migrate_until_killed, database, moment)
        revision = _revision(database)
        where = {before: "not_begun", HEAD_REVISION: "finished"}.get(revision, "between")
        reached[where] += 1
        if await _held(database) != await _held(beside):
            wrong.append(name)
    return {"kills": times, "whole_seconds": round(seconds, 3), **reached, "wrong": wrong}


async def test_a_migration_that_is_killed_goes_on_as_if_it_had_not_been(tmp_path: Path):
    outcome = await _kill_migrations(tmp_path, times=3)
    assert outcome["wrong"] == []


@pytest.mark.soak
async def test_migrations_survive_forty_kills(tmp_path: Path):
    outcome = await _kill_migrations(tmp_path, times=40)
    write_report("kill-9-migrations", outcome)
    assert outcome["wrong"] == []
    assert outcome["not_begun"] < outcome["kills"]
    assert outcome["finished"] < outcome["kills"]


def _start(database: Path) -> tuple[Child[str], str]:
    command = [*RECOLLECT, "serve", "--port", "0", "--json", "--data", str(database)]
    process: Child[str] = Child(command, stdout=subprocess.PIPE, text=True)
    with process.stdout or contextlib.nullcontext() as told:
        assert told is not None
        return process, json.loads(told.readline())["address"]


class _Saved(list[str]):
    """The ids that were acknowledged; whoever waits is told of the next one."""

    def __init__(self) -> None:
        super().__init__()
        self._next = asyncio.Event()

    def add(self, ident: str) -> None:
        self.append(ident)
        self._next.set()

    async def one_more(self) -> None:
        self._next.clear()
        await self._next.wait()


async def _save(address: str, saved: _Saved, errors: list[str], name: str) -> None:
    """Save until the server is gone; keep what it has answered."""
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        for number in range(100_000):
            text = f"parcel {number} of {name} on shelf {number % 37}"
            try:
                answer = await client.post("/v1/records", json={"content": text})
            except httpx.HTTPError:
                return
            if answer.status_code == 201:
                saved.add(answer.json()["id"])
            else:
                errors.append(answer.text)


async def _kill_servers(folder: Path, times: int) -> dict[str, Any]:
    """Let two servers write to one database and kill one of them, again and again."""
    database, saved, errors = folder / "memory.db", _Saved(), list[str]()
    with ExitStack() as ending:
        servers: list[tuple[Child[str], str]] = []
        for _ in range(2):
            servers.append(await asyncio.to_thread(_start, database))
            ending.callback(lambda: [process.kill() for process, _ in servers])
        saving = [
            asyncio.create_task(_save(address, saved, errors, f"{place}"))
            for place, (_, address) in enumerate(servers)
        ]
        for attempt in range(times):
            await saved.one_more()
            await asyncio.sleep(random.uniform(0, 2))
            victim = attempt % 2
            servers[victim][0].kill()
            await saving[victim]
            await asyncio.to_thread(servers[victim][0].wait)
            servers[victim] = await asyncio.to_thread(_start, database)
            saving[victim] = asyncio.create_task(
                _save(servers[victim][1], saved, errors, f"{victim}-{attempt}")
            )
        await saved.one_more()
        for process, _ in servers:
            process.kill()
            await asyncio.to_thread(process.wait)
        await asyncio.gather(*saving)
    with closing(sqlite3.connect(database)) as rows:
        assert rows.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        there = {ident for (ident,) in rows.execute("SELECT id FROM records")}
    return {
        "kills": times + 2,
        "acknowledged": len(saved),
        "errors": errors[:5],
        "lost": len({*saved} - there),
    }


async def test_what_two_servers_answered_survives_the_kill_of_either(tmp_path: Path):
    outcome = await _kill_servers(tmp_path, times=1)
    assert outcome["acknowledged"] > 0
    assert (outcome["errors"], outcome["lost"]) == ([], 0)


@pytest.mark.soak
async def test_two_servers_survive_ten_kills(tmp_path: Path):
    outcome = await _kill_servers(tmp_path, times=10)
    write_report("kill-9-two-servers", outcome)
    assert (outcome["errors"], outcome["lost"]) == ([], 0)
