"""A program that writes to a memory until it is killed, and tells what was acknowledged.

python writing_process.py URL DATA_FOLDER NUMBER
"""

from __future__ import annotations

import asyncio
import itertools
import sys
from datetime import timedelta
from pathlib import Path

from recollect import Memory
from recollect.backends.sql.server_database import ServerDatabase
from recollect.domain.job import NewJob
from recollect.jobs.queue import SqlJobs
from recollect.ports.runtime import SystemClock
from recollect.settings import Settings
from recollect.settings.place import driver_url

_LEASE = timedelta(hours=1)


def _tell(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


async def _write(url: str, folder: Path, name: str) -> None:
    settings = Settings.load({"storage": {"url": url}, "data_dir": folder})
    clock = SystemClock()
    database = ServerDatabase(driver_url(url), beside=folder / "memory.db")
    jobs = SqlJobs(database, clock)
    async with Memory.open(settings) as memory:
        _tell("ready")
        for number in itertools.count():
            # Everybody is in the same few places at the same time.
            theirs = memory.scope(user=f"user {number % 5}")
            record = await theirs.remember(f"program {name} wrote {number}")
            _tell("saved", f"user {number % 5}", record.id)
            (turn,) = await theirs.observe({"role": "user", "content": f"{name} says {number}"})
            _tell("said", f"user {number % 5}", turn.id)
            await jobs.add([NewJob(kind="count", key=f"{name} {number}")])
            now = clock.now()
            job = await jobs.claim(["count"], name, now=now, lease_until=now + _LEASE)
            if job is not None:
                _tell("ran", "-", job.id)
                await jobs.finish(job)
            if number % 7 == 0:
                await memory.audit.seal()
            await theirs.recall(f"what did {name} write?")


if __name__ == "__main__":
    asyncio.run(_write(sys.argv[1], Path(sys.argv[2]), sys.argv[3]))
