"""The contract of `recollect.ports.jobs.Jobs`."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from recollect.domain.job import Job, NewJob
from recollect.ports.jobs import Jobs
from recollect.testing.clock import ManualClock

_LEASE = timedelta(minutes=1)


class JobsContract:
    """Provide the fixture `jobs`: an empty queue that reads the time from the fixture `clock`."""

    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    async def test_a_job_is_claimed_once(self, jobs: Jobs, clock: ManualClock) -> None:
        await jobs.add([NewJob(kind="sort", key=str(number)) for number in range(6)])
        claimed = await asyncio.gather(*(_claim(jobs, clock, f"w{it}") for it in range(8)))
        keys = sorted(job.key for job in claimed if job is not None)
        assert keys == [str(number) for number in range(6)]

    async def test_only_the_wanted_kinds_are_claimed(self, jobs: Jobs, clock: ManualClock) -> None:
        await jobs.add([NewJob(kind="from-the-future", key="1")])
        assert await _claim(jobs, clock) is None
        assert await jobs.next_due(["sort"]) is None
        assert await jobs.has("from-the-future")
        assert (await jobs.counts()).waiting == 1

    async def test_a_waiting_job_is_not_added_twice(self, jobs: Jobs) -> None:
        await jobs.add([NewJob(kind="sort", key="same")])
        await jobs.add([NewJob(kind="sort", key="same")])
        assert (await jobs.counts()).waiting == 1

    async def test_a_job_waits_until_it_is_due(self, jobs: Jobs, clock: ManualClock) -> None:
        due = clock.now() + timedelta(hours=1)
        await jobs.add([NewJob(kind="sort", key="1", payload={"n": 1}, run_after=due)])
        assert await jobs.next_due(["sort"]) == due
        assert await _claim(jobs, clock) is None
        clock.turn(hours=1)
        job = await _claim(jobs, clock)
        assert job is not None
        assert (job.kind, job.key, job.payload, job.attempts) == ("sort", "1", {"n": 1}, 1)

    async def test_an_expired_lease_is_taken_over(self, jobs: Jobs, clock: ManualClock) -> None:
        await jobs.add([NewJob(kind="sort", key="1")])
        dead = await _claimed(jobs, clock, "dead")
        assert await _claim(jobs, clock) is None
        clock.turn(seconds=61)
        alive = await _claimed(jobs, clock)
        assert alive.attempts == 2
        assert not await jobs.extend(dead, clock.now() + _LEASE)
        await jobs.finish(dead)
        assert (await jobs.counts()).waiting == 1, "only the holder of the lease may finish a job"
        await jobs.finish(alive)
        assert (await jobs.counts()).waiting == 0

    async def test_an_extended_lease_lasts_longer(self, jobs: Jobs, clock: ManualClock) -> None:
        await jobs.add([NewJob(kind="sort", key="1")])
        job = await _claimed(jobs, clock)
        assert await jobs.extend(job, clock.now() + 3 * _LEASE)
        clock.turn(minutes=2)
        assert await _claim(jobs, clock, "another") is None

    async def test_a_failed_job_is_tried_again_or_given_up(
        self, jobs: Jobs, clock: ManualClock
    ) -> None:
        await jobs.add([NewJob(kind="sort", key="1")])
        later = clock.now() + timedelta(minutes=5)
        await jobs.retry(await _claimed(jobs, clock), "no luck", later)
        assert await jobs.next_due(["sort"]) == later
        clock.turn(minutes=5)
        await jobs.retry(await _claimed(jobs, clock), "no luck", None)
        counts = await jobs.counts()
        assert (counts.waiting, counts.failed) == (0, 1)
        (report,) = await jobs.reports(state="failed", now=clock.now())
        assert (report.error, report.attempts) == ("no luck", 2)

    async def test_a_job_that_is_given_back_has_not_failed(
        self, jobs: Jobs, clock: ManualClock
    ) -> None:
        await jobs.add([NewJob(kind="sort", key="1")])
        await jobs.give_back(await _claimed(jobs, clock))
        again = await _claimed(jobs, clock, "another")
        assert again.attempts == 1

    async def test_a_finished_job_is_listed_with_its_result(
        self, jobs: Jobs, clock: ManualClock
    ) -> None:
        await jobs.add([NewJob(kind="sort", key="1")])
        job = await _claimed(jobs, clock)
        (running,) = await jobs.reports(ids=[job.id], now=clock.now())
        assert running.state == "running"
        await jobs.finish(job, {"sorted": 3})
        (done,) = await jobs.reports(kind="sort", now=clock.now())
        assert (done.state, done.result) == ("done", {"sorted": 3})
        assert await jobs.next_due(["sort"]) is None

    async def test_a_cancelled_job_does_not_run(self, jobs: Jobs, clock: ManualClock) -> None:
        await jobs.add([NewJob(kind="sort", key="1")])
        (report,) = await jobs.reports(now=clock.now())
        assert await jobs.cancel(report.id)
        assert await _claim(jobs, clock) is None
        assert not await jobs.cancel(report.id)
        assert not await jobs.cancel("job_unknown")

    async def test_withdrawing_removes_all_jobs_of_a_kind(
        self, jobs: Jobs, clock: ManualClock
    ) -> None:
        await jobs.add([NewJob(kind="sort", key="1"), NewJob(kind="sort", key="2")])
        job = await _claimed(jobs, clock)
        assert await jobs.withdraw("sort")
        assert not await jobs.extend(job, clock.now() + _LEASE)
        assert not await jobs.has("sort")
        assert not await jobs.withdraw("sort")


async def _claim(jobs: Jobs, clock: ManualClock, owner: str = "worker") -> Job | None:
    now = clock.now()
    return await jobs.claim(["sort"], owner, now=now, lease_until=now + _LEASE)


async def _claimed(jobs: Jobs, clock: ManualClock, owner: str = "worker") -> Job:
    job = await _claim(jobs, clock, owner)
    assert job is not None
    return job
