"""Running background jobs: whoever holds the lease works, failures wait longer each time."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Final

from recollect.domain.ids import new_id
from recollect.domain.job import Job
from recollect.errors import RecollectError
from recollect.ports.clock import Clock
from recollect.ports.jobs import Jobs

Handler = Callable[[Job], Awaitable[None]]

_LEASE: Final = timedelta(seconds=60)
_MOST_ATTEMPTS: Final = 8
_FIRST_WAIT: Final = timedelta(seconds=1)
_LONGEST_WAIT: Final = timedelta(minutes=10)
_IDLE_SECONDS: Final = 5.0

_log = logging.getLogger(__name__)


class Worker:
    """Takes due jobs one after another and hands them to their handlers."""

    def __init__(self, jobs: Jobs, clock: Clock, handlers: Mapping[str, Handler]) -> None:
        self._jobs = jobs
        self._clock = clock
        self._handlers = handlers
        self._name = new_id("job")
        self._loop: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()
        # One job at a time: whoever asks for due work also waits for what the loop is doing.
        self._working = asyncio.Lock()

    def start(self) -> None:
        """Work in the background until `stop`."""
        self._loop = asyncio.create_task(self._work_forever(), name="recollect-worker")

    def wake(self) -> None:
        """Something was queued: look at once instead of at the next round."""
        self._woken.set()

    async def stop(self) -> None:
        """Stop after cancelling what runs; its lease ends by itself and another takes over."""
        if self._loop is not None:
            self._loop.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._loop
            self._loop = None

    async def run_due(self) -> int:
        """Run every job that is due now; the number that ran."""
        count = 0
        async with self._working:
            while await self._run_one():
                count += 1
        return count

    async def drain(self) -> None:
        """Wait until nothing waits any more: what fails is tried until it is done or given up."""
        while (due := await self._jobs.next_due(list(self._handlers))) is not None:
            pause = (due - self._clock.now()).total_seconds()
            if pause > 0:
                await asyncio.sleep(min(pause, 0.2))
            await self.run_due()

    async def _run_one(self) -> bool:
        now = self._clock.now()
        job = await self._jobs.claim(
            list(self._handlers), self._name, now=now, lease_until=now + _LEASE
        )
        if job is None:
            return False
        await self._run(job)
        return True

    async def _run(self, job: Job) -> None:
        keeping = asyncio.create_task(self._keep_lease(job))
        try:
            await self._handlers[job.kind](job)
        except Exception as problem:  # noqa: BLE001  (a job may fail in any way; it is told and retried)
            await self._put_back(job, problem)
        else:
            await self._jobs.finish(job)
        finally:
            keeping.cancel()

    async def _put_back(self, job: Job, problem: Exception) -> None:
        gives_up = job.attempts >= _MOST_ATTEMPTS
        wait = min(_FIRST_WAIT * 2 ** (job.attempts - 1), _LONGEST_WAIT)
        _log.warning(
            "job %s (%s) failed, attempt %d%s: %s",
            job.kind,
            job.key,
            job.attempts,
            ", giving up" if gives_up else "",
            problem,
        )
        run_after = None if gives_up else self._clock.now() + wait
        await self._jobs.retry(job, f"{type(problem).__name__}: {problem}", run_after)

    async def _keep_lease(self, job: Job) -> None:
        while True:
            await asyncio.sleep(_LEASE.total_seconds() / 3)
            await self._jobs.extend(job, self._clock.now() + _LEASE)

    async def _work_forever(self) -> None:
        while True:
            try:
                await self.run_due()
            except RecollectError as problem:
                # The database may be busy or away for a while; jobs wait in it.
                _log.warning("background work pauses: %s", problem)
            self._woken.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), _IDLE_SECONDS)
