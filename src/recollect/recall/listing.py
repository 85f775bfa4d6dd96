"""Lookup without a question: one record or turn by id, or pages of those that pass a filter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, TypeVar

from recollect.domain.fields import MAX_TITLE, checked_text
from recollect.domain.filters import Filter, make_filter
from recollect.domain.page import Cursor, Page, checked_limit, parse_cursor
from recollect.domain.record import Record, Status
from recollect.domain.times import to_micros
from recollect.domain.turn import Turn
from recollect.errors import NotFound

if TYPE_CHECKING:
    from recollect.domain.relation import Link
    from recollect.domain.scope import Caller, Scope
    from recollect.ports.runtime import Clock
    from recollect.ports.store import Store

MAX_PAGE: Final = 1_000
T = TypeVar("T", Record, Turn)
Items = Sequence[Record | Turn]


class Listing:
    """Access to single records and turns, and to pages of them."""

    def __init__(
        self, store: Store, clock: Clock, waiting: Callable[[Sequence[Scope]], Items] | None = None
    ) -> None:
        self._store = store
        self._clock = clock
        # Returns what waits in these scopes for a server that is away.
        self._waiting = waiting

    async def get(
        self,
        caller: Caller,
        record_id: str,
        *,
        as_of: datetime | None = None,
        even_deleted: bool = False,
    ) -> Record:
        """Return one record that the caller may see; raise a distinct error if it was deleted."""
        checked_text(record_id, "id", MAX_TITLE, blank=True)
        where = make_filter(status=list(Status), as_of=as_of)
        if as_of is None and (kept := self._spooled(caller, record_id, Record)) is not None:
            return kept
        found = await self._store.records(
            caller.readable, where, now=self._clock.now(), ids=[record_id]
        )
        if not found:
            raise NotFound(
                f"There is no record {record_id!r} in {caller.scope.key}",
                hint="Ids are shown by list and recall; records of other scopes are never visible.",
            )
        if found[0].status is Status.DELETED and not even_deleted:
            raise NotFound(
                f"{record_id} was deleted",
                code="deleted",
                hint="undo brings it back, history shows what it said.",
            )
        return (await self._with_links(caller.readable, found))[0]

    async def turn(self, caller: Caller, turn_id: str) -> Turn:
        """Return one turn that the caller may see."""
        checked_text(turn_id, "id", MAX_TITLE, blank=True)
        if (kept := self._spooled(caller, turn_id, Turn)) is not None:
            return kept
        found = await self._store.turns(caller.readable, Filter(), ids=[turn_id])
        if not found:
            raise NotFound(
                f"There is no turn {turn_id!r} in {caller.scope.key}",
                hint="Ids are shown by turns and recall; turns of other scopes are never visible.",
            )
        return found[0]

    def _spooled(self, caller: Caller, wanted: str, kind: type[T]) -> T | None:
        """Return a record or turn that waits for a server that is away."""
        waiting = () if self._waiting is None else self._waiting(caller.readable)
        found = (item for item in waiting if isinstance(item, kind) and item.id == wanted)
        return next(found, None)

    async def records(
        self, scopes: Sequence[Scope], where: Filter, *, limit: int, cursor: str | None
    ) -> Page[Record]:
        found = await self._store.records(
            scopes,
            where,
            now=self._clock.now(),
            after=None if cursor is None else parse_cursor(cursor),
            limit=checked_limit(limit, MAX_PAGE) + 1,
        )
        linked = await self._with_links(scopes, found)
        return _page(linked, limit, lambda record: to_micros(record.observed_at))

    async def _with_links(self, scopes: Sequence[Scope], records: list[Record]) -> list[Record]:
        """Return the records with their links."""
        links = await self._store.links(scopes, [record.id for record in records])
        return [with_links(record, links) for record in records] if links else records

    async def turns(
        self, scopes: Sequence[Scope], where: Filter, *, limit: int, cursor: str | None
    ) -> Page[Turn]:
        found = await self._store.turns(
            scopes,
            where,
            after=None if cursor is None else parse_cursor(cursor),
            limit=checked_limit(limit, MAX_PAGE) + 1,
        )
        in_session = where.session is not None
        return _page(found, limit, lambda turn: turn.ordinal if in_session else to_micros(turn.at))


def with_links(record: Record, links: Iterable[Link]) -> Record:
    """Return the record with those of the links that belong to it."""
    return record.evolve(links=tuple(link for link in links if record.id in link.ends))


def _page(found: list[T], limit: int, place: Callable[[T], int]) -> Page[T]:
    """Return a page of the items found; the extra one only shows that another page follows."""
    items = tuple(found[:limit])
    if len(found) <= limit:
        return Page(items=items)
    return Page(items=items, next_cursor=str(Cursor(at=place(items[-1]), id=items[-1].id)))
