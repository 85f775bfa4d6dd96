"""Background jobs: run under a lease, listed with their progress, and cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, get_args

from recollect.domain.access import MOVE_AGENT
from recollect.domain.document import INGEST_DOCUMENT
from recollect.domain.embedding import Reindexing
from recollect.domain.embedding_jobs import EMBED, REEMBED
from recollect.domain.fields import MAX_TITLE, checked_text
from recollect.domain.forgetting import FORGET
from recollect.domain.job import Job, JobReport, JobState, new_holder
from recollect.domain.page import Cursor, Page, PageWanted
from recollect.errors import Conflict, InvalidInput, NotFound, RecollectError
from recollect.ports.runtime import Clock, span, work_in_background

if TYPE_CHECKING:
    from recollect.ports.jobs import Jobs

# Runs a job and returns its result in numbers.
Handler = Callable[[Job], Coroutine[Any, Any, Mapping[str, Any] | None]]

_LEASE: Final = timedelta(seconds=60)
_MAX_ATTEMPTS: Final = 8
_FIRST_WAIT: Final = timedelta(seconds=1)
_LONGEST_WAIT: Final = timedelta(minutes=10)
_IDLE_SECONDS: Final = 1.0

_log = logging.getLogger(__name__)


class Worker:
    """Takes due jobs one after another and calls their handlers."""

    def __init__(
        self,
        jobs: Jobs,
        clock: Clock,
        handlers: Mapping[str, Handler],
        look_for_work: Callable[[], Awaitable[None]] | None = None,
        *,
        lease: timedelta = _LEASE,
        unhurried: Collection[str] = (),
        lanes: Sequence[Collection[str]] = (),
        tireless: Collection[str] = (),
        are_listed: bool = True,
    ) -> None:
        self._jobs = jobs
        # Whether a finished job is kept in the list for a day.
        self._are_listed = are_listed
        self._lease = lease
        self._clock = clock
        self._handlers = handlers
        # Jobs that are delayed on purpose: `drain` does not wait for them, but runs due ones.
        self._hurried = [kind for kind in handlers if kind not in unhurried]
        # Jobs that are tried again until they succeed.
        self._tireless = tireless
        # Called once before the first job, to queue work that is pending.
        self._look_for_work = look_for_work
        self._looking = asyncio.Lock()
        self._name = new_holder()
        self._loops: list[asyncio.Task[None]] = []
        # Slow jobs run in lanes of their own, so that the others do not wait for them.
        # Each lane runs one job at a time; a caller of `run_due` waits for the running one.
        apart = {kind for lane in lanes for kind in lane}
        usual = tuple(kind for kind in handlers if kind not in apart)
        self._lanes = {tuple(kinds): asyncio.Lock() for kinds in (usual, *lanes)}

    def start(self) -> None:
        """Work in the background until `stop`."""
        self._loops = [
            asyncio.create_task(self._work_forever(kinds), name="recollect-worker")
            for kinds in self._lanes
        ]

    async def stop(self) -> None:
        """Stop; return a running job to the queue."""
        for loop in self._loops:
            loop.cancel()
        for loop in self._loops:
            with contextlib.suppress(asyncio.CancelledError):
                await loop
        self._loops = []

    async def run_due(self) -> int:
        """Run every job that is due; return how many ran."""
        await self._look()
        count = 0
        # A job in one lane may add jobs to another.
        while ran := sum([await self._run_lane(kinds) for kinds in self._lanes]):
            count += ran
        return count

    async def run_only(self, kinds: Collection[str]) -> int:
        """Run what is due of some kinds, which have a lane of their own; return how many ran."""
        (lane,) = (lane for lane in self._lanes if set(lane) == set(kinds))
        return await self._run_lane(lane)

    async def run_now(self, kind: str) -> bool:
        """Run the job of this kind; return False if none is due or another worker has it.

        An error of the job is raised here too, because somebody waits for it.
        """
        await self._look()
        (lane,) = (lock for kinds, lock in self._lanes.items() if kind in kinds)
        async with lane:
            # Somebody waits: what a killed process held is not waited for.
            await self._jobs.free_abandoned(kind)
            job = await self._claimed([kind])
            if job is not None:
                await self._run(job, is_awaited=True)
        return job is not None

    async def drain(self) -> None:
        """Wait until no job is left; a failed one is retried until it succeeds or is given up."""
        await self.run_due()
        while (due := await self._jobs.next_due(self._hurried)) is not None:
            pause = (due - self._clock.now()).total_seconds()
            if pause > 0 and not await self._jobs.rouse(self._hurried):
                await asyncio.sleep(min(pause, 0.2))
            await self.run_due()

    async def _look(self) -> None:
        async with self._looking:
            if self._look_for_work is not None:
                await self._look_for_work()
                self._look_for_work = None

    async def _claimed(self, kinds: Sequence[str]) -> Job | None:
        now = self._clock.now()
        return await self._jobs.claim(kinds, self._name, now=now, lease_until=now + self._lease)

    async def _run(self, job: Job, *, is_awaited: bool = False) -> None:
        working = asyncio.ensure_future(self._traced(job))
        keeping = asyncio.create_task(self._keep_lease(job, working))
        try:
            result = await working
        except asyncio.CancelledError:
            # Given back at once, so that another worker need not wait for the lease to end.
            await asyncio.shield(self._jobs.give_back(job))
            # Cancelled is either whoever waits for the work, or the work whose lease was lost.
            if _is_cancelled():
                raise
        except Exception as problem:
            # A job may fail in any way; it is told and tried again.
            await self._put_back(job, problem)
            if is_awaited:
                raise
        else:
            await self._jobs.finish(job, result, is_listed=self._are_listed)
        finally:
            working.cancel()
            keeping.cancel()

    async def _traced(self, job: Job) -> Any:
        with span("job", kind=job.kind, attempt=job.attempts):
            return await self._handlers[job.kind](job)

    async def _put_back(self, job: Job, problem: Exception) -> None:
        gives_up = job.attempts >= _MAX_ATTEMPTS and job.kind not in self._tireless
        wait = min(_FIRST_WAIT * 2 ** min(job.attempts - 1, 20), _LONGEST_WAIT)
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

    async def _keep_lease(self, job: Job, working: asyncio.Future[Any]) -> None:
        """Renew the lease while the job runs; cancel the job if the lease was lost."""
        while True:
            await asyncio.sleep(self._lease.total_seconds() / 3)
            if not await self._jobs.extend(job, self._clock.now() + self._lease):
                _log.warning("job %s (%s) was taken over by another worker", job.kind, job.key)
                working.cancel()
                return

    async def _run_lane(self, kinds: tuple[str, ...]) -> int:
        """Run what is due in a lane; return how many jobs ran."""
        count = 0
        async with self._lanes[kinds]:
            while (job := await self._claimed(kinds)) is not None:
                await self._run(job)
                count += 1
        return count

    async def _work_forever(self, kinds: tuple[str, ...]) -> None:
        work_in_background()
        is_paused = False
        while True:
            try:
                await self._look()
                await self._run_lane(kinds)
                is_paused = False
            except RecollectError as problem:
                # The database may be busy or away for a while; jobs wait in it.
                level = logging.INFO if is_paused else logging.WARNING
                _log.log(level, "background work pauses: %s", problem)
                is_paused = True
            await asyncio.sleep(_IDLE_SECONDS)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


# --- List background jobs with their progress, and cancel them ------------------------------------

_VECTORS: Final = (EMBED, REEMBED)


@dataclass(eq=False)
class JobControl:
    """Reports on jobs, for an operator."""

    _jobs: Jobs
    _clock: Clock
    _reindexing: Callable[[], Awaitable[Reindexing]]
    # Returns the progress of a document that this process is reading.
    _reading: Callable[[str], tuple[int, int] | None]
    # Returns how far the move of an agent is.
    _moving: Callable[[str], Awaitable[tuple[int, int] | None]]

    async def list(
        self, state: JobState | None, kind: str | None, page: PageWanted
    ) -> Page[JobReport]:
        """Return a page of jobs, newest first."""
        if state is not None and state not in get_args(JobState):
            raise InvalidInput(
                f"state {state!r} is not one of: {', '.join(get_args(JobState))}",
                code="unknown_value",
            )
        found = await self._jobs.reports(
            state=state, kind=kind, after=page.after, limit=page.one_more, now=self._clock.now()
        )
        told = [await self._with_progress(job) for job in found]
        return page.of([(Cursor(at=0, id=job.id), job) for job in told])

    async def get(self, job_id: str) -> JobReport:
        """Return one job while it is known."""
        checked_text(job_id, "id", MAX_TITLE, blank=True)
        found = await self._jobs.reports(ids=[job_id], now=self._clock.now())
        if not found:
            raise NotFound(
                f"There is no job {job_id!r}",
                code="unknown_job",
                hint="Finished jobs are listed for a day; the list of jobs shows the ids.",
            )
        return await self._with_progress(found[0])

    async def cancel(self, job_id: str) -> JobReport:
        """Cancel a job; what it did so far is kept."""
        job = await self.get(job_id)
        if job.kind == FORGET:
            raise Conflict(
                f"{job_id} erases what somebody wanted forgotten, and cannot be cancelled",
                code="not_cancellable",
                hint="It runs until nothing is left.",
            )
        if not await self._jobs.cancel(job_id):
            raise Conflict(
                f"{job_id} is already {job.state}; nothing was changed",
                code="job_is_over",
                hint="Only a waiting, running or failed job can be cancelled.",
            )
        return await self.get(job_id)

    async def _with_progress(self, job: JobReport) -> JobReport:
        """Return the job with its progress where that is known."""
        if job.kind == INGEST_DOCUMENT and (known := self._reading(job.key)) is not None:
            return replace(job, done=known[0], total=known[1])
        if job.kind == MOVE_AGENT and (moved := await self._moving(job.key)) is not None:
            return replace(job, done=moved[0], total=moved[1])
        if job.kind not in _VECTORS or job.is_over:
            return job
        now = await self._reindexing()
        return replace(job, done=now.units - now.lacking, total=now.units)
