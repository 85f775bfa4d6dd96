"""Many users on one PostgreSQL: what a recall costs as the scope grows, and as the total grows.

One user has many texts, another 100, and thousands more have 80 each. Vectors are made up and
judging goes by rules, so that the time is the database's and the indexes'. At each total the small
and the large scope are asked again; the large one is in pgvector. What is there already is not
loaded again, so a load may be done in parts.

    python benchmarks/many_users.py postgresql://… --large 200000 --totals 300000 1000000

Processor time is this process's and that of the server, which must be on this machine: unlike the
time on the clock, it depends little on what else runs here.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from databases import InventedVectors
from sqlalchemy import NullPool, create_engine, make_url

from recollect import Memory
from recollect.evaluation.metrics import percentile
from recollect.evaluation.speed import Writer
from recollect.settings import Settings
from recollect.settings.place import driver_url

DIMENSION: Final = 384
AT_ONCE: Final = 4_000
OF_SMALL: Final = 100
ROUNDS: Final = 60
_TICK: Final = os.sysconf("SC_CLK_TCK")


class Server:
    """What is asked of the database past all of our code."""

    def __init__(self, url: str) -> None:
        self._engine = create_engine(make_url(driver_url(url)), poolclass=NullPool)
        self._first = int(self.one("SELECT pg_read_file('postmaster.pid')").split()[0])

    def one(self, statement: str) -> Any:
        with self._engine.connect() as connection:
            return connection.exec_driver_sql(statement).scalar()

    def seconds(self) -> float:
        """Return the processor time of the server: of its processes, and of those that ended."""
        ticks = 0
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                told = path.read_text()
            except OSError:
                continue
            fields = told.rpartition(") ")[2].split()
            if int(told.split()[0]) == self._first:
                ticks += sum(map(int, fields[11:15]))
            elif int(fields[1]) == self._first:
                ticks += sum(map(int, fields[11:13]))
        return ticks / _TICK


def settings(url: str, folder: Path, vectors: str, vectors_from: int) -> Settings:
    storage = {"url": url, "vectors": vectors, "vectors_from": vectors_from}
    return Settings.load(
        {
            "data_dir": folder,
            "storage": storage,
            "writing": {"judge": "rules"},
            "recall": {"read_hits": 0},
        }
    )


def users(count: int, large: int, total: int) -> list[tuple[str, int]]:
    """Return the users that are loaded up to a total, and how many texts each has."""
    each = -(-(total - large - OF_SMALL) // count)
    first = [("large", large), ("small", OF_SMALL)]
    return first + [(f"user{number}", each) for number in range(count)]


async def load(memory: Memory, server: Server, wanted: list[tuple[str, int]]) -> dict[str, float]:
    """Store what is not there yet."""
    has = set(server_users(server))
    began, own, its, stored = time.monotonic(), time.process_time(), server.seconds(), 0
    writer = Writer()
    for position, (name, count) in enumerate(wanted):
        if (name, count) in has:
            continue
        mine = memory.scope(user=name)
        done = dict(has).get(name, 0)
        for start in range(done, count, AT_ONCE):
            numbers = range(start, min(start + AT_ONCE, count))
            # No text is anybody else's.
            await mine.remember_many([writer.text(position * 1_000_003 + it) for it in numbers])
            stored += len(numbers)
    own, its = time.process_time() - own, server.seconds() - its
    return {
        "stored": stored,
        "seconds": round(time.monotonic() - began, 1),
        "processor_seconds": round(own + its, 1),
        "of_the_server": round(its, 1),
        "stored_per_processor_second": round(stored / (own + its)) if stored else 0,
    }


def server_users(server: Server) -> list[tuple[str, int]]:
    told = server.one(
        "SELECT coalesce(json_agg(json_build_array(\"user\", unit_count)), '[]') FROM scopes"
    )
    return [(name, count) for name, count in told if count]


async def ask(
    memory: Memory, server: Server, user: str, writer: Writer, run: int
) -> dict[str, float]:
    mine = memory.scope(user=user)
    for number in range(5):
        await mine.recall(f"to begin with {run} {number}", min_score=0)
    times: list[float] = []
    own, its = time.process_time(), server.seconds()
    for number in range(ROUNDS):
        began = time.perf_counter()
        found = await mine.recall(writer.question(run * ROUNDS + number), min_score=0)
        times.append(1e3 * (time.perf_counter() - began))
        assert len(found.hits), found
        assert not found.degraded, found.degraded
    own, its = time.process_time() - own, server.seconds() - its
    return {
        "p50_ms": round(percentile(times, 0.5), 1),
        "p95_ms": round(percentile(times, 0.95), 1),
        "own_processor_ms": round(1e3 * own / ROUNDS, 1),
        "servers_processor_ms": round(1e3 * its / ROUNDS, 1),
    }


@asynccontextmanager
async def opened(place: Settings) -> AsyncIterator[Memory]:
    async with Memory.open(place, embedder=InventedVectors(DIMENSION)) as memory:
        yield memory


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", help="an empty database, or one that an earlier run began to load")
    parser.add_argument("--vectors", default="pgvector", help="none: compare them here")
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--large", type=int, default=200_000)
    parser.add_argument("--totals", type=int, nargs="+", default=[300_000, 1_000_000])
    given = parser.parse_args()
    writer = Writer()
    with tempfile.TemporaryDirectory() as name:
        server = Server(given.url)
        # Its graph is made when everything is loaded, which is much quicker.
        loading, place = (
            settings(given.url, Path(name), vectors, max(OF_SMALL + 1, given.large // 2))
            for vectors in ("none", given.vectors)
        )
        for run, total in enumerate(given.totals):
            part = given.users * total // given.totals[-1]
            wanted = users(given.users, given.large, given.totals[-1])[: part + 2]
            async with opened(loading) as memory:
                told: dict[str, Any] = {"load": await load(memory, server, wanted)}
            async with opened(place) as memory:
                began, its = time.monotonic(), server.seconds()
                await memory.drain()
                # Makes the graph that an earlier run may have left unmade.
                await memory.reconcile()
                for state in (await memory.stats()).followers:
                    assert state.condition == "current", state
                    told["pgvector"] = {
                        "units": state.done,
                        "seconds": round(time.monotonic() - began, 1),
                        "servers_processor_seconds": round(server.seconds() - its, 1),
                    }
            # Another process than the one that loaded would have packed nothing either.
            async with opened(place) as memory:
                for user in ("small", "large"):
                    told[user] = await ask(memory, server, user, writer, run)
                stats = await memory.stats()
            told |= {
                "records": server.one("SELECT count(*) FROM records"),
                "users": server.one("SELECT count(*) FROM scopes"),
                "database_gb": round(
                    server.one("SELECT pg_database_size(current_database())") / 1e9, 2
                ),
                "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
                "packed_units": stats.keyword_index.units,
                "load_average": round(os.getloadavg()[0], 1),
            }
            print(json.dumps(told), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
