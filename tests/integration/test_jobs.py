"""Background work: one worker at a time, tried again when it fails, taken over when it dies."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from recollect import Memory
from recollect.backends.sql import schema
from recollect.backends.sql.migrate import bring_up_to_date
from recollect.backends.sql.sqlite_database import SqliteDatabase
from recollect.domain.job import Job, NewJob
from recollect.jobs.queue import SqlJobs
from recollect.jobs.worker import Worker
from tests.conftest import TurnedClock
from tests.database_servers import open_at


@pytest.fixture
async def jobs(database_path: Path, clock: TurnedClock) -> AsyncIterator[SqlJobs]:
    database = SqliteDatabase(database_path)
    bring_up_to_date(database)
    yield SqlJobs(database, clock)
    await database.close()


async def test_a_job_runs_once_even_with_two_workers(jobs: SqlJobs, clock: TurnedClock):
    ran: list[str] = []

    async def handle(job: Job) -> None:
        await asyncio.sleep(0.01)
        ran.append(job.key)

    workers = [Worker(jobs, clock, {"sort": handle}) for _ in range(2)]
    await jobs.add([NewJob(kind="sort", key=str(number)) for number in range(10)])
    await asyncio.gather(*(worker.run_due() for worker in workers))
    assert sorted(ran) == sorted(str(number) for number in range(10))
    assert await jobs.next_due(["sort"]) is None


async def test_before_its_first_job_a_worker_looks_once_for_what_nobody_has_queued(
    jobs: SqlJobs, clock: TurnedClock
):
    ran: list[str] = []

    async def handle(job: Job) -> None:
        ran.append(job.key)

    async def look_for_work() -> None:
        await jobs.add([NewJob(kind="sort", key="found")])

    worker = Worker(jobs, clock, {"sort": handle}, look_for_work)
    assert (await worker.run_due(), await worker.run_due()) == (1, 0)
    assert ran == ["found"]


async def test_a_failing_job_waits_longer_each_time_and_is_given_up_in_the_end(
    jobs: SqlJobs, clock: TurnedClock
):
    tried = 0

    async def fail(job: Job) -> None:
        nonlocal tried
        tried += 1
        raise RuntimeError("no luck")

    worker = Worker(jobs, clock, {"luck": fail})
    await jobs.add([NewJob(kind="luck", key="1")])
    waits: list[timedelta] = []
    while (due := await jobs.next_due(["luck"])) is not None:
        waits.append(due - clock.now())
        clock.time = max(clock.now(), due)
        await worker.run_due()
    assert tried == 8
    assert waits[1:5] == [timedelta(seconds=seconds) for seconds in (1, 2, 4, 8)]
    counts = await jobs.counts()
    assert (counts.waiting, counts.failed) == (0, 1)


async def test_work_of_an_unknown_kind_is_left_for_a_version_that_knows_it(
    jobs: SqlJobs, clock: TurnedClock
):
    await jobs.add([NewJob(kind="from-the-future", key="1")])
    assert await Worker(jobs, clock, {}).run_due() == 0
    assert (await jobs.counts()).waiting == 1


async def test_what_an_older_analyzer_indexed_is_analysed_again(database_path: Path):
    async with Memory.open(database_path) as memory:
        saved = await memory.remember("The lighthouse keeper's logbook")
        await memory.observe([{"role": "user", "content": "Where is the logbook?"}], session="s")
        hidden = await memory.remember("A deleted lighthouse")
        await memory.delete(hidden.id)

    database = open_at(database_path)
    older = update(schema.units).values(analyzer="0", terms=b"")
    database.write_here(lambda connection: connection.execute(older))
    database.close_here()

    async with Memory.open(database_path) as memory:
        await memory.drain()
        found = await memory.recall("logbook", min_score=0)
        assert {hit.id for hit in found} >= {saved.id}
        assert len(found) == 2
        # What was said is read once it is quiet.
        assert (await memory.stats()).jobs.waiting == 1


async def test_slow_work_does_not_keep_other_work_waiting(jobs: SqlJobs, clock: TurnedClock):
    begun, quick = asyncio.Event(), asyncio.Event()

    async def read_a_book(job: Job) -> None:
        begun.set()
        await asyncio.sleep(60)

    async def answer(job: Job) -> None:
        quick.set()

    worker = Worker(jobs, clock, {"read": read_a_book, "answer": answer}, lanes=[["read"]])
    await jobs.add([NewJob(kind="read", key="a")])
    worker.start()
    try:
        await asyncio.wait_for(begun.wait(), 10)
        await jobs.add([NewJob(kind="answer", key="b")])
        await asyncio.wait_for(quick.wait(), 10)
    finally:
        await worker.stop()
    assert (await jobs.next_due(["read"])) is not None
