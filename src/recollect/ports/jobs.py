"""The queue of background work."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from recollect.domain.job import Job, NewJob
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

    async def finish(self, job: Job) -> None:
        """The work is done: the job is gone, unless its lease was lost."""
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

    async def counts(self) -> JobCounts: ...
