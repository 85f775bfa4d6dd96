"""Vector stores beside the index of this process: one scope, the same questions, in one run.

    .venv/bin/python benchmarks/vectors.py --units 100000 pgvector qdrant:///tmp/vectors milvus://…

`pgvector` alone starts the PostgreSQL of the tests. Vectors are clustered like those of texts, and
made up; questions lie near clusters. Prints the load of the machine, because others use it too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from recollect.backends.local.byte_vectors import plain_product
from recollect.backends.local.unit_metadata import Catalogue
from recollect.backends.local.vector_index import LocalVectorIndex
from recollect.backends.sql import schema
from recollect.backends.sql.database import Database
from recollect.backends.sql.migrate import bring_up_to_date
from recollect.backends.sql.sqlite_database import SqliteDatabase
from recollect.backends.vectors import open_sink
from recollect.domain.embedding import EmbeddingModel
from recollect.domain.scope import Scope
from recollect.followers.following import Following
from recollect.followers.rows import SqlFollowers
from recollect.followers.vector_index import FollowedVectorIndex
from recollect.followers.vectors import VectorFollower, VectorStore
from recollect.jobs.queue import SqlJobs
from recollect.models.byte_products import quick_product
from recollect.ports.runtime import SystemClock
from recollect.ports.units import VectorIndex

DIMENSION = 384
LIMIT = 200
QUESTIONS = 200
CLUSTERS = 2_000
BATCH = 5_000
SCOPE = Scope(org="bench", workspace="bench", user="one")
OTHER = Scope(org="bench", workspace="bench", user="two")
MODEL = EmbeddingModel(name="made-up", dimension=DIMENSION)


def unit_vectors(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class MadeUp:
    """Clustered vectors, and questions near the clusters."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(7)
        self._centres = self._random.normal(size=(CLUSTERS, DIMENSION)).astype(np.float32)

    def near(self, count: int, spread: float) -> NDArray[np.float32]:
        chosen = self._centres[self._random.integers(0, CLUSTERS, count)]
        noise = self._random.normal(size=(count, DIMENSION)).astype(np.float32)
        return unit_vectors(chosen + spread * noise)


def fill(database: Database, made: MadeUp, scopes: list[tuple[Scope, int]]) -> None:
    """Write scopes with so many units each."""

    def begin(connection: Connection) -> None:
        row = {"id": 1, "name": MODEL.name, "dimension": DIMENSION, "choice": ""}
        connection.execute(schema.embedding_models.insert(), row)

    database.write_here(begin)
    for number, (scope, units) in enumerate(scopes, start=1):
        place = {"org": scope.org, "workspace": scope.workspace, "agent": "", "user": scope.user}
        counters = {"version": 1, "next_unit": units + 1, "unit_count": units, "unit_length": 0}
        row = {"id": number, **place, **counters, "model_id": 1}
        database.write_here(lambda it, row=row: it.execute(schema.scopes.insert(), row).close())
        for start in range(0, units, BATCH):
            some = range(start + 1, min(start + BATCH, units) + 1)
            vectors = made.near(len(some), 0.6).astype("<f2")
            database.write_here(
                lambda it, number=number, some=some, vectors=vectors: _write(
                    it, number, some, vectors
                )
            )


def _write(
    connection: Connection, scope: int, counters: range, vectors: NDArray[np.float16]
) -> None:
    units = [
        {
            "id": scope << 32 | counter,
            "scope_id": scope,
            "owner_kind": "turn",
            "owner_id": f"turn_{scope}_{counter}",
            "ordinal": 0,
            "start": 0,
            "end": 0,
            "terms": b"",
            "analyzer": "1",
            "observed_at": counter,
        }
        for counter in counters
    ]
    rows = [
        {"unit_id": unit["id"], "model_id": 1, "vector": vector.tobytes()}
        for unit, vector in zip(units, vectors, strict=True)
    ]
    connection.execute(schema.units.insert(), units)
    connection.execute(schema.vectors.insert(), rows)


async def timed(
    index: VectorIndex, questions: NDArray[np.float32]
) -> tuple[list[float], list[list[int]]]:
    """Return the milliseconds of each question, and what was found."""
    times: list[float] = []
    found: list[list[int]] = []
    for question in questions:
        begun = time.perf_counter()
        nearest = await index.search([SCOPE], {MODEL: question}, LIMIT, now=datetime.now(UTC))
        times.append(1000 * (time.perf_counter() - begun))
        assert not nearest.problems, nearest.problems
        found.append(nearest.matches.column("unit").tolist())
    return times, found


def shared(found: list[list[int]], exact: list[list[int]], first: int) -> float:
    """Return how much of the best of the exact search was found among as many."""
    shares = [
        len(set(one[:first]) & set(other[:first])) / first
        for one, other in zip(found, exact, strict=True)
    ]
    return float(np.mean(shares))


@contextmanager
def address_of(store: str) -> Iterator[str]:
    if store != "pgvector":
        yield store
        return
    from tests.vector_stores import pgvector_url

    with pgvector_url() as url:
        yield url


async def measure(units: int, others: int, stores: list[str]) -> None:
    made, clock = MadeUp(), SystemClock()
    with tempfile.TemporaryDirectory() as folder:
        database = SqliteDatabase(Path(folder) / "memory.db", synchronous="off")
        bring_up_to_date(database)
        fill(database, made, [(SCOPE, units), (OTHER, others)])
        local = LocalVectorIndex(
            database, Catalogue(256 << 20), 2 << 30, quick_product(plain_product)
        )
        questions = made.near(QUESTIONS, 0.3)
        await timed(local, questions[:10])
        times, exact = await timed(local, questions)
        base = np.percentile(times, [50, 95])
        tell("local", units, others, base, base, 1.0, 1.0, 0.0)
        for store in stores:
            with address_of(store) as url:
                sink = open_sink(url, lambda: database.identity)
                await sink.clear()
                follower = VectorFollower(database, sink, 1)
                rows = SqlFollowers(database, follower.name, 1)
                following = Following(follower, rows, SqlJobs(database, clock), clock)
                begun = time.perf_counter()
                await following.build()
                rate = (units + others) / (time.perf_counter() - begun)
                index = FollowedVectorIndex(
                    local,
                    [VectorStore(sink=sink, following=following)],
                    fewest_units=1,
                    most_exact=0,
                )
                await timed(index, questions[:10])
                times, found = await timed(index, questions)
                its = np.percentile(times, [50, 95])
                best, all_of_them = shared(found, exact, 10), shared(found, exact, LIMIT)
                tell(sink.name, units, others, its, base, best, all_of_them, rate)
                await sink.clear()
                await sink.close()
        await database.close()


def tell(
    store: str,
    units: int,
    others: int,
    its: NDArray[np.float64],
    base: NDArray[np.float64],
    best: float,
    all_of_them: float,
    rate: float,
) -> None:
    told = {
        "store": store,
        "units": units,
        "units_of_others": others,
        "p50_ms": round(its[0], 1),
        "p95_ms": round(its[1], 1),
        "p50_ratio": round(its[0] / base[0], 2),
        "p95_ratio": round(its[1] / base[1], 2),
        "same@10": round(best, 4),
        f"same@{LIMIT}": round(all_of_them, 4),
        "load_per_s": round(rate),
        "machine_load": round(os.getloadavg()[0], 1),
    }
    print(json.dumps(told), flush=True)


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("stores", nargs="*", default=["pgvector"])
    given.add_argument("--units", type=int, default=100_000)
    given.add_argument("--others", type=int, default=10_000, help="units of another scope")
    chosen = given.parse_args()
    asyncio.run(measure(chosen.units, chosen.others, chosen.stores))


if __name__ == "__main__":
    main()
