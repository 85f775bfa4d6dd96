"""Who and what is in a workspace whose agents have stores of their own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeVar

from recollect.assemble.several_stores import added, latest, summed
from recollect.domain.directory import NOBODY, Extent, LabelEntry, Workspace
from recollect.domain.page import Cursor
from recollect.domain.scope import Scope, split
from recollect.domain.times import to_micros
from recollect.errors import InvalidInput, StorageError

if TYPE_CHECKING:
    from recollect.assemble.router import Stores, Verb
    from recollect.assemble.several_stores import Merge
    from recollect.directory.rows import SqlDirectory
    from recollect.domain.directory import (
        LabelKind,
        NameEntry,
        Part,
        RecordOrder,
        ScopeEntry,
        SessionEntry,
        WorkspaceEntry,
    )
    from recollect.domain.filters import Filter
    from recollect.domain.record import Record

T = TypeVar("T")
Placed = Sequence[tuple[Cursor, T]]


def _within(stores: Stores[SqlDirectory], within: Workspace) -> Sequence[SqlDirectory]:
    """Return the directories of the stores that hold some of a workspace."""
    if within.agent is not None:
        return [stores.of_agent(None if within.agent == NOBODY else within.agent)]
    for agent, problem in stores.router.agents_unopened().items():
        raise StorageError(
            f"The result would be incomplete: the memory of {agent} is missing: {problem.message}",
            code="store_unopened",
            hint=problem.hint,
        )
    return stores.opened()


def _split(stores: Stores[SqlDirectory], extent: Extent) -> Sequence[tuple[SqlDirectory, Extent]]:
    if isinstance(extent, Workspace):
        return [(store, extent) for store in _within(stores, extent)]
    return split(extent, stores.holding)


async def _scopes(
    stores: Stores[SqlDirectory], within: Workspace, *, after: Cursor | None, limit: int
) -> Placed[ScopeEntry]:
    asked = _within(stores, within)

    async def read(number: int, after: Cursor | None) -> Sequence[tuple[Cursor, ScopeEntry | None]]:
        store = asked[number]
        found = await store.scopes(within, after=after, limit=limit)
        # A caller from elsewhere who wrote there has a scope there too, with nothing in it.
        return [
            (place, entry if stores.holding(entry.scope) is store else None)
            for place, entry in found
        ]

    return await _in_turn(len(asked), read, after, limit)


async def _scopes_within(
    stores: Stores[SqlDirectory], within: Workspace, *, limit: int
) -> Sequence[Scope]:
    if within.agent is not None:
        return await _within(stores, within)[0].scopes_within(within, limit=limit)
    found = [await store.scopes_within(within, limit=limit) for store in stores.opened()]
    # Whoever reads the scopes of an agent whose store is not open is told why.
    unread = [
        Scope(org=within.org, workspace=within.workspace, agent=agent)
        for agent in stores.router.agents_unopened()
    ]
    return list(dict.fromkeys([*unread, *chain(*found)]))[:limit]


async def _names(
    stores: Stores[SqlDirectory],
    within: Workspace,
    part: Part,
    *,
    after: Cursor | None,
    limit: int,
    among: Sequence[str] | None = None,
) -> Placed[NameEntry]:
    asked = _within(stores, within)

    async def known(store: SqlDirectory, names: Sequence[str]) -> Mapping[str, NameEntry]:
        found = await store.names(within, part, after=None, limit=len(names), among=names)
        return {entry.name: entry for _, entry in found}

    async def read(number: int, after: Cursor | None) -> Sequence[tuple[Cursor, NameEntry | None]]:
        found = await asked[number].names(within, part, after=after, limit=limit, among=among)
        names = [entry.name for _, entry in found]
        listed = set(chain(*[await known(store, names) for store in asked[:number]]))
        more = [await known(store, names) for store in asked[number + 1 :]]
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

    return await _in_turn(len(asked), read, after, limit)


async def _users(stores: Stores[SqlDirectory], workspaces: Sequence[str]) -> frozenset[str]:
    return frozenset(chain(*[await store.users(workspaces) for store in stores.opened()]))


async def _labels(
    stores: Stores[SqlDirectory], extent: Extent, kind: LabelKind, *, offset: int, limit: int | None
) -> Sequence[LabelEntry]:
    places = _split(stores, extent)
    if len(places) == 1:
        (store, some), *_ = places
        return await store.labels(some, kind, offset=offset, limit=limit)
    found = [await store.labels(some, kind, offset=0, limit=None) for store, some in places]
    counts = summed({entry.name: entry.records for entry in entries} for entries in found)
    entries = [LabelEntry(name=name, records=count) for name, count in counts.items()]
    entries.sort(key=lambda entry: (-entry.records, entry.name))
    return entries[offset:][:limit]


_SORTED_BY: Final[Mapping[RecordOrder, Callable[[Record], Any]]] = {
    "newest": lambda record: (-to_micros(record.observed_at),),
    "oldest": lambda record: (to_micros(record.observed_at),),
    "surest": lambda record: (-record.confidence, -to_micros(record.observed_at)),
    "least_sure": lambda record: (record.confidence, -to_micros(record.observed_at)),
    "most_used": lambda record: (-record.access_count, -to_micros(record.observed_at)),
}


async def _records_by(
    stores: Stores[SqlDirectory],
    within: Workspace,
    where: Filter,
    order: RecordOrder,
    *,
    now: datetime,
    offset: int,
    limit: int,
) -> Sequence[Record]:
    asked = _within(stores, within)
    if len(asked) == 1:
        return await asked[0].records_by(within, where, order, now=now, offset=offset, limit=limit)
    found = [
        await store.records_by(within, where, order, now=now, offset=0, limit=offset + limit)
        for store in asked
    ]
    return sorted(chain(*found), key=_SORTED_BY[order])[offset:][:limit]


async def _workspaces(stores: Stores[SqlDirectory]) -> Sequence[WorkspaceEntry]:
    """Return the workspaces of all stores; a user in several of them is counted once."""
    known: dict[tuple[str, str], WorkspaceEntry] = {}
    for store in stores.opened():
        for entry in await store.workspaces():
            place = (entry.org, entry.workspace)
            other = known.get(place)
            known[place] = entry if other is None else _of_both(other, entry)
    return list(known.values())


def _of_both(one: WorkspaceEntry, other: WorkspaceEntry) -> WorkspaceEntry:
    contents = (one.contents, other.contents)
    moments = [it.last_active for it in contents if it.last_active is not None]
    return replace(
        one,
        users=max(one.users, other.users),
        agents=max(one.agents, other.agents),
        contents=replace(added(contents), last_active=max(moments, default=None)),
    )


def _merging(name: str, merge: Merge) -> Verb:
    """Return a verb that asks each store that holds some of an extent."""

    async def verb(stores: Stores[Any], extent: Extent, *more: Any, **options: Any) -> Any:
        places = _split(stores, extent)
        answers = [await getattr(store, name)(some, *more, **options) for store, some in places]
        return merge(answers, options)

    return verb


def _latest_sessions(answers: list[Placed[SessionEntry]], options: Mapping[str, Any]) -> Any:
    ordered = sorted(chain(*answers), key=lambda pair: (pair[0].at, pair[0].id), reverse=True)
    return ordered[: options["limit"]]


def _total(counts: list[int], _: Mapping[str, Any]) -> int:
    return sum(counts)


DIRECTORY: Final[Mapping[str, Verb]] = {
    "scopes": _scopes,
    "scopes_within": _scopes_within,
    "names": _names,
    "users": _users,
    "sessions": _merging("sessions", _latest_sessions),
    "labels": _labels,
    "records": _merging("records", latest("observed_at")),
    "records_by": _records_by,
    "workspaces": _workspaces,
    "count": _merging("count", _total),
    "facets": _merging("facets", added),
}


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
        added(entries),
        contents=replace(added(contents), last_active=max(moments, default=None)),
    )
