"""`memory.jobs`: background jobs of all stores, for an operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.domain.job import JobReport, JobState
from recollect.domain.page import Page, PageWanted

if TYPE_CHECKING:
    from recollect.memory.parts import Parts


class BackgroundJobs:
    """The background jobs of all stores; finished ones are listed for a day."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def list(
        self,
        *,
        state: JobState | None = None,
        kind: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[JobReport]:
        """Return jobs, newest first: waiting, running, failed, done or cancelled ones, or all."""
        return await self._parts.job_desk.list(state, kind, PageWanted(limit=limit, cursor=cursor))

    async def get(self, job_id: str) -> JobReport:
        """Return the state, the progress where known, and the result of one job."""
        return await self._parts.job_desk.get(job_id)

    async def cancel(self, job_id: str) -> JobReport:
        """Cancel a job; one that is running stops soon, and what it did is kept."""
        return await self._parts.job_desk.cancel(job_id)
