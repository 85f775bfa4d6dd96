"""A job that decides the acts of turns stored before acts existed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final, Protocol, cast

from recollect.domain.job import Job, NewJob
from recollect.domain.turn import Act, Turn
from recollect.language.extraction.acts import with_acts
from recollect.ports.jobs import Jobs

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


# --- Turns without an act, stored by releases that did not classify turns -------------------------


class UndecidedTurns(Protocol):
    """All turns without an act, in all scopes."""

    async def first(self, *, limit: int) -> Sequence[Turn]:
        """Return some of them, oldest first; none if all are classified."""
        ...

    async def decide(self, acts: Mapping[str, Act]) -> None:
        """Store the acts of these turns, with the traits of their units."""
        ...
