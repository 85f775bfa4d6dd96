"""Background jobs of the write path: read again, and decide the acts of turns."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, cast

from recollect.domain.filters import Filter
from recollect.domain.job import Job, NewJob
from recollect.domain.page import Cursor
from recollect.domain.scope import Caller
from recollect.domain.turn import Act, Turn
from recollect.domain.write import LostReading
from recollect.errors import ModelError
from recollect.language.extraction.acts import with_acts
from recollect.ports.jobs import Jobs
from recollect.ports.runtime import Clock
from recollect.ports.store import Store
from recollect.writing.intake import Extracted
from recollect.writing.pipeline import WritePipeline
from recollect.writing.reader_extraction import Extractor
from recollect.writing.schedule import place_of, session_of

if TYPE_CHECKING:
    from recollect.writing.lost_readings import SqlLostReadings
    from recollect.writing.undecided import SqlUndecidedTurns

# --- A job that reads turns again which rules had to read while the model was unavailable ---------
# A conversation never waits for a model: during an outage rules read the turns, and a job notes
# that the model has not. The job retries until the model answers; claims that were found before are
# recognised and merged.

_log: Final = logging.getLogger(__name__)

REREAD: Final = "reread"

_FIRST_WAIT: Final = timedelta(minutes=1)
_MAX_WAIT: Final = timedelta(hours=1)
# About a week of trying; after that, what rules found has to do.
_MAX_TRIES: Final = 170
# The number of earlier turns that are read for context.
_CONTEXT_TURNS: Final = 4
# Sorts after every id, so that reading continues with the next ordinal.
_LAST_ID: Final = "~"
# Failures that would happen again with the same turns.
_PERMANENT_CODES: Final = frozenset({"model_bad_output", "model_too_long", "model_declined"})


def is_outage(code: str) -> bool:
    """Return whether a model that failed with this code may read the same turns later."""
    return bool(code) and code not in _PERMANENT_CODES


@dataclass(frozen=True, slots=True)
class _Wait:
    """The turns that wait for the model, and how often it was tried."""

    first: int
    last: int
    tries: int

    @property
    def pause(self) -> timedelta:
        return min(_FIRST_WAIT * 2 ** min(self.tries, 10), _MAX_WAIT)


class RereadQueue:
    """A queue of turns that the model has not read, to be read later."""

    def __init__(self, store: Store, jobs: Jobs, pipeline: WritePipeline, clock: Clock) -> None:
        self._store = store
        self._jobs = jobs
        self._pipeline = pipeline
        self._clock = clock

    async def note(self, caller: Caller, session: str, turns: Sequence[Turn]) -> None:
        """Queue these turns to be read again."""
        wait = _Wait(turns[0].ordinal, turns[-1].ordinal, 0)
        await self._jobs.add([self._job(place_of(caller.scope, session), wait)])

    async def read(self, job: Job, model: Extractor | None) -> None:
        """Have the model read the turns of a job; try again later if it fails."""
        if model is None:
            return
        caller, session = session_of(job)
        wait = _Wait(job.payload["first"], job.payload["last"], job.payload["tries"])
        found = await self._turns(caller, session, wait)
        before = [turn for turn in found if turn.ordinal < wait.first]
        turns = [turn for turn in found if turn.ordinal >= wait.first]
        if not turns:
            return
        try:
            claims = await model.extract(turns, before=before)
        except ModelError as problem:
            await self._postpone(caller, session, wait, problem)
            return
        await self._pipeline.take(caller, claims, found, Extracted(by="model"), adds=True)

    async def _postpone(
        self, caller: Caller, session: str, wait: _Wait, problem: ModelError
    ) -> None:
        if not is_outage(problem.code):
            _log.warning("turns stay as rules read them: %s", problem)
            return
        if wait.tries >= _MAX_TRIES:
            raise problem
        later = _Wait(wait.first, wait.last, wait.tries + 1)
        await self._jobs.add([self._job(place_of(caller.scope, session), later)])

    async def _turns(self, caller: Caller, session: str, wait: _Wait) -> list[Turn]:
        begin = max(0, wait.first - 1 - _CONTEXT_TURNS)
        found = await self._store.turns(
            [caller.scope],
            Filter(session=session),
            after=Cursor(at=begin, id=_LAST_ID),
            limit=wait.last - begin,
        )
        return [turn for turn in found if turn.ordinal <= wait.last]

    def _job(self, place: Mapping[str, Any], wait: _Wait) -> NewJob:
        named = f"{sorted(place.items())}/{wait.first}-{wait.last}"
        return NewJob(
            kind=REREAD,
            key=hashlib.sha256(named.encode()).hexdigest(),
            payload={**place, "first": wait.first, "last": wait.last, "tries": wait.tries},
            run_after=self._clock.now() + wait.pause,
        )


# --- Jobs that read sessions again which an earlier release read without keeping anything ---------
# It took every claim for known when the episode of the session was stored first.

RECOVER: Final = "recover"
READ_AGAIN: Final = "read_again"


class Recovery:
    """The job that has every such session read again, each by a job of its own."""

    def __init__(self, lost: SqlLostReadings, jobs: Jobs) -> None:
        self._lost = lost
        self._jobs = jobs

    async def run(self, job: Job) -> Mapping[str, Any]:
        """Queue the sessions; the migration that brings this release queues this job once."""
        found = await self._lost.all()
        await self._jobs.add([_read_again(reading) for reading in found])
        return {"sessions": len(found)}


def _read_again(reading: LostReading) -> NewJob:
    place = f"{reading.scope.key}/{reading.session}"
    return NewJob(
        kind=READ_AGAIN,
        key=hashlib.sha256(place.encode()).hexdigest(),
        payload={
            **place_of(reading.scope, reading.session),
            "after": reading.after,
            "to": reading.to,
        },
    )


# --- A job that decides the acts of turns stored before acts existed ------------------------------

DECIDE_ACTS: Final = "decide_acts"
_TURNS_PER_BATCH: Final = 200


class ActDecider:
    """The job's work; an interrupted run resumes where it stopped."""

    def __init__(self, turns: SqlUndecidedTurns, jobs: Jobs) -> None:
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
