"""Cleaning up now and then: archives and records past their time, unused blobs, expired state."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final

from recollect.context.archive_retention import Retention
from recollect.domain.job import Job, NewJob
from recollect.errors import RecollectError
from recollect.ports.clock import Clock
from recollect.ports.jobs import Jobs
from recollect.ports.state import State

Chore = Callable[[], Awaitable[object]]

SWEEP: Final = "sweep"
# A program that is open for a moment only does not sweep; the end of a session asks for it too.
_FIRST_AFTER: Final = 60.0
_EVERY: Final = 6 * 60 * 60.0
# It goes through everything, so many sessions that end share one.
_NOT_WITHIN: Final = timedelta(hours=1)

_log = logging.getLogger(__name__)


class Sweeper:
    """Asks for a sweep from time to time; of all open memories one does it, as a job."""

    def __init__(
        self,
        retention: Retention,
        state: State,
        jobs: Jobs,
        clock: Clock,
    ) -> None:
        self._retention = retention
        self._state = state
        self._jobs = jobs
        self._clock = clock
        self._chores: list[Chore] = []
        self._asked_at: datetime | None = None
        self._loop: asyncio.Task[None] | None = None

    def also(self, chore: Chore) -> None:
        """Have something else done with every sweep."""
        self._chores.append(chore)

    async def run(self, job: Job) -> None:
        """The job's work."""
        removed = await self._retention.sweep_all()
        expired = await self._state.sweep()
        _log.info("swept: %d archives, %d values of sessions", removed, expired)
        for chore in self._chores:
            await chore()

    async def schedule(self) -> None:
        """Have it done soon, unless that was asked for just now."""
        now = self._clock.now()
        if self._asked_at is None or now - self._asked_at >= _NOT_WITHIN:
            self._asked_at = now
            await self._jobs.add([NewJob(kind=SWEEP, key=SWEEP)])

    def start(self) -> None:
        """Ask for it again and again until `stop`."""
        self._loop = asyncio.create_task(self._ask_forever(), name="recollect-sweeper")

    async def stop(self) -> None:
        if self._loop is not None:
            self._loop.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._loop
            self._loop = None

    async def _ask_forever(self) -> None:
        await asyncio.sleep(_FIRST_AFTER)
        while True:
            try:
                await self.schedule()
            except RecollectError as problem:
                _log.warning("a sweep is put off: %s", problem)
            await asyncio.sleep(_EVERY)
