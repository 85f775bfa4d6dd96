"""The background jobs of several stores, as an operator sees them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from recollect.domain.job import JobReport, JobState
from recollect.domain.page import Cursor
from recollect.ports.jobs import JobReports


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitJobReports:
    """Lists the jobs of every store together, and cancels one wherever it is."""

    every: Callable[[], Sequence[JobReports]]

    async def reports(
        self,
        *,
        ids: Sequence[str] | None = None,
        state: JobState | None = None,
        kind: str | None = None,
        after: Cursor | None = None,
        limit: int | None = None,
        now: datetime,
    ) -> list[JobReport]:
        found = [
            await jobs.reports(ids=ids, state=state, kind=kind, after=after, limit=limit, now=now)
            for jobs in self.every()
        ]
        # Ids rise with time, in whichever store.
        return sorted(chain(*found), key=lambda job: job.id, reverse=True)[:limit]

    async def cancel(self, job_id: str) -> bool:
        return any([await jobs.cancel(job_id) for jobs in self.every()])
