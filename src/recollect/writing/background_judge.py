"""The job that links new records and turns with earlier ones."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Final

from recollect.domain.change import ChangeSet
from recollect.domain.filters import Filter
from recollect.domain.ids import new_id
from recollect.domain.job import Job
from recollect.domain.record import Kind, Record
from recollect.domain.relation import Conflict, Link
from recollect.domain.scope import Caller, Scope
from recollect.domain.turn import Turn
from recollect.embedding.service import EmbeddingService
from recollect.errors import StaleVersion
from recollect.language.units import record_units, turn_units
from recollect.ports.facets import FacetReader
from recollect.ports.judge import MOST_JUDGED, Statement
from recollect.ports.runtime import Clock, give_way
from recollect.ports.store import Store
from recollect.recall.fresh_links import FreshLinks
from recollect.writing.candidates import Candidates, compared_scopes
from recollect.writing.judges import JudgeChain, statement_of
from recollect.writing.schedule import is_judged, judged_of

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
