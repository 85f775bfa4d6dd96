"""Keeping a derived store equal to the database, in the background, by one process at a time."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
from typing import Final

from recollect.domain.followers import (
    Difference,
    FollowerCondition,
    FollowerState,
    Place,
    Reconciled,
)
from recollect.domain.job import Job, NewJob
from recollect.errors import InvalidInput, RecollectError, StoreAway
from recollect.followers.breaker import Breaker
from recollect.followers.rows import EVERYTHING, SqlFollowers
from recollect.jobs.worker import Worker
from recollect.ports.follower import ComparingFollower, FinishingFollower, Follower
from recollect.ports.jobs import Jobs
from recollect.ports.runtime import Clock, work_in_background

_INTERVAL_SECONDS: Final = 1.0
# Scopes that are not followed yet are served by the database, so they are looked for less often.
_ROUNDS_BETWEEN_NEW: Final = 15
_POLL_SECONDS: Final = 0.05

_log: Final = logging.getLogger(__name__)


class Following:
    """Runs one follower: a job catches up with the changes of every scope, and erases what is gone.

    The lease of the job keeps all but one process from it. Where a follower is is kept after every
    step, so a killed one goes on where it was.
    """

    def __init__(self, follower: Follower, rows: SqlFollowers, jobs: Jobs, clock: Clock) -> None:
        self._follower = follower
        self._rows = rows
        self._jobs = jobs
        # Of each store, so that two of a kind do not wait for each other.
        which = hashlib.blake2b(follower.name.encode(), digest_size=4).hexdigest()
        self._job_kind = f"follow_{follower.kind}_{which}"
        self._worker = Worker(jobs, clock, {self._job_kind: self._run}, are_listed=False)
        self._loop: asyncio.Task[None] | None = None
        self.breaker = Breaker(follower.name)

    @property
    def name(self) -> str:
        return self._follower.name

    @property
    def kind(self) -> str:
        return self._follower.kind

    @property
    def follower(self) -> Follower:
        return self._follower

    @property
    def rows(self) -> SqlFollowers:
        return self._rows

    def start(self) -> None:
        """Follow in the background until `close`."""
        self._loop = asyncio.create_task(self._follow_forever(), name="recollect-follower")

    async def close(self) -> None:
        """Stop; what is left is done by whoever opens the database next."""
        if self._loop is not None:
            self._loop.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._loop
            self._loop = None

    async def catch_up(self, *, looks_for_new: bool = True) -> bool:
        """Bring the store up to date if it answers; return whether it is.

        Another process that is at it is not waited for.
        """
        if self.breaker.is_open or not await self._is_behind(looks_for_new=looks_for_new):
            return not self.breaker.is_open
        await self._jobs.add([NewJob(kind=self._job_kind, key=self._follower.kind)])
        await self._jobs.free_abandoned(self._job_kind)
        await self._worker.run_due()
        return not await self._is_behind(looks_for_new=looks_for_new)

    async def settle(self, within: float) -> bool:
        """Bring the store up to what is written now; False if it takes longer or the store is away.

        What others write meanwhile is not waited for.
        """
        goal = await self._rows.goal()
        ends = asyncio.get_running_loop().time() + within
        while goal := await self._rows.unreached(goal):
            if not await self.catch_up() and (
                self.breaker.problem or asyncio.get_running_loop().time() > ends
            ):
                return False
            await asyncio.sleep(_POLL_SECONDS)
        return True

    async def state(self, *, asks: bool = False) -> FollowerState:
        """Return how far the store is; with `asks`, after asking it whether it is there."""
        if asks:
            await self._ask()
        figures = await self._rows.figures()
        condition: FollowerCondition = "current"
        if self.breaker.problem:
            condition = "away"
        elif figures.to_build:
            condition = "building"
        elif figures.lag or figures.to_erase:
            condition = "behind"
        return FollowerState(
            name=self._follower.name,
            kind=self._follower.kind,
            condition=condition,
            scopes=figures.scopes,
            to_build=figures.to_build,
            to_erase=figures.to_erase,
            lag=figures.lag,
            done=figures.done,
            total=figures.total,
            problem=self.breaker.problem,
        )

    async def finish(self) -> None:
        """Bring the store up to date however long it takes, unless it is away."""
        with contextlib.suppress(StoreAway):
            await self.build()

    async def put_right(self, *, dry_run: bool, rebuild: bool, clear: bool) -> Reconciled:
        """Compare the store with the database; repair it, build it anew, or empty it for good."""
        if dry_run + rebuild + clear > 1:
            raise InvalidInput(
                "Only one of dry_run, rebuild and clear can be asked for", code="contradiction"
            )
        if rebuild or clear:
            await self._follower.check()
            self.breaker.answered()
        if clear:
            await self._follower.drop(EVERYTHING)
            await self._rows.clear()
        elif rebuild:
            await self.rebuild()
        return await self.reconcile(repair=not (dry_run or clear))

    async def rebuild(self) -> None:
        """Empty the store and build it anew; an interrupted build goes on with the next one."""
        await self._rows.reset()
        await self._rows.follow([EVERYTHING])
        await self.build()

    async def build(self) -> None:
        """Catch up however long it takes; raise `StoreAway` if the store goes away."""
        while not await self.catch_up():
            if self.breaker.problem:
                raise StoreAway(
                    f"{self._follower.name} is away: {self.breaker.problem}",
                    hint="What was done is kept; it goes on when the store answers again.",
                )
            await asyncio.sleep(_POLL_SECONDS)

    async def reconcile(self, *, repair: bool) -> Reconciled:
        """Compare the store with the database, scope by scope; with `repair`, put it right.

        Raise `StoreAway` if the store does not answer.
        """
        follower = self._follower
        await follower.check()
        is_comparing = isinstance(follower, ComparingFollower)
        if repair:
            self.breaker.answered()
            await (self.build if is_comparing else self.rebuild)()
        places = [place for place in await self._rows.places() if place.version]
        total = Difference()
        for place in places:
            if not is_comparing:
                break
            found = await follower.compare(place, repair=repair)
            total = Difference(
                items=total.items + found.items,
                missing=total.missing + found.missing,
                extra=total.extra + found.extra,
            )
        if repair and isinstance(follower, FinishingFollower):
            await follower.finish()
        return Reconciled(
            name=self._follower.name,
            kind=self._follower.kind,
            repaired=repair,
            state=await self.state(),
            scopes=len(places),
            items=total.items,
            missing=total.missing,
            extra=total.extra,
        )

    async def _ask(self) -> None:
        try:
            await self._follower.check()
        except StoreAway as problem:
            self.breaker.failed(problem.message)
        else:
            self.breaker.answered()

    async def _follow_forever(self) -> None:
        work_in_background()
        rounds = 0
        while True:
            try:
                await self.catch_up(looks_for_new=rounds % _ROUNDS_BETWEEN_NEW == 0)
            except RecollectError as problem:
                _log.warning("%s is followed later: %s", self._follower.name, problem)
            rounds += 1
            await asyncio.sleep(_INTERVAL_SECONDS)

    async def _is_behind(self, *, looks_for_new: bool) -> bool:
        if await self._rows.behind() or await self._rows.gone():
            return True
        return looks_for_new and bool(await self._rows.unfollowed())

    async def _run(self, job: Job) -> None:
        """Run the job: erase first, then catch up until nothing is left."""
        try:
            await self._drop_gone()
            while True:
                if new := await self._rows.unfollowed():
                    await self._rows.follow(new)
                behind = await self._rows.behind()
                if not behind:
                    break
                for one in behind:
                    await self._follow_scope(one.place, one.newest)
                await self._drop_gone()
            if isinstance(self._follower, FinishingFollower):
                await self._follower.finish()
        except StoreAway as problem:
            # The rows say what is left; it is tried again after a pause.
            self.breaker.failed(problem.message)
        else:
            self.breaker.answered()

    async def _drop_gone(self) -> None:
        while gone := await self._rows.gone():
            for scope in gone:
                await self._follower.drop(scope)
                await self._rows.drop(scope)

    async def _follow_scope(self, place: Place, newest: int) -> None:
        while place.version < newest:
            after = await self._follower.advance(place)
            if after == place or not await self._rows.move(place, after):
                return
            place = after
