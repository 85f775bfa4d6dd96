"""The queue of background jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from recollect.domain.job import Job, JobCounts, JobReport, JobState, NewJob
    from recollect.domain.page import Cursor


class Jobs(Protocol):
    """Jobs with leases: one of several workers runs a job; if it dies, another takes over."""

    async def add(self, jobs: Sequence[NewJob]) -> None: ...

    async def claim(
        self, kinds: Sequence[str], owner: str, *, now: datetime, lease_until: datetime
    ) -> Job | None:
        """Return the next due job that is not leased, now leased to `owner`."""
        ...

    async def free_abandoned(self, kind: str) -> None:
        """End the leases of processes that are known to have ended."""
        ...

    async def extend(self, job: Job, lease_until: datetime) -> bool:
        """Extend the lease; return False if another worker has it."""
        ...

    async def finish(
        self, job: Job, result: Mapping[str, Any] | None = None, *, is_listed: bool = True
    ) -> None:
        """Mark the job as done, unless the lease was lost; it is listed with its result for a day.

        One that is not listed is gone. The result consists of numbers only, without content.
        """
        ...

    async def retry(self, job: Job, error: str, run_after: datetime | None) -> None:
        """Mark the job as failed: retry at `run_after`, or give up if that is None."""
        ...

    async def give_back(self, job: Job) -> None:
        """Return a job that was stopped: it is due for anybody, and has not failed."""
        ...

    async def rouse(self, kinds: Sequence[str], *, even_given_up: bool = False) -> bool:
        """Make due what processes that have ended were to do, or also what was given up.

        Return whether a job of these kinds is due that no other process is going to run.
        """
        ...

    async def withdraw(self, kind: str) -> bool:
        """Remove the jobs of a kind; a worker stops when it tries to renew its lease.

        Return False if there were none.
        """
        ...

    async def next_due(self, kinds: Sequence[str]) -> datetime | None:
        """Return when the earliest job is due or its lease ends; None if nothing waits."""
        ...

    async def has(self, kind: str) -> bool:
        """Return whether there is a job of a kind, waiting, running or given up."""
        ...

    async def counts(self) -> JobCounts: ...

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
        """Return reports of jobs, newest first, starting after `after`."""
        ...

    async def cancel(self, job_id: str) -> bool:
        """Cancel a job; a worker stops when it tries to renew its lease.

        Return False if there is no such job, or it is finished.
        """
        ...
