"""The queue of background work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from recollect.domain.job import Job, JobReport, JobState, NewJob
from recollect.domain.page import Cursor
from recollect.domain.stats import JobCounts


class Jobs(Protocol):
    """Jobs with leases: of several workers, one runs a job; if it dies, another takes over."""

    async def add(self, jobs: Sequence[NewJob]) -> None: ...

    async def claim(
        self, kinds: Sequence[str], owner: str, *, now: datetime, lease_until: datetime
    ) -> Job | None:
        """The next job that is due and not leased, now leased to `owner`."""
        ...

    async def extend(self, job: Job, lease_until: datetime) -> bool:
        """Keep the lease; False when it was lost to another worker."""
        ...

    async def finish(self, job: Job, result: Mapping[str, Any] | None = None) -> None:
        """The work is done, unless the lease was lost; that and its result are told for a day.

        The result is in numbers: nothing that anybody told us.
        """
        ...

    async def retry(self, job: Job, error: str, run_after: datetime | None) -> None:
        """The work failed: due again at `run_after`, or given up when that is None."""
        ...

    async def withdraw(self, kind: str) -> bool:
        """Remove the jobs of a kind; whoever works on one stops when its lease is to be renewed.

        False when there were none.
        """
        ...

    async def next_due(self, kinds: Sequence[str]) -> datetime | None:
        """When the earliest waiting job is due or its lease ends; None when nothing waits."""
        ...

    async def has(self, kind: str) -> bool:
        """Whether there is a job of a kind, waiting, running or given up."""
        ...

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
        """How jobs are doing, the newest first, from behind `after`."""
        ...

    async def cancel(self, job_id: str) -> bool:
        """Let a job not be done; whoever works on it stops when its lease is to be renewed.

        False when there is no such job, or it is over.
        """
        ...

    async def counts(self) -> JobCounts: ...
