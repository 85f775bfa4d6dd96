"""The ports over several stores: each scope is read and written in the store that holds it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, BinaryIO, Protocol, TypeVar

from recollect.domain.archive import Archive, Blob
from recollect.domain.change import Change, ChangeSet, Committed
from recollect.domain.document import Document
from recollect.domain.embedding import MISSING_VECTORS
from recollect.domain.filters import Filter
from recollect.domain.hit import Standing
from recollect.domain.job import JobReport, JobState
from recollect.domain.page import Cursor
from recollect.domain.record import Record, Version
from recollect.domain.relation import Conflict, Link
from recollect.domain.scope import Holding, Scope, split, split_reachable
from recollect.domain.stats import HealthFigures, StoreCounts
from recollect.domain.times import to_micros
from recollect.domain.transfer import ExportCounts
from recollect.domain.turn import Turn
from recollect.domain.upkeep import Selection, Worth
from recollect.domain.write import Trace
from recollect.errors import AgentMoved, InvalidInput
from recollect.ports.archives import Archives, Blobs, StoredBlob
from recollect.ports.jobs import JobReports
from recollect.ports.state import State, StateEntry, StateKey
from recollect.ports.store import ChangeLog, Store, Writes
from recollect.ports.transfer import Added, Arrival, Extent, Snapshot, Transfer
from recollect.ports.upkeep import UpkeepReader

Place = TypeVar("Place")


class _Named(Protocol):
    @property
    def id(self) -> str: ...


Named = TypeVar("Named", bound=_Named)


async def read_each(
    scopes: Sequence[Scope],
    ids: Sequence[str] | None,
    holding: Holding[Place],
    read: Callable[[Place, tuple[Scope, ...]], Awaitable[list[Named]]],
) -> list[list[Named]]:
    """Return what each store answers.

    A store that cannot be opened is an error, unless everything that the ids name is found.
    """
    places, problems = split_reachable(scopes, holding)
    if problems and ids is None:
        raise problems[0]
    found = list(await asyncio.gather(*(read(store, some) for store, some in places)))
    if problems and ids is not None and {item.id for item in chain(*found)} < set(ids):
        raise problems[0]
    return found


def summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the counts of several stores as one, the largest first."""
    total: Counter[str] = Counter()
    for some in counts:
        total.update(some)
    return dict(total.most_common())


# --- Records and turns of several stores ----------------------------------------------------------


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
    # Learns where agents have been moved.
    follow: Callable[[], Awaitable[None]]

    async def commit(self, changes: ChangeSet) -> Committed:
        try:
            return await self._commit(changes)
        except AgentMoved:
            await self.follow()
            return await self._commit(changes)

    async def _commit(self, changes: ChangeSet) -> Committed:
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
            return tuple(part for part in parts if holds(part.scope))

        return replace(
            changes,
            records=tuple(change for change in changes.records if holds(change.record.scope)),
            accesses=held(changes.accesses),
            units=held(changes.units),
            conflicts=held(changes.conflicts),
            links=held(changes.links),
            traces=held(changes.traces),
            watermarks=held(changes.watermarks),
            audit=held(changes.audit),
            expected={
                scope: version for scope, version in changes.expected.items() if holds(scope)
            },
            # Each store has the vectors of its own units made.
            jobs=tuple(job for job in changes.jobs if is_last or job == MISSING_VECTORS),
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

    async def standings(
        self,
        scopes: Sequence[Scope],
        where: Filter,
        *,
        now: datetime,
        records: Sequence[str],
        turns: Sequence[str],
        whole: int,
    ) -> dict[str, Standing]:
        found: dict[str, Standing] = {}
        for store, some in self._split(scopes):
            found |= await store.standings(
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
            records=sum(counts.records for counts in found),
            by_kind=summed(counts.by_kind for counts in found),
            by_status=summed(counts.by_status for counts in found),
            turns=sum(counts.turns for counts in found),
            sessions=sum(counts.sessions for counts in found),
            units=sum(counts.units for counts in found),
            links=summed(counts.links for counts in found),
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
    records = [change.record for change in (*changes.records, *changes.feedback)]
    scopes = {
        part.scope for part in (*records, *changes.purged, *changes.turns, *changes.retracted)
    }
    scopes |= {part.scope for part in (*changes.accesses, *changes.proposals, *changes.watermarks)}
    return scopes or {link.scope for link in changes.links} or {changes.scope}


# --- The state of sessions in several stores ------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitState:
    """Reads and writes the state of a session in the store that holds its scope."""

    home: State
    holding: Holding[State]
    # Learns where agents have been moved.
    follow: Callable[[], Awaitable[None]]

    async def get(self, key: StateKey) -> StateEntry | None:
        return await self.holding(key.scope).get(key)

    async def put(
        self,
        key: StateKey,
        value: str,
        *,
        ttl: timedelta | None = None,
        expected: int | None = None,
        known_since: datetime | None = None,
    ) -> int:
        given: dict[str, Any] = {"ttl": ttl, "expected": expected, "known_since": known_since}
        try:
            return await self.holding(key.scope).put(key, value, **given)
        except AgentMoved:
            await self.follow()
            return await self.holding(key.scope).put(key, value, **given)

    async def touch(self, key: StateKey, ttl: timedelta) -> bool:
        return await self.holding(key.scope).touch(key, ttl)

    async def delete(self, key: StateKey) -> None:
        await self.holding(key.scope).delete(key)

    async def names(self, scope: Scope, session: str) -> list[str]:
        return await self.holding(scope).names(scope, session)

    async def clear(self, scope: Scope, session: str) -> None:
        await self.holding(scope).clear(scope, session)

    async def sweep(self) -> int:
        return await self.home.sweep()


# --- Archived tool results of several stores, and their contents ----------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitArchives:
    """Finds archives in the stores that hold their scopes; background work is for those at home."""

    home: Archives
    holding: Holding[Archives]

    async def find(
        self,
        scopes: Sequence[Scope],
        *,
        ids: Sequence[str] | None = None,
        session: str | None = None,
        tool: str | None = None,
        input_hash: str | None = None,
        content_hash: str | None = None,
        after: Cursor | None = None,
        limit: int | None = None,
    ) -> list[Archive]:
        found = await read_each(
            scopes,
            ids,
            self.holding,
            lambda archives, some: archives.find(
                some,
                ids=ids,
                session=session,
                tool=tool,
                input_hash=input_hash,
                content_hash=content_hash,
                after=after,
                limit=limit,
            ),
        )
        if len(found) == 1:
            return found[0]
        return sorted(chain(*found), key=_newest, reverse=True)[:limit]

    async def with_blob(
        self, scopes: Sequence[Scope], archive_id: str
    ) -> tuple[Archive, Blob] | None:
        places, problems = split_reachable(scopes, self.holding)
        for archives, some in places:
            if (found := await archives.with_blob(some, archive_id)) is not None:
                return found
        if problems:
            raise problems[0]
        return None

    async def blob(self, scope: Scope, content_hash: str) -> Blob | None:
        return await self.holding(scope).blob(scope, content_hash)

    async def note_load(self, archive: Archive, at: datetime) -> None:
        await self.holding(archive.scope).note_load(archive, at)

    async def set_summary(self, archive_id: str, summary: str) -> None:
        await self.home.set_summary(archive_id, summary)

    async def to_index(self, *, after: str, limit: int) -> list[Archive]:
        return await self.home.to_index(after=after, limit=limit)

    async def referenced(self, keys: Sequence[str]) -> set[str]:
        return await self.home.referenced(keys)

    async def scopes(self) -> list[Scope]:
        return await self.home.scopes()


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitBlobs:
    """Reads contents wherever they are: their keys are unique. New ones are put at home."""

    home: Blobs
    others: Callable[[], Sequence[Blobs]]

    async def new_key(self, name: str) -> str:
        return await self.home.new_key(name)

    async def put(self, key: str, content: bytes | BinaryIO) -> None:
        await self.home.put(key, content)

    async def get(self, key: str) -> bytes | None:
        for blobs in (self.home, *self.others()):
            if (found := await blobs.get(key)) is not None:
                return found
        return None

    async def delete(self, keys: Sequence[str]) -> None:
        for blobs in (self.home, *self.others()):
            await blobs.delete(keys)

    def stored(self) -> AsyncIterator[StoredBlob]:
        return self.home.stored()


def _newest(archive: Archive) -> tuple[int, str]:
    return to_micros(archive.created_at), archive.id


# --- What is looked up in the one store that holds it: changes of a scope, traces of writes -------


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitChangeLog:
    """Follows every scope in the store that holds it."""

    holding: Holding[ChangeLog]

    async def since(
        self, scope: Scope, version: int, *, limit: int
    ) -> Sequence[tuple[int, tuple[Change, ...]]]:
        return await self.holding(scope).since(scope, version, limit=limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitWrites:
    """Reads traces and watermarks in the stores that hold their scopes."""

    holding: Holding[Writes]

    async def trace(self, scopes: Sequence[Scope], write_id: str) -> Trace | None:
        places, problems = split_reachable(scopes, self.holding)
        for writes, some in places:
            if (found := await writes.trace(some, write_id)) is not None:
                return found
        if problems:
            raise problems[0]
        return None

    async def watermark(self, scope: Scope, session: str) -> int:
        return await self.holding(scope).watermark(scope, session)

    async def unread_sessions(self, scope: Scope) -> list[str]:
        return await self.holding(scope).unread_sessions(scope)

    async def made_from(self, scopes: Sequence[Scope], turns: Sequence[Turn]) -> list[Record]:
        places = split(scopes, self.holding)
        return [it for writes, some in places for it in await writes.made_from(some, turns)]

    async def unread_turns(self, scope: Scope, session: str) -> int:
        return await self.holding(scope).unread_turns(scope, session)


# --- The background jobs of several stores, as an operator sees them ------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitJobReports:
    """Lists the jobs of every store together, and cancels one wherever it is."""

    every: Callable[[], Sequence[JobReports]]

    async def reports(
        self,
        *,
        ids: Sequence[str] | None = None,
        state: JobState | None = None,
        kind: str | None = None,
        after: Cursor | None = None,
        limit: int | None = None,
        now: datetime,
    ) -> list[JobReport]:
        found = [
            await jobs.reports(ids=ids, state=state, kind=kind, after=after, limit=limit, now=now)
            for jobs in self.every()
        ]
        # Ids rise with time, in whichever store.
        return sorted(chain(*found), key=lambda job: job.id, reverse=True)[:limit]

    async def cancel(self, job_id: str) -> bool:
        return any([await jobs.cancel(job_id) for jobs in self.every()])


# --- What upkeep reads, from several stores -------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitUpkeep:
    """Reads every scope from the store that holds it; what names no scopes is read at home."""

    home: UpkeepReader
    holding: Holding[UpkeepReader]

    async def select(
        self, selection: Selection, *, after: str = "", limit: int | None = None
    ) -> list[Record]:
        if selection.scopes is None:
            return await self.home.select(selection, after=after, limit=limit)
        found = [
            await reader.select(replace(selection, scopes=some), after=after, limit=limit)
            for reader, some in split(selection.scopes, self.holding)
        ]
        if len(found) == 1:
            return found[0]
        return sorted(chain(*found), key=lambda record: record.id)[:limit]

    async def crowded(
        self, scopes: Sequence[Scope] | None, more_than: int, *, now: datetime
    ) -> Mapping[Scope, int]:
        if scopes is None:
            return await self.home.crowded(None, more_than, now=now)
        crowded: dict[Scope, int] = {}
        for reader, some in split(scopes, self.holding):
            crowded |= await reader.crowded(some, more_than, now=now)
        return crowded

    async def worths(self, scope: Scope, *, now: datetime) -> list[Worth]:
        return await self.holding(scope).worths(scope, now=now)

    async def conflicts(
        self, scopes: Sequence[Scope], *, ids: Sequence[str] | None = None
    ) -> list[Conflict]:
        found = await read_each(
            scopes, ids, self.holding, lambda reader, some: reader.conflicts(some, ids=ids)
        )
        if len(found) == 1:
            return found[0]
        return sorted(chain(*found), key=_latest, reverse=True)

    async def figures(self, scopes: Sequence[Scope], *, now: datetime) -> HealthFigures:
        places = split(scopes, self.holding)
        return _sum_figures([await reader.figures(some, now=now) for reader, some in places])


def _sum_figures(figures: Sequence[HealthFigures]) -> HealthFigures:
    if len(figures) == 1:
        return figures[0]
    total = sum(store.total for store in figures)
    confidence = sum(store.total * (store.mean_confidence or 0) for store in figures)
    return HealthFigures(
        total=total,
        mean_confidence=confidence / total if total else None,
        by_kind=summed(store.by_kind for store in figures),
        buffered=sum(store.buffered for store in figures),
        quarantined=sum(store.quarantined for store in figures),
        expired=sum(store.expired for store in figures),
        expired_by=summed(store.expired_by for store in figures),
        conflicts=sum(store.conflicts for store in figures),
        fullest=max((store.fullest for store in figures), default=0),
    )


def _latest(conflict: Conflict) -> tuple[int, str]:
    return to_micros(conflict.created_at), conflict.id


# --- An export of several stores: one file, each store as it was at one moment --------------------

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitTransfer:
    """Reads from every store that holds something of an extent; what arrives is added at home."""

    home: Transfer
    common: Transfer
    holding: Holding[Transfer]
    every: Callable[[], Sequence[Transfer]]

    async def read(self, extent: Extent | None, take: Callable[[Snapshot], T]) -> T:
        places = self._places(extent)
        loop = asyncio.get_running_loop()

        async def read(place: int, before: tuple[Snapshot, ...]) -> T:
            """Open the snapshots one within another, so that all are open at the innermost."""
            transfer, some = places[place]

            def further(snapshot: Snapshot) -> T:
                snapshots = (*before, snapshot)
                if len(snapshots) == len(places):
                    return take(self._together(places, snapshots))
                return asyncio.run_coroutine_threadsafe(read(place + 1, snapshots), loop).result()

            return await transfer.read(some, further)

        return await read(0, ())

    async def add(self, arrivals: Sequence[Arrival]) -> Added:
        return await self.home.add(arrivals)

    def _places(self, extent: Extent | None) -> Sequence[tuple[Transfer, Extent | None]]:
        if extent is None:
            return [(transfer, None) for transfer in self.every()]
        others = [
            (
                transfer,
                Extent(
                    scopes=tuple(scope for scope in some if scope in extent.scopes),
                    profiles=tuple(scope for scope in some if scope in extent.profiles),
                ),
            )
            for transfer, some in split([*extent.scopes, *extent.profiles], self.holding)
            if transfer is not self.common
        ]
        # Documents are in the common store, whoever's they are.
        return [(self.common, extent), *others]

    def _together(
        self,
        places: Sequence[tuple[Transfer, Extent | None]],
        snapshots: Sequence[Snapshot],
    ) -> Snapshot:
        if len(snapshots) == 1:
            return snapshots[0]
        by_store = {
            id(transfer): snapshot
            for (transfer, _), snapshot in zip(places, snapshots, strict=True)
        }

        def blob(owner: Archive | Document) -> Blob:
            return by_store[id(self.holding(owner.scope))].blob(owner)

        return Snapshot(
            schema=snapshots[0].schema,
            counts=_sum([snapshot.counts for snapshot in snapshots]),
            items=chain.from_iterable(snapshot.items for snapshot in snapshots),
            blob=blob,
        )


def _sum(counts: Sequence[ExportCounts]) -> ExportCounts:
    numbers = {
        field.name: sum(getattr(one, field.name) for one in counts)
        for field in fields(ExportCounts)
        if field.name != "lost"
    }
    return replace(counts[0], **numbers)
