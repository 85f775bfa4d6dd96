"""One durable save beside one plain SQLite commit, both with synchronous=FULL."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path

from recollect import Memory
from recollect.evaluation.speed import Writer

ROUNDS = 40
SAVES = 20


def plain_database(folder: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(folder / "plain.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, content TEXT)")
    return connection


async def main() -> None:
    writer = Writer()
    ours: list[float] = []
    plain: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        connection = plain_database(folder)
        async with Memory.open(folder / "memory.db") as memory:
            await memory.remember(writer.text(0))
            # Rounds alternate, so that a busy disk slows both sides alike.
            for round_ in range(ROUNDS):
                texts = [writer.text(round_ * SAVES + number) for number in range(SAVES)]
                start = time.perf_counter()
                for text in texts:
                    connection.execute("INSERT INTO notes (content) VALUES (?)", (text,))
                middle = time.perf_counter()
                for text in texts:
                    await memory.remember(text)
                end = time.perf_counter()
                plain.append((middle - start) / SAVES * 1e3)
                ours.append((end - middle) / SAVES * 1e3)
        connection.close()
    ratio = statistics.median(mine / theirs for mine, theirs in zip(ours, plain, strict=True))
    figures = {
        "save_ms": round(statistics.median(ours), 3),
        "plain_commit_ms": round(statistics.median(plain), 3),
        "ratio": round(ratio, 2),
    }
    print(
        "one durable save = {ratio} plain commits ({save_ms} / {plain_commit_ms} ms)".format(
            **figures
        )
    )
    if "--json" in sys.argv:
        print(json.dumps(figures))


asyncio.run(main())
