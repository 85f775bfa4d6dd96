"""The store of an agent that has one of its own, together with the common one."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol, TypeVar

from recollect.domain.change import ChangeSet, Committed
from recollect.domain.embedding import MISSING_VECTORS
from recollect.domain.filters import Filter
from recollect.domain.link import Link
from recollect.domain.page import Cursor
from recollect.domain.record import Record, Version
from recollect.domain.scope import Scope
from recollect.domain.standing import Weighable
from recollect.domain.stats import StoreCounts
from recollect.domain.times import to_micros
from recollect.domain.turn import Turn
from recollect.errors import InvalidInput
from recollect.ports.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitStore:
    """Scopes that the agent's store `holds` are read and written there, all others in `common`.

    No transaction spans both, so a change belongs to one of the two. What is read out of turns may
    belong to both: it is found again, and written once, if a kill comes between.
    """

    own: Store
    common: Store
    holds: Callable[[Scope], bool]

    async def commit(self, changes: ChangeSet) -> Committed:
        places = {self.holds(scope) for scope in _scopes_of(changes)}
        if len(places) == 1:
            return await (self.own if True in places else self.common).commit(changes)
        # Uses are counted for many records at a time, and each for itself.
        if not (changes.watermarks or changes.accesses):
            raise InvalidInput(
                "This would change the agent's own store and the common one at the same time; "
                "nothing was changed",
                code="two_stores",
                hint="Save a user profile and what is the agent's alone in separate calls.",
            )
        common = await self.common.commit(
            _part_of(changes, lambda scope: not self.holds(scope), is_last=False)
        )
        # How far turns were read is here, and is written last.
        own = await self.own.commit(_part_of(changes, self.holds, is_last=True))
        return replace(own, versions={**common.versions, **own.versions})

    async def records(
        self,
        scopes: Sequence[Scope],
        where: Filter,
        *,
        now: datetime,
        ids: Sequence[str] | None = None,
        after: Cursor | None = None,
        limit: int | None = None,
    ) -> list[Record]:
        found = await asyncio.gather(
            *(
                store.records(some, where, now=now, ids=ids, after=after, limit=limit)
                for store, some in self._split(scopes)
            )
        )
        both = [record for some in found for record in some]
        if ids is None and len(found) > 1:
            both.sort(key=lambda it: (to_micros(it.observed_at), it.id), reverse=True)
        return both[:limit]

    async def turns(
        self,
        scopes: Sequence[Scope],
        where: Filter,
        *,
        ids: Sequence[str] | None = None,
        after: Cursor | None = None,
        limit: int | None = None,
    ) -> list[Turn]:
        found = await asyncio.gather(
            *(
                store.turns(some, where, ids=ids, after=after, limit=limit)
                for store, some in self._split(scopes)
            )
        )
        both = [turn for some in found for turn in some]
        if ids is None and len(found) > 1:
            if where.session is None:
                both.sort(key=lambda it: (to_micros(it.at), it.id), reverse=True)
            else:
                both.sort(key=lambda it: (it.ordinal, it.id))
        return both[:limit]

    async def weighable(
        self,
        scopes: Sequence[Scope],
        where: Filter,
        *,
        now: datetime,
        records: Sequence[str],
        turns: Sequence[str],
        whole: int,
    ) -> dict[str, Weighable]:
        found: dict[str, Weighable] = {}
        for store, some in self._split(scopes):
            found |= await store.weighable(
                some, where, now=now, records=records, turns=turns, whole=whole
            )
        return found

    async def links(self, scopes: Sequence[Scope], ids: Sequence[str]) -> list[Link]:
        found = [await store.links(some, ids) for store, some in self._split(scopes)]
        return [link for some in found for link in some]

    async def history(self, scopes: Sequence[Scope], record_id: str) -> list[Version]:
        for store, some in self._split(scopes):
            if found := await store.history(some, record_id):
                return found
        return []

    async def versions(self, scopes: Sequence[Scope]) -> tuple[int, ...]:
        found: dict[Scope, int] = {}
        for store, some in self._split(scopes):
            found |= zip(some, await store.versions(some), strict=True)
        return tuple(found[scope] for scope in scopes)

    async def counts(self, scopes: Sequence[Scope]) -> StoreCounts:
        found = [await store.counts(some) for store, some in self._split(scopes)]
        return StoreCounts(
            records=sum(it.records for it in found),
            by_kind=_sum(it.by_kind for it in found),
            by_status=_sum(it.by_status for it in found),
            turns=sum(it.turns for it in found),
            sessions=sum(it.sessions for it in found),
            units=sum(it.units for it in found),
            links=_sum(it.links for it in found),
        )

    async def close(self) -> None:
        """Close the agent's store; the common one is others' too."""
        await self.own.close()

    def _split(self, scopes: Sequence[Scope]) -> list[tuple[Store, tuple[Scope, ...]]]:
        return split_scopes(scopes, self.own, self.common, self.holds)


T = TypeVar("T")


class _Scoped(Protocol):
    @property
    def scope(self) -> Scope: ...


Part = TypeVar("Part", bound=_Scoped)


def split_scopes(
    scopes: Sequence[Scope], own: T, common: T, holds: Callable[[Scope], bool]
) -> list[tuple[T, tuple[Scope, ...]]]:
    """Return each of the two with the scopes to ask it for, the agent's own first."""
    theirs = tuple(filter(holds, scopes))
    others = tuple(scope for scope in scopes if scope not in theirs)
    return [(it, some) for it, some in ((own, theirs), (common, others)) if some]


def _scopes_of(changes: ChangeSet) -> set[Scope]:
    """Return where something is changed; the caller's own scope when nothing says."""
    records = [it.record for it in (*changes.records, *changes.feedback)]
    scopes = {it.scope for it in (*records, *changes.purged, *changes.turns, *changes.retracted)}
    scopes |= {it.scope for it in (*changes.accesses, *changes.proposals, *changes.watermarks)}
    return scopes or {changes.scope}


def _part_of(changes: ChangeSet, holds: Callable[[Scope], bool], *, is_last: bool) -> ChangeSet:
    """Return what one of the stores is to write of what was read out of turns."""

    def held(parts: Iterable[Part]) -> tuple[Part, ...]:
        return tuple(it for it in parts if holds(it.scope))

    return replace(
        changes,
        records=tuple(it for it in changes.records if holds(it.record.scope)),
        accesses=held(changes.accesses),
        units=held(changes.units),
        conflicts=held(changes.conflicts),
        links=held(changes.links),
        traces=held(changes.traces),
        watermarks=held(changes.watermarks),
        audit=held(changes.audit),
        expected={scope: it for scope, it in changes.expected.items() if holds(scope)},
        # Each store has the vectors of its own units made.
        jobs=tuple(it for it in changes.jobs if is_last or it == MISSING_VECTORS),
    )


def _sum(counts: Iterable[Mapping[str, int]]) -> Mapping[str, int]:
    total: Counter[str] = Counter()
    for some in counts:
        total.update(some)
    return dict(total)
