"""Links between hits that are too new to have been judged in the background.

Judging is a job and may have to wait. Meanwhile the newest of the best hits are compared with the
other hits during the recall. A comparison that exceeds the budget is stored when it finishes, and
counts for the next recall.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextvars import Context
from typing import TYPE_CHECKING, Final

from recollect.domain.record import Record
from recollect.domain.relation import JUDGE, Link
from recollect.domain.turn import Turn
from recollect.ports.runtime import seconds_left

if TYPE_CHECKING:
    from recollect.ports.jobs import Jobs
    from recollect.ports.runtime import Clock

_log: Final = logging.getLogger(__name__)

_BUDGET_SECONDS: Final = 0.02
# Only the best hits decide what comes first.
_HITS_COMPARED: Final = 5
_MAX_WAITING: Final = 1_000
_MAX_READ: Final = 200

LinkAmong = Callable[[Record | Turn, Collection[str]], Awaitable[Sequence[Link]]]
"""Judge an item against the others with these ids; store and return the links."""


class FreshLinks:
    """The judging of hits whose job has not run yet, once each."""

    def __init__(
        self, jobs: Jobs, clock: Clock, link: Callable[[], LinkAmong | None], patience: float
    ) -> None:
        """`link` loads the judge; the first time, `patience` bounds how long that may take."""
        self._jobs = jobs
        self._clock = clock
        self._load = link
        self._patience = patience
        self._is_loaded = False
        self._waiting: dict[str, None] = {}
        self._is_read = False
        self._judging: set[asyncio.Task[list[Link]]] = set()

    def expect(self, ids: Iterable[str]) -> None:
        """Note what was stored and is yet to be judged."""
        self._waiting.update(dict.fromkeys(ids))
        for oldest in list(self._waiting)[:-_MAX_WAITING]:
            del self._waiting[oldest]

    def settle(self, ids: Iterable[str]) -> None:
        """Note what has been judged."""
        for judged in ids:
            self._waiting.pop(judged, None)

    async def of(self, hits: Sequence[Record | Turn]) -> Sequence[Link]:
        """Return the links between the best hits that have not been judged so far."""
        if not self._is_read:
            await self._read_waiting()
        best = hits[:_HITS_COMPARED]
        new = [hit for hit in best if hit.id in self._waiting]
        if not new:
            return ()
        self.settle(hit.id for hit in new)
        # The task may outlive the recall, so it does not use the recall's snapshot.
        judging = asyncio.create_task(
            self._link(new, {hit.id for hit in best}), name="recollect-judge", context=Context()
        )
        self._judging.add(judging)
        judging.add_done_callback(self._judging.discard)
        budget = _BUDGET_SECONDS if self._is_loaded else self._patience
        done, _ = await asyncio.wait([judging], timeout=seconds_left(budget))
        return judging.result() if done else ()

    async def close(self) -> None:
        """Wait for the comparisons under way."""
        if self._judging:
            await asyncio.wait(self._judging)

    async def _read_waiting(self) -> None:
        """Read what other processes have stored and nobody has judged."""
        self._is_read = True
        reports = await self._jobs.reports(
            kind=JUDGE, state="waiting", limit=_MAX_READ, now=self._clock.now()
        )
        self.expect(report.key for report in reports)

    async def _link(self, items: Sequence[Record | Turn], among: Collection[str]) -> list[Link]:
        links: list[Link] = []
        try:
            link = self._load()
            if link is not None:
                for item in items:
                    links += await link(item, among)
                self._is_loaded = True
        except Exception as problem:  # noqa: BLE001  (the job judges them later)
            _log.info("hits are not compared at once: %s", problem)
        return links
