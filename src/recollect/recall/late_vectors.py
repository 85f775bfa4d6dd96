"""Vectors of what was stored without: made many together, while whoever stored it goes on.

What waits here is durable already and found by its words. If the process ends before its vectors
are made, the next one that opens the memory finds the units that lack them.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Final

from recollect.domain.change import ChangeSet, Committed
from recollect.domain.embedding import EMBED, MISSING_VECTORS, EmbeddingModel, UnitVector
from recollect.domain.scope import Scope
from recollect.domain.unit import OwnerUnits
from recollect.ports.jobs import Jobs
from recollect.ports.store import Store
from recollect.recall.meaning import Meaning

_log: Final = logging.getLogger(__name__)

# So many owners are embedded together: texts of like length share a run of the model, and among
# many there are more of them. Whoever adds more than can wait has to wait as well.
_BATCH: Final = 256
_MOST_WAITING: Final = 256
# So many need not wait until those before are done, so that no core of the model does.
_WORTH_BEGINNING: Final = 64
_MOST_UNDER_WAY: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Late:
    """An owner whose units are stored, numbered from `first`, and get vectors of this model."""

    owner: OwnerUnits
    first: int
    model: EmbeddingModel


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """The vectors of so many owners, still to be stored."""

    owners: int = 0
    changes: Sequence[ChangeSet] = ()


class LateVectors:
    """Embeds what waits, oldest first, and stores the vectors a batch at a time."""

    def __init__(self, meaning: Meaning, store: Store, jobs: Jobs) -> None:
        self._meaning = meaning
        self._store = store
        self._jobs = jobs
        self._waiting: deque[_Late] = deque()
        # What is added is counted, and done in its order: by scope, the number of the last.
        self._added = 0
        self._done = 0
        self._last: dict[Scope, int] = {}
        self._moved = asyncio.Condition()
        self._under_way: deque[asyncio.Task[_Made]] = deque()
        self._keeping: asyncio.Task[None] | None = None

    def model_of(self, scope: Scope) -> EmbeddingModel | None:
        """The model that will make the vectors of what is stored in a scope."""
        return next(iter(self._meaning.answering([scope])), None)

    async def add(
        self, owners: Sequence[OwnerUnits], model: EmbeddingModel | None, committed: Committed
    ) -> None:
        """Take over owners that were committed without vectors, for this model to read."""
        if model is None or not committed.without_vectors:
            return
        first = committed.without_vectors
        late = [
            _Late(owner=it, first=first[it.owner_id], model=model)
            for it in owners
            if it.owner_id in first
        ]
        self._waiting.extend(late)
        self._added += len(late)
        self._last.update((it.owner.scope, self._added) for it in late)
        self._begin()
        if len(self._waiting) > _MOST_WAITING:
            async with self._moved:
                await self._moved.wait_for(lambda: len(self._waiting) <= _MOST_WAITING)

    def is_settled(self, scopes: Collection[Scope]) -> bool:
        """Whether all that was added so far in these scopes has its vectors."""
        return self._done >= self._last_of(scopes)

    async def settled(
        self, scopes: Collection[Scope] | None = None, *, within: float | None = None
    ) -> bool:
        """Wait until all that was added so far, in these scopes or anywhere, has its vectors.

        With a time `within` which it must be; False when it is over.
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
        return max((self._last.get(scope, 0) for scope in scopes), default=0)

    def _begin(self) -> None:
        """Begin with what waits, if the model is to have more to do."""
        while self._waiting and self._may_begin():
            batch = [self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))]
            making = asyncio.create_task(self._make(batch), name="recollect-vectors")
            self._under_way.append(making)
        if self._keeping is None and self._under_way:
            self._keeping = asyncio.create_task(self._keep_all(), name="recollect-vectors-kept")

    def _may_begin(self) -> bool:
        if len(self._waiting) < _WORTH_BEGINNING:
            return not self._under_way
        return len(self._under_way) < _MOST_UNDER_WAY

    async def _keep_all(self) -> None:
        """Store what was made, in its order, while the next is made."""
        while self._under_way:
            made = await self._under_way[0]
            self._under_way.popleft()
            self._begin()
            await self._keep(made)
        self._last.clear()
        self._keeping = None

    async def _make(self, batch: Sequence[_Late]) -> _Made:
        groups = groupby(batch, key=attrgetter("model"))
        changes = [await self._changes(model, list(group)) for model, group in groups]
        return _Made(owners=len(batch), changes=[it for it in changes if it is not None])

    async def _changes(self, model: EmbeddingModel, late: Sequence[_Late]) -> ChangeSet | None:
        try:
            reader = await self._meaning.reader(model)
            made = None if reader is None else await reader.units([it.owner for it in late])
            if made is None:
                await self._jobs.add([MISSING_VECTORS])
                return None
        except Exception as problem:  # noqa: BLE001  (a caller's embedder may raise anything)
            _warn(len(late), problem)
            return None
        vectors = tuple(
            it for owner, one in zip(made, late, strict=True) for it in _vectors(owner, one)
        )
        if not vectors:
            return None
        return ChangeSet(principal=EMBED, scope=vectors[0].scope, vectors=vectors, model=model)

    async def _keep(self, made: _Made) -> None:
        for changes in made.changes:
            try:
                await self._store.commit(changes)
            except Exception as problem:  # noqa: BLE001  (whatever it is, the next batch goes on)
                _warn(len(changes.vectors), problem)
        async with self._moved:
            self._done += made.owners
            self._moved.notify_all()


def _warn(count: int, problem: Exception) -> None:
    # The units stay as they are; whoever opens the memory next finds them.
    _log.warning("%d owners stay without vectors for now: %s", count, problem)


def _vectors(owner: OwnerUnits, late: _Late) -> Iterator[UnitVector]:
    for number, unit in enumerate(owner.units, start=late.first):
        # A text that the model cannot read stays without.
        if unit.vector is not None:
            yield UnitVector(
                scope=owner.scope, unit=number, owner=owner.owner_id, vector=unit.vector
            )
