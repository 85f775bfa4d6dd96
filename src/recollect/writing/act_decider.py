"""A job that decides the acts of turns stored before acts existed."""

from __future__ import annotations

import asyncio
from typing import Final, cast

from recollect.domain.job import Job, NewJob
from recollect.domain.turn import Act
from recollect.language.extraction.acts import with_acts
from recollect.ports.jobs import Jobs
from recollect.ports.unclassified_turns import UndecidedTurns

DECIDE_ACTS: Final = "decide_acts"
_TURNS_PER_BATCH: Final = 200


class ActDecider:
    """The job's work; an interrupted run resumes where it stopped."""

    def __init__(self, turns: UndecidedTurns, jobs: Jobs) -> None:
        self._turns = turns
        self._jobs = jobs

    async def schedule(self) -> None:
        """Queue the work if there is any."""
        if await self._turns.first(limit=1):
            await self._jobs.add([NewJob(kind=DECIDE_ACTS, key=DECIDE_ACTS)])

    async def run(self, job: Job) -> None:
        """Decide the act of every turn that has none."""
        while turns := await self._turns.first(limit=_TURNS_PER_BATCH):
            decided = await asyncio.to_thread(with_acts, turns)
            await self._turns.decide({turn.id: cast("Act", turn.act) for turn in decided})
