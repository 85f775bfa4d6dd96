"""Who and what is in a workspace whose agents have stores of their own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import TypeVar

from recollect.backends.split import summed
from recollect.domain.directory import (
    NOBODY,
    Contents,
    Extent,
    Facets,
    LabelEntry,
    LabelKind,
    NameEntry,
    Part,
    ScopeEntry,
    SessionEntry,
    Workspace,
)
from recollect.domain.filters import Filter
from recollect.domain.page import Cursor
from recollect.domain.record import Record
from recollect.domain.scope import Holding, Scope, split
from recollect.domain.times import to_micros
from recollect.errors import InvalidInput, StorageError
from recollect.ports.directory import Directory

T = TypeVar("T")
Placed = Sequence[tuple[Cursor, T]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitDirectory:
    """Asks the directories of all stores. Scopes and names are listed one store after another."""

    holding: Holding[Directory]
    of_agent: Callable[[str | None], Directory]
    opened: Callable[[], Sequence[Directory]]
    """Those of all open stores, that of the common one first."""
    unopened: Callable[[], Mapping[str, StorageError]]
    """Why the stores of some agents are not open."""

    async def scopes(
        self, within: Workspace, *, after: Cursor | None, limit: int
    ) -> Placed[ScopeEntry]:
        stores = self._stores(within)

        async def read(
            number: int, after: Cursor | None
        ) -> Sequence[tuple[Cursor, ScopeEntry | None]]:
            store = stores[number]
            found = await store.scopes(within, after=after, limit=limit)
            # A caller from elsewhere who wrote there has a scope there too, with nothing in it.
            return [
                (place, entry if self.holding(entry.scope) is store else None)
                for place, entry in found
            ]

        return await _in_turn(len(stores), read, after, limit)

    async def scopes_within(self, within: Workspace, *, limit: int) -> Sequence[Scope]:
        if within.agent is not None:
            return await self._stores(within)[0].scopes_within(within, limit=limit)
        found = [await store.scopes_within(within, limit=limit) for store in self.opened()]
        # Whoever reads the scopes of an agent whose store is not open is told why.
        unread = [
            Scope(org=within.org, workspace=within.workspace, agent=agent)
            for agent in self.unopened()
        ]
        return list(dict.fromkeys([*unread, *chain(*found)]))[:limit]

    async def names(
        self,
        within: Workspace,
        part: Part,
        *,
        after: Cursor | None,
        limit: int,
        among: Sequence[str] | None = None,
    ) -> Placed[NameEntry]:
        stores = self._stores(within)

        async def known(store: Directory, names: Sequence[str]) -> Mapping[str, NameEntry]:
            found = await store.names(within, part, after=None, limit=len(names), among=names)
            return {entry.name: entry for _, entry in found}

        async def read(
            number: int, after: Cursor | None
        ) -> Sequence[tuple[Cursor, NameEntry | None]]:
            found = await stores[number].names(within, part, after=after, limit=limit, among=among)
            names = [entry.name for _, entry in found]
            listed = set(chain(*[await known(store, names) for store in stores[:number]]))
            more = [await known(store, names) for store in stores[number + 1 :]]
            return [
                (
                    place,
                    None
                    if entry.name in listed
                    else _together(
                        [entry, *(others[entry.name] for others in more if entry.name in others)]
                    ),
                )
                for place, entry in found
            ]

        return await _in_turn(len(stores), read, after, limit)

    async def users(self, workspaces: Sequence[str]) -> frozenset[str]:
        return frozenset(chain(*[await store.users(workspaces) for store in self.opened()]))

    async def sessions(
        self, extent: Extent, *, after: Cursor | None, limit: int
    ) -> Placed[SessionEntry]:
        found = [
            await store.sessions(some, after=after, limit=limit)
            for store, some in self._split(extent)
        ]
        latest = sorted(chain(*found), key=lambda pair: (pair[0].at, pair[0].id), reverse=True)
        return latest[:limit]

    async def labels(
        self, extent: Extent, kind: LabelKind, *, offset: int, limit: int | None
    ) -> Sequence[LabelEntry]:
        places = self._split(extent)
        if len(places) == 1:
            (store, some), *_ = places
            return await store.labels(some, kind, offset=offset, limit=limit)
        found = [await store.labels(some, kind, offset=0, limit=None) for store, some in places]
        counts = summed({entry.name: entry.records for entry in entries} for entries in found)
        entries = [LabelEntry(name=name, records=count) for name, count in counts.items()]
        entries.sort(key=lambda entry: (-entry.records, entry.name))
        return entries[offset:][:limit]

    async def records(
        self, within: Workspace, where: Filter, *, now: datetime, after: Cursor | None, limit: int
    ) -> Sequence[Record]:
        found = [
            await store.records(within, where, now=now, after=after, limit=limit)
            for store in self._stores(within)
        ]
        latest = sorted(
            chain(*found),
            key=lambda record: (to_micros(record.observed_at), record.id),
            reverse=True,
        )
        return latest[:limit]

    async def count(self, within: Workspace, where: Filter, *, now: datetime) -> int:
        return sum([await store.count(within, where, now=now) for store in self._stores(within)])

    async def facets(self, within: Workspace, where: Filter, *, now: datetime) -> Facets:
        found = [await store.facets(within, where, now=now) for store in self._stores(within)]
        return Facets(
            kinds=summed(facets.kinds for facets in found),
            categories=summed(facets.categories for facets in found),
            facets=summed(facets.facets for facets in found),
            statuses=summed(facets.statuses for facets in found),
            tags=summed(facets.tags for facets in found),
            agents=summed(facets.agents for facets in found),
            users=summed(facets.users for facets in found),
        )

    def _stores(self, within: Workspace) -> Sequence[Directory]:
        if within.agent is not None:
            return [self.of_agent(None if within.agent == NOBODY else within.agent)]
        for agent, problem in self.unopened().items():
            raise StorageError(
                f"This would not be all, the memory of {agent} is missing: {problem.message}",
                code="store_unopened",
                hint=problem.hint,
            )
        return self.opened()

    def _split(self, extent: Extent) -> Sequence[tuple[Directory, Extent]]:
        if isinstance(extent, Workspace):
            return [(store, extent) for store in self._stores(extent)]
        return split(extent, self.holding)


async def _in_turn(
    stores: int,
    read: Callable[[int, Cursor | None], Awaitable[Sequence[tuple[Cursor, T | None]]]],
    after: Cursor | None,
    limit: int,
) -> list[tuple[Cursor, T]]:
    """List one store after another, without what is None; a place says in which store it is."""
    if stores == 1:
        return [(place, entry) for place, entry in await read(0, after) if entry is not None]
    first = 0 if after is None else _number(after, stores)
    listed: list[tuple[Cursor, T]] = []
    for number in range(first, stores):
        place = after if number == first else None
        while len(listed) < limit and (found := await read(number, place)):
            listed += [
                (Cursor(at=at.at, id=str(number)), entry)
                for at, entry in found
                if entry is not None
            ]
            place = found[-1][0]
    return listed[:limit]


def _number(place: Cursor, stores: int) -> int:
    if not (place.id.isdecimal() and int(place.id) < stores):
        raise InvalidInput(
            f"{str(place)!r} is not a cursor of this list",
            code="bad_cursor",
            hint="Use the last page's next_cursor.",
        )
    return int(place.id)


def _together(entries: Sequence[NameEntry]) -> NameEntry:
    """Return what several stores know of one agent or user."""
    contents = [entry.contents for entry in entries]
    moments = [part.last_active for part in contents if part.last_active is not None]
    return replace(
        entries[0],
        scopes=sum(entry.scopes for entry in entries),
        contents=Contents(
            records=sum(part.records for part in contents),
            turns=sum(part.turns for part in contents),
            sessions=sum(part.sessions for part in contents),
            archives=sum(part.archives for part in contents),
            last_active=max(moments, default=None),
        ),
    )
