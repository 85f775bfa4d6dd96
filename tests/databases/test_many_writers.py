"""Several programs that write to one database at the same moment: nothing is lost or done twice."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select

from recollect import Memory
from recollect.audit.rows import SqlAudit
from recollect.backends.sql import schema
from recollect.backends.sql.database import Database
from recollect.domain.job import NewJob
from recollect.errors import StaleVersion
from recollect.health.metric_hours import SqlMetricHours
from recollect.jobs.queue import SqlJobs
from tests.conftest import TurnedClock
from tests.database_servers import open_at

_PROGRAMS = 4
_LEASE = timedelta(minutes=5)


@pytest.fixture
async def programs(database_path: Path, clock: TurnedClock) -> AsyncIterator[list[Memory]]:
    """The same memory, opened several times."""
    async with AsyncExitStack() as opened:
        yield [
            await opened.enter_async_context(Memory.open(database_path, clock=clock))
            for _ in range(_PROGRAMS)
        ]


@pytest.fixture
async def databases(database_path: Path) -> AsyncIterator[list[Database]]:
    opened = [open_at(database_path) for _ in range(_PROGRAMS)]
    yield opened
    for database in opened:
        await database.close()


async def test_every_job_is_handed_to_one_worker(databases: list[Database], clock: TurnedClock):
    queues = [SqlJobs(database, clock) for database in databases]
    await queues[0].add([NewJob(kind="sort", key=str(number)) for number in range(40)])
    taken: Counter[str] = Counter()

    async def work(queue: SqlJobs, owner: str) -> None:
        now = clock.now()
        while job := await queue.claim(["sort"], owner, now=now, lease_until=now + _LEASE):
            taken[job.key] += 1
            await queue.finish(job)

    # Of two looks at once one may find nothing: it looks again as long as there is something.
    while (await queues[0].counts()).waiting:
        await asyncio.gather(*(work(queue, f"w{place}") for place, queue in enumerate(queues)))
    assert taken == Counter(str(number) for number in range(40))


async def test_equal_jobs_that_are_added_at_once_are_one(
    databases: list[Database], clock: TurnedClock
):
    queues = [SqlJobs(database, clock) for database in databases]
    for number in range(10):
        job = NewJob(kind="sort", key=f"same {number}")
        await asyncio.gather(*(queue.add([job]) for queue in queues))
    assert (await queues[0].counts()).waiting == 10


async def test_the_first_writes_to_a_new_scope_all_succeed(programs: list[Memory]):
    for number in range(8):
        user = f"user {number}"
        await asyncio.gather(
            *(
                program.scope(user=user).remember(f"{user} has told program {place}")
                for place, program in enumerate(programs)
            )
        )
        known = await programs[0].scope(user=user).list(limit=100)
        assert len(known) == _PROGRAMS


async def test_turns_of_one_session_get_places_in_a_row(programs: list[Memory]):
    said = [
        program.observe({"role": "user", "content": f"{place} says {number}"}, session="s")
        for number in range(5)
        for place, program in enumerate(programs)
    ]
    await asyncio.gather(*said)
    turns = await programs[0].turns(session="s", limit=100)
    assert sorted(turn.ordinal for turn in turns) == list(range(1, 5 * _PROGRAMS + 1))


async def test_of_edits_of_one_record_at_once_none_is_lost(programs: list[Memory]):
    record = await programs[0].remember("the counter stands at 0")

    async def count_up(program: Memory) -> None:
        while True:
            known = await program.get(record.id)
            number = int(known.content.split()[-1]) + 1
            try:
                await program.update(
                    record.id, f"the counter stands at {number}", expected_version=known.version
                )
            except StaleVersion:
                continue
            return

    await asyncio.gather(*(count_up(program) for program in programs for _ in range(3)))
    counted = await programs[0].get(record.id)
    assert counted.content == f"the counter stands at {3 * _PROGRAMS}"
    assert len(await programs[0].history(record.id)) == 3 * _PROGRAMS + 1


async def test_the_same_request_from_several_programs_happens_once(programs: list[Memory]):
    for number in range(5):
        user = f"newcomer {number}"
        saved = await asyncio.gather(
            *(
                program.scope(user=user, principal="one").remember(
                    "asked once", idempotency_key="k"
                )
                for program in programs
            )
        )
        assert len({record.id for record in saved}) == 1
        assert len(await programs[0].scope(user=user).list(limit=10)) == 1


async def test_an_audit_that_several_seal_at_once_is_one_whole_chain(
    programs: list[Memory], databases: list[Database]
):
    for program in programs:
        await program.remember_many([f"note {number}" for number in range(5)])
        await program.remember("one more")
    logs = [SqlAudit(database) for database in databases]
    batches = await asyncio.gather(*(log.seal(3) for log in logs * 3))
    assert sum(batch.count for batch in batches) == 2 * _PROGRAMS
    verdict = await programs[0].audit.verify()
    assert verdict.is_intact
    assert verdict.sealed == 2 * _PROGRAMS


async def test_a_content_that_several_put_away_is_counted_for_each(
    programs: list[Memory], databases: list[Database]
):
    text = "a very long result of a tool " * 500

    async def put_away(place: int, program: Memory) -> str:
        theirs = program.scope(user=f"user {place}")
        await theirs.session("s").archive.process_tool_result("search", {"q": place}, text, "s")
        (archive,) = await theirs.archives.list()
        return archive.id

    ids = await asyncio.gather(*(put_away(place, it) for place, it in enumerate(programs)))
    counted = select(schema.blobs.c.reference_count)
    assert await databases[0].read(lambda it: it.scalars(counted).all()) == [_PROGRAMS]
    await asyncio.gather(
        *(
            program.scope(user=f"user {place}").archives.delete(ids[place])
            for place, program in enumerate(programs)
        )
    )
    left = select(func.count()).select_from(schema.blobs)
    assert await databases[0].read(lambda it: it.scalar(left)) == 0


async def test_what_several_count_in_one_hour_is_added_up(
    databases: list[Database], clock: TurnedClock
):
    hour = clock.now().replace(minute=0, second=0, microsecond=0)
    counted = {("requests", "recall"): 2.0, ("requests", "remember"): 0.5}
    meters = [SqlMetricHours(database) for database in databases]
    await asyncio.gather(*(it.add(hour, counted, keep_since=hour) for it in meters))
    found = await meters[0].read(hour, hour + timedelta(hours=1))
    assert found == {hour: {name: _PROGRAMS * value for name, value in counted.items()}}


async def test_whoever_is_forgotten_while_others_write_is_forgotten(programs: list[Memory]):
    first, *others = programs
    ann = [program.scope(user="ann") for program in programs]
    await ann[0].remember("Ann's locker code is 4417")

    async def write(memory: Memory, place: int) -> None:
        for number in range(5):
            await memory.remember(f"Ann's neighbour {place} has cat {number}")

    forgetting = ann[0].forget(user="ann")
    await asyncio.gather(forgetting, *(write(it, place) for place, it in enumerate(ann[1:])))
    await first.drain()
    known = [record.content for record in await ann[1].list(limit=100)]
    assert not any("4417" in content for content in known)
    assert (await others[0].audit.verify()).is_intact
