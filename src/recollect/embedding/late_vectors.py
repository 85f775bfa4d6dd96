"""Vectors that are made after their texts were stored, in batches, without making writers wait.

What waits here is stored already and found by its words. If the process ends first, the next one
that opens the memory finds the units without vectors.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Final

from recollect.domain.change import ChangeSet, Committed
from recollect.domain.embedding import GAP_LASTS, EmbeddingModel, UnitVector
from recollect.domain.embedding_jobs import EMBED, MISSING_VECTORS, REEMBED
from recollect.domain.scope import Scope
from recollect.domain.unit import OwnerUnits
from recollect.embedding.service import EmbeddingService
from recollect.ports.jobs import Jobs
from recollect.ports.runtime import Clock
from recollect.ports.store import Store

_log: Final = logging.getLogger(__name__)

# Owners that are embedded together: texts of similar length share a run of the model, and a large
# batch has more of them. A writer waits while more owners than this are waiting.
_BATCH_OWNERS: Final = 256
_MAX_WAITING_OWNERS: Final = 256
# A second batch of at least this size starts beside the first, so that no core is idle.
_MIN_PARALLEL_OWNERS: Final = 64
_MAX_BATCHES_UNDER_WAY: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Late:
    """An owner whose stored units, numbered from `first`, wait for vectors of this model."""

    owner: OwnerUnits
    first: int
    model: EmbeddingModel


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """The vectors of a batch of owners, yet to be stored."""

    owners: int = 0
    changes: Sequence[ChangeSet] = ()


class LateVectors:
    """A queue of owners without vectors, embedded oldest first and stored in batches."""

    def __init__(self, embedding: EmbeddingService, store: Store, jobs: Jobs) -> None:
        self._embedding = embedding
        self._store = store
        self._jobs = jobs
        self._waiting: deque[_Late] = deque()
        # Owners are numbered as they are added and done in that order; by scope, the last number.
        self._added = 0
        self._done = 0
        self._last: dict[Scope, int] = {}
        self._moved = asyncio.Condition()
        self._under_way: deque[asyncio.Task[_Made]] = deque()
        self._storing: asyncio.Task[None] | None = None

    def model_of(self, scope: Scope) -> EmbeddingModel | None:
        """Return the model that embeds what is stored in a scope."""
        return next(iter(self._embedding.answering([scope])), None)

    async def add(
        self, owners: Sequence[OwnerUnits], model: EmbeddingModel | None, committed: Committed
    ) -> None:
        """Queue owners that were committed without vectors, to be embedded with this model."""
        if model is None or not committed.without_vectors:
            return
        first = committed.without_vectors
        late = [
            _Late(owner=owner, first=first[owner.owner_id], model=model)
            for owner in owners
            if owner.owner_id in first
        ]
        self._waiting.extend(late)
        self._added += len(late)
        self._last.update((waiting.owner.scope, self._added) for waiting in late)
        self._begin()
        if len(self._waiting) > _MAX_WAITING_OWNERS:
            async with self._moved:
                await self._moved.wait_for(lambda: len(self._waiting) <= _MAX_WAITING_OWNERS)

    def is_settled(self, scopes: Collection[Scope]) -> bool:
        """Return whether everything added so far in these scopes has its vectors."""
        return self._done >= self._last_of(scopes)

    async def settled(
        self, scopes: Collection[Scope] | None = None, *, within: float | None = None
    ) -> bool:
        """Wait until everything added so far, in these scopes or anywhere, has its vectors.

        Return False if that takes more than `within` seconds.
        """
        awaited = self._added if scopes is None else self._last_of(scopes)
        if self._done < awaited:
            try:
                async with asyncio.timeout(within), self._moved:
                    await self._moved.wait_for(lambda: self._done >= awaited)
            except TimeoutError:
                return False
        return True

    def _last_of(self, scopes: Collection[Scope]) -> int:
        return max([self._last.get(scope, 0) for scope in scopes], default=0)

    def _begin(self) -> None:
        """Start embedding what waits, unless the model is busy enough."""
        while self._waiting and self._may_begin():
            batch = [self._waiting.popleft() for _ in range(min(_BATCH_OWNERS, len(self._waiting)))]
            making = asyncio.create_task(self._make(batch), name="recollect-vectors")
            self._under_way.append(making)
        if self._storing is None and self._under_way:
            self._storing = asyncio.create_task(self._store_all(), name="recollect-vectors-kept")

    def _may_begin(self) -> bool:
        if len(self._waiting) < _MIN_PARALLEL_OWNERS:
            return not self._under_way
        return len(self._under_way) < _MAX_BATCHES_UNDER_WAY

    async def _store_all(self) -> None:
        """Store finished batches in order, while the next ones are embedded."""
        while self._under_way:
            made = await self._under_way[0]
            self._under_way.popleft()
            self._begin()
            await self._store_batch(made)
        self._last.clear()
        self._storing = None

    async def _make(self, batch: Sequence[_Late]) -> _Made:
        groups = groupby(batch, key=attrgetter("model"))
        changes = [await self._changes(model, list(group)) for model, group in groups]
        return _Made(owners=len(batch), changes=[one for one in changes if one is not None])

    async def _changes(self, model: EmbeddingModel, late: Sequence[_Late]) -> ChangeSet | None:
        try:
            reader = await self._embedding.reader(model)
            made = (
                None if reader is None else await reader.units([waiting.owner for waiting in late])
            )
            if made is None:
                await self._jobs.add([MISSING_VECTORS])
                return None
        except Exception as problem:  # noqa: BLE001  (a caller's embedder may raise anything)
            _warn(len(late), problem)
            return None
        vectors = tuple(
            vector
            for owner, waiting in zip(made, late, strict=True)
            for vector in _vectors(owner, waiting)
        )
        if not vectors:
            return None
        return ChangeSet(principal=EMBED, scope=vectors[0].scope, vectors=vectors, model=model)

    async def _store_batch(self, made: _Made) -> None:
        for changes in made.changes:
            try:
                await self._store.commit(changes)
            except Exception as problem:  # noqa: BLE001  (whatever it is, the next batch goes on)
                _warn(len(changes.vectors), problem)
        async with self._moved:
            self._done += made.owners
            self._moved.notify_all()


def _warn(count: int, problem: Exception) -> None:
    # The next process that opens the memory finds the units without vectors.
    _log.warning("%d owners stay without vectors for now: %s", count, problem)


def _vectors(owner: OwnerUnits, late: _Late) -> Iterator[UnitVector]:
    for number, unit in enumerate(owner.units, start=late.first):
        # A text in a language that the model cannot read gets no vector.
        if unit.vector is not None:
            yield UnitVector(
                scope=owner.scope, unit=number, owner=owner.owner_id, vector=unit.vector
            )


# --- Units that stay without vectors, which somebody has to know ----------------------------------


_MAX_PLACES: Final = 1_000


class VectorGaps:
    """Tells of units without vectors, unless they get them by themselves in a while."""

    def __init__(self, embedding: EmbeddingService, jobs: Jobs, clock: Clock) -> None:
        self._embedding = embedding
        self._jobs = jobs
        self._clock = clock
        # Since when some scopes have lacked vectors that nobody makes.
        self._since: dict[tuple[Scope, ...], datetime] = {}

    async def notes(self, scopes: tuple[Scope, ...], missing: int) -> tuple[str, ...]:
        """Return a note about the units of these scopes that stay without vectors."""
        if not missing or (not self._embedding.absence and await self._are_awaited()):
            self._since.pop(scopes, None)
            return ()
        if len(self._since) > _MAX_PLACES:
            self._since.clear()
        now = self._clock.now()
        since = self._since.setdefault(scopes, now)
        if not self._embedding.absence and now - since < GAP_LASTS:
            return ()
        which = "1 unit has" if missing == 1 else f"{missing} units have"
        then = self._embedding.absence or "`recollect reindex` makes them"
        return (f"{which} no vector and can be found by words only; {then}",)

    async def _are_awaited(self) -> bool:
        """Return whether a job makes missing vectors."""
        return await self._jobs.next_due([EMBED, REEMBED]) is not None
