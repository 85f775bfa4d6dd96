"""Background jobs of the write path: judge, read again, and decide the acts of turns."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, cast

from recollect.domain.change import ChangeSet
from recollect.domain.filters import Filter
from recollect.domain.ids import new_id
from recollect.domain.job import Job, NewJob
from recollect.domain.page import Cursor
from recollect.domain.record import Kind, Record
from recollect.domain.relation import Conflict, Link
from recollect.domain.scope import Caller, Scope
from recollect.domain.turn import Act, Turn
from recollect.domain.write import LostReading
from recollect.embedding.service import EmbeddingService
from recollect.errors import ModelError, StaleVersion
from recollect.language.extraction.acts import with_acts
from recollect.language.units import record_units, turn_units
from recollect.ports.facets import FacetReader
from recollect.ports.jobs import Jobs
from recollect.ports.judge import MOST_JUDGED, Statement
from recollect.ports.runtime import Clock, give_way
from recollect.ports.store import Store
from recollect.recall.fresh_links import FreshLinks
from recollect.writing.candidates import Candidates, compared_scopes
from recollect.writing.intake import Extracted
from recollect.writing.judges import JudgeChain
from recollect.writing.outcome import statement_of
from recollect.writing.pipeline import WritePipeline
from recollect.writing.reader_extraction import Extractor
from recollect.writing.schedule import is_judged, judged_of, place_of, session_of

if TYPE_CHECKING:
    from recollect.writing.lost_readings import SqlLostReadings
    from recollect.writing.undecided import SqlUndecidedTurns

_MAX_ATTEMPTS: Final = 5
Item = Record | Turn


class BackgroundJudge:
    """A job that links new records and turns with earlier ones."""

    def __init__(
        self,
        store: Store,
        embedding: EmbeddingService,
        candidates: Candidates,
        judge: JudgeChain,
        clock: Clock,
        fresh: FreshLinks,
        facets: FacetReader | None = None,
    ) -> None:
        self._store = store
        self._embedding = embedding
        self._candidates = candidates
        self._judge = judge
        self._clock = clock
        self._fresh = fresh
        self._facets = facets

    async def run(self, job: Job) -> None:
        """Run the job."""
        caller, ids = judged_of(job)
        if not self._judge.has_model:
            return
        for item in sorted(await self._items(caller.readable, ids), key=_said_at):
            if is_judged(item):
                began = time.monotonic()
                await self._link(caller, item)
                await give_way(time.monotonic() - began)
        self._fresh.settle(ids)

    async def link_among(self, item: Item, among: Collection[str]) -> tuple[Link, ...]:
        """Link a record or turn with those of the given ids that were said before it."""
        if not is_judged(item):
            return ()
        caller = Caller(scope=item.scope, principal=item.scope.actor)
        return await self._link(caller, item, among)

    async def _link(
        self, caller: Caller, item: Item, among: Collection[str] | None = None
    ) -> tuple[Link, ...]:
        """Judge one record or turn and store the links, unless something changed meanwhile."""
        scopes = compared_scopes(caller, item.scope)
        for attempt in range(_MAX_ATTEMPTS):
            versions = await self._store.versions(scopes)
            links = await self._links(caller, item, among)
            if not links:
                break
            changes = ChangeSet(
                principal=caller.principal,
                scope=caller.scope,
                links=links,
                conflicts=tuple(map(_conflict, filter(_is_conflict, links))),
                expected=dict(zip(scopes, versions, strict=True)),
            )
            try:
                await self._store.commit(changes)
            except StaleVersion:
                if attempt == _MAX_ATTEMPTS - 1:
                    raise
            else:
                return links
        return ()

    async def _links(
        self, caller: Caller, item: Item, among: Collection[str] | None
    ) -> tuple[Link, ...]:
        now, began = self._clock.now(), time.monotonic()
        nearness = await self._near(caller, item, now)
        older = await self._older(caller, item, nearness)
        scopes = compared_scopes(caller, item.scope)
        known = await self._store.links(scopes, [item.id])
        linked = set(chain.from_iterable(link.ends for link in known))
        wanted = (other for other in older if among is None or other.id in among)
        older = [other for other in wanted if other.id not in linked][:MOST_JUDGED]
        await give_way(time.monotonic() - began)
        judged = await self._judge.judge(
            _statement(item), [_statement(other, nearness[other.id]) for other in older]
        )
        return tuple(
            Link(
                scope=item.scope,
                newer=item.id,
                older=other.id,
                relation=verdict.relation,
                probability=verdict.probability,
                reason=verdict.reason,
                decided_by=verdict.decided_by,
                at=now,
            )
            for other, verdict in zip(older, judged.verdicts, strict=True)
            if verdict.relation != "different"
        )

    async def _near(self, caller: Caller, item: Item, now: datetime) -> dict[str, float | None]:
        """Return the ids of its nearest neighbours, nearest first, with their similarity."""
        units = record_units(item) if isinstance(item, Record) else turn_units(item)
        embedded = await self._embedding.of_units([units])
        scopes = compared_scopes(caller, item.scope)
        near = await self._candidates.ids_near(
            scopes, item.content, embedded.owners[0], embedded.model, now
        )
        facet, about = await self._stated(item)
        kind = item.kind if isinstance(item, Record) else Kind.SEMANTIC
        stating = await self._candidates.stating(scopes, facet, about, kind, now)
        # They come first: what has one value at a time is compared, however it is worded.
        return {record.id: near.get(record.id) for record in stating} | near

    async def _stated(self, item: Item) -> tuple[str | None, str]:
        """Return which attribute it states, and of whom."""
        if isinstance(item, Record):
            return item.facet, item.about
        if self._facets is None or item.role != "user":
            return None, ""
        (guess,) = await self._facets.read([item.content])
        return guess.facet, guess.about

    async def _older(
        self, caller: Caller, item: Item, nearness: Mapping[str, float | None]
    ) -> list[Item]:
        """Return the neighbours that were said before it, except what was made from it."""
        places = {owner: place for place, owner in enumerate(nearness)}
        near = await self._items(compared_scopes(caller, item.scope), list(nearness))
        found = [other for other in near if is_judged(other)]
        return sorted(
            (
                other
                for other in found
                if _is_before(other, item) and not _have_one_source(other, item)
            ),
            key=lambda other: places[other.id],
        )

    async def _items(self, scopes: Sequence[Scope], ids: Sequence[str]) -> list[Item]:
        records = await self._store.records(scopes, Filter(), now=self._clock.now(), ids=ids)
        return [*records, *await self._store.turns(scopes, Filter(), ids=ids)]


def _statement(item: Item, near: float | None = None) -> Statement:
    if isinstance(item, Record):
        return statement_of(item, near=near)
    return Statement(text=item.content, said_at=item.at, source=item.role, near=near)


def _said_at(item: Item) -> datetime:
    return item.last_confirmed if isinstance(item, Record) else item.at


def _is_before(other: Item, item: Item) -> bool:
    return other.id != item.id and (_said_at(other), other.id) < (_said_at(item), item.id)


def _have_one_source(other: Item, item: Item) -> bool:
    """Return whether one of them was made from the other."""
    pair = (other, item)
    turns = {one.id for one in pair if isinstance(one, Turn)}
    records = [one for one in pair if isinstance(one, Record)]
    return any(evidence.turn in turns for one in records for evidence in one.evidence)


def _is_conflict(link: Link) -> bool:
    are_records = not any(end.startswith("turn_") for end in link.ends)
    return link.relation == "conflict" and are_records


def _conflict(link: Link) -> Conflict:
    return Conflict(
        id=new_id("conflict"),
        scope=link.scope,
        first=link.older,
        second=link.newer,
        reason=link.reason,
        created_at=link.at,
    )


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
