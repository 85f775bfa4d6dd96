"""List background jobs with their progress, and cancel them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final, get_args

from recollect.domain.document import INGEST_DOCUMENT
from recollect.domain.embedding import EMBED, REEMBED, Reindexing
from recollect.domain.fields import MAX_TITLE, checked_text
from recollect.domain.forgetting import FORGET
from recollect.domain.job import JobReport, JobState
from recollect.domain.page import Cursor, Page, PageWanted
from recollect.errors import Conflict, InvalidInput, NotFound
from recollect.ports.clock import Clock
from recollect.ports.jobs import JobReports

_VECTORS: Final = (EMBED, REEMBED)


class JobControl:
    """Reports on jobs, for an operator."""

    def __init__(
        self,
        jobs: JobReports,
        clock: Clock,
        reindexing: Callable[[], Awaitable[Reindexing]],
        reading: Callable[[str], tuple[int, int] | None],
    ) -> None:
        self._jobs = jobs
        self._clock = clock
        self._reindexing = reindexing
        # Returns the progress of a document that this process is reading.
        self._reading = reading

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
        if job.kind not in _VECTORS or job.is_over:
            return job
        now = await self._reindexing()
        return replace(job, done=now.units - now.lacking, total=now.units)
