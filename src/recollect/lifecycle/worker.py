"""Running background jobs: whoever holds the lease works, failures wait longer each time."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from recollect.domain.ids import new_id
from recollect.domain.job import Job
from recollect.errors import RecollectError
from recollect.ports.clock import Clock
from recollect.ports.jobs import Jobs

Handler = Callable[[Job], Coroutine[Any, Any, None]]

_LEASE: Final = timedelta(seconds=60)
_MOST_ATTEMPTS: Final = 8
_FIRST_WAIT: Final = timedelta(seconds=1)
_LONGEST_WAIT: Final = timedelta(minutes=10)
_IDLE_SECONDS: Final = 1.0

_log = logging.getLogger(__name__)


class Worker:
    """Takes due jobs one after another and hands them to their handlers."""

    def __init__(
        self,
        jobs: Jobs,
        clock: Clock,
        handlers: Mapping[str, Handler],
        look_for_work: Callable[[], Awaitable[None]] | None = None,
        *,
        lease: timedelta = _LEASE,
    ) -> None:
        self._jobs = jobs
        self._lease = lease
        self._clock = clock
        self._handlers = handlers
        # Asked once, before the first job: what nobody has queued yet.
        self._look_for_work = look_for_work
        self._name = new_id("job")
        self._loop: asyncio.Task[None] | None = None
        # One job at a time: whoever asks for due work also waits for what the loop is doing.
        self._working = asyncio.Lock()

    def start(self) -> None:
        """Work in the background until `stop`."""
        self._loop = asyncio.create_task(self._work_forever(), name="recollect-worker")

    async def stop(self) -> None:
        """Stop; a job that is running is given back for another worker."""
        if self._loop is not None:
            self._loop.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._loop
            self._loop = None

    async def run_due(self) -> int:
        """Run every job that is due now; the number that ran."""
        count = 0
        async with self._working:
            await self._look()
            while (job := await self._claimed(list(self._handlers))) is not None:
                await self._run(job)
                count += 1
        return count

    async def run_now(self, kind: str) -> bool:
        """Run the job of this kind, unless none is due or another worker has it.

        What it raises is raised here too, for somebody waits for it.
        """
        async with self._working:
            await self._look()
            job = await self._claimed([kind])
            if job is not None:
                await self._run(job, is_awaited=True)
        return job is not None

    async def drain(self) -> None:
        """Wait until nothing waits any more: what fails is tried until it is done or given up."""
        await self.run_due()
        while (due := await self._jobs.next_due(list(self._handlers))) is not None:
            pause = (due - self._clock.now()).total_seconds()
            if pause > 0:
                await asyncio.sleep(min(pause, 0.2))
            await self.run_due()

    async def _look(self) -> None:
        if self._look_for_work is not None:
            await self._look_for_work()
            self._look_for_work = None

    async def _claimed(self, kinds: Sequence[str]) -> Job | None:
        now = self._clock.now()
        return await self._jobs.claim(kinds, self._name, now=now, lease_until=now + self._lease)

    async def _run(self, job: Job, *, is_awaited: bool = False) -> None:
        working = asyncio.ensure_future(self._handlers[job.kind](job))
        keeping = asyncio.create_task(self._keep_lease(job, working))
        try:
            await working
        except asyncio.CancelledError:
            # Given back at once, so that another worker need not wait for the lease to end.
            await asyncio.shield(self._jobs.retry(job, "", self._clock.now()))
            # Cancelled is either whoever waits for the work, or the work whose lease was lost.
            if _is_cancelled():
                raise
        except Exception as problem:
            # A job may fail in any way; it is told and tried again.
            await self._put_back(job, problem)
            if is_awaited:
                raise
        else:
            await self._jobs.finish(job)
        finally:
            working.cancel()
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

    async def _keep_lease(self, job: Job, working: asyncio.Future[None]) -> None:
        """Renew the lease while the work goes on; when it was lost, the work ends."""
        while True:
            await asyncio.sleep(self._lease.total_seconds() / 3)
            if not await self._jobs.extend(job, self._clock.now() + self._lease):
                _log.warning("job %s (%s) was taken over by another worker", job.kind, job.key)
                working.cancel()
                return

    async def _work_forever(self) -> None:
        while True:
            try:
                await self.run_due()
            except RecollectError as problem:
                # The database may be busy or away for a while; jobs wait in it.
                _log.warning("background work pauses: %s", problem)
            await asyncio.sleep(_IDLE_SECONDS)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
