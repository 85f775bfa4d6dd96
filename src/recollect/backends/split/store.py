"""Records and turns of several stores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import Protocol, TypeVar

from recollect.backends.split.reading import read_each, summed
from recollect.domain.change import ChangeSet, Committed
from recollect.domain.embedding import MISSING_VECTORS
from recollect.domain.filters import Filter
from recollect.domain.hit import ScoringInput
from recollect.domain.page import Cursor
from recollect.domain.record import Record, Version
from recollect.domain.relation import Link
from recollect.domain.scope import Holding, Scope, split, split_reachable
from recollect.domain.stats import StoreCounts
from recollect.domain.times import to_micros
from recollect.domain.turn import Turn
from recollect.errors import InvalidInput
from recollect.ports.store import Store


class _Scoped(Protocol):
    @property
    def scope(self) -> Scope: ...


Part = TypeVar("Part", bound=_Scoped)


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitStore:
    """Reads and writes every scope in the store that holds it.

    No transaction spans two stores, so a change belongs to one. What is read out of turns may
    belong to several: it is found again, and written once, if a kill comes between.
    """

    home: Store
    holding: Holding[Store]

    async def commit(self, changes: ChangeSet) -> Committed:
        # Uses are counted for many records at a time, and each for itself.
        is_divisible = bool(changes.watermarks or changes.accesses)
        scopes = _scopes_of(changes)
        if is_divisible:
            scopes |= {entry.scope for entry in changes.audit}
        stores = [store for store, _ in split(scopes, self.holding)]
        if len(stores) == 1:
            return await stores[0].commit(changes)
        if not is_divisible:
            raise InvalidInput(
                "This would change two stores at the same time; nothing was changed",
                code="two_stores",
                hint="Save a user profile and what is the agent's alone in separate calls.",
            )
        if changes.watermarks:
            # How far turns were read is where they are, and is written last.
            last = self.holding(changes.watermarks[0].scope)
            stores.sort(key=lambda store: store is last)
        done = [
            await store.commit(self._part_of(changes, store, is_last=store is stores[-1]))
            for store in stores
        ]
        versions = [committed.versions.items() for committed in done]
        return replace(done[-1], versions=dict(chain(*versions)))

    def _part_of(self, changes: ChangeSet, store: Store, *, is_last: bool) -> ChangeSet:
        """Return what one of the stores is to write of what may belong to several."""

        def holds(scope: Scope) -> bool:
            return self.holding(scope) is store

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
        found = await read_each(
            scopes,
            ids,
            self.holding,
            lambda store, some: store.records(
                some, where, now=now, ids=ids, after=after, limit=limit
            ),
        )
        if ids is None and len(found) > 1:
            return sorted(chain(*found), key=_latest_record, reverse=True)[:limit]
        return list(chain(*found))

    async def turns(
        self,
        scopes: Sequence[Scope],
        where: Filter,
        *,
        ids: Sequence[str] | None = None,
        after: Cursor | None = None,
        limit: int | None = None,
    ) -> list[Turn]:
        found = await read_each(
            scopes,
            ids,
            self.holding,
            lambda store, some: store.turns(some, where, ids=ids, after=after, limit=limit),
        )
        if ids is None and len(found) > 1:
            if where.session is None:
                return sorted(chain(*found), key=_latest_turn, reverse=True)[:limit]
            return sorted(chain(*found), key=lambda turn: (turn.ordinal, turn.id))[:limit]
        return list(chain(*found))

    async def weighable(
        self,
        scopes: Sequence[Scope],
        where: Filter,
        *,
        now: datetime,
        records: Sequence[str],
        turns: Sequence[str],
        whole: int,
    ) -> dict[str, ScoringInput]:
        found: dict[str, ScoringInput] = {}
        for store, some in self._split(scopes):
            found |= await store.weighable(
                some, where, now=now, records=records, turns=turns, whole=whole
            )
        return found

    async def links(self, scopes: Sequence[Scope], ids: Sequence[str]) -> list[Link]:
        # A link is where its ends are: whoever has read those misses nothing.
        places, _ = split_reachable(scopes, self.holding)
        return [link for store, some in places for link in await store.links(some, ids)]

    async def history(self, scopes: Sequence[Scope], record_id: str) -> list[Version]:
        places, problems = split_reachable(scopes, self.holding)
        for store, some in places:
            if found := await store.history(some, record_id):
                return found
        if problems:
            raise problems[0]
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
            by_kind=summed(it.by_kind for it in found),
            by_status=summed(it.by_status for it in found),
            turns=sum(it.turns for it in found),
            sessions=sum(it.sessions for it in found),
            units=sum(it.units for it in found),
            links=summed(it.links for it in found),
        )

    async def close(self) -> None:
        """Close the store at home; each of the others is closed by its own parts."""
        await self.home.close()

    def _split(self, scopes: Sequence[Scope]) -> list[tuple[Store, tuple[Scope, ...]]]:
        return split(scopes, self.holding)


def _latest_record(record: Record) -> tuple[int, str]:
    return to_micros(record.observed_at), record.id


def _latest_turn(turn: Turn) -> tuple[int, str]:
    return to_micros(turn.at), turn.id


def _scopes_of(changes: ChangeSet) -> set[Scope]:
    """Return where something is changed; the caller's own scope when nothing says."""
    records = [it.record for it in (*changes.records, *changes.feedback)]
    scopes = {it.scope for it in (*records, *changes.purged, *changes.turns, *changes.retracted)}
    scopes |= {it.scope for it in (*changes.accesses, *changes.proposals, *changes.watermarks)}
    return scopes or {it.scope for it in changes.links} or {changes.scope}
