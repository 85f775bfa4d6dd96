"""A graph of the names in records: who and what a person's memory tells of."""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final

from recollect.domain.filters import Filter
from recollect.domain.graph import GraphName, NamedFact, NameGraph, NameLink
from recollect.domain.page import checked_limit
from recollect.domain.record import Episode, Record
from recollect.language.claims.subjects import names_of_id
from recollect.language.entities import entities

if TYPE_CHECKING:
    from recollect.domain.scope import Caller, Scope
    from recollect.ports.runtime import Clock
    from recollect.ports.store import Store

MAX_RECORDS: Final = 2_000
MAX_NAMES: Final = 500
# Names far back in a long text say little about its subject.
_READ_CHARS: Final = 1_000
# A text with more names lists things, which are not linked by that.
_MAX_LINKED: Final = 6
_OF_PEOPLE: Final = frozenset({"partner", "family", "friend", "colleague", "doctor"})


class NamesOfRecords:
    """Reads records and returns the graph of their names."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def of_caller(self, caller: Caller, limit: int) -> NameGraph:
        """Return the graph of what a caller can read."""
        return await self.of_scopes(caller.readable, limit, caller.scope.user)

    async def of_scopes(self, scopes: Sequence[Scope], limit: int, user: str | None) -> NameGraph:
        """Return the graph of the latest records of some scopes; `user` is whose they are."""
        limit = checked_limit(limit, MAX_NAMES)
        found = await self._store.records(
            scopes, Filter(), now=self._clock.now(), limit=MAX_RECORDS
        )
        # Reading many texts takes longer than a caller should wait for others.
        own = names_of_id(user)
        return await asyncio.to_thread(graph_of, found, limit, own)


def graph_of(records: Sequence[Record], limit: int, besides: Collection[str] = ()) -> NameGraph:
    """Return up to `limit` names of the records; `besides` are names of the person themselves."""
    own = {name.casefold() for name in besides}
    written: dict[str, str] = {}
    told: defaultdict[str, list[str]] = defaultdict(list)
    people: set[str] = set()
    together: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for record in records:
        # An agent that took part tells nothing about the person.
        agent = (record.scope.agent or "").casefold()
        names = [name for name in _names(record, written) if name not in own and name != agent]
        for name in names:
            told[name].append(record.id)
        if record.facet in _OF_PEOPLE:
            people.update(names[:1])
        if isinstance(record.details, Episode):
            people.update(name.casefold() for name in record.details.participants)
        if len(names) <= _MAX_LINKED:
            for pair in combinations(sorted(names), 2):
                together[pair].append(record.id)
    most = sorted(told, key=lambda name: (-len(told[name]), name))
    shown = set(most[:limit])
    ids = {record for name in shown for record in told[name]}
    return NameGraph(
        names=tuple(
            GraphName(
                name=written[name],
                sort="person" if name in people else "thing",
                records=tuple(told[name]),
            )
            for name in most[:limit]
        ),
        links=tuple(
            NameLink(first=written[first], second=written[second], records=tuple(found))
            for (first, second), found in together.items()
            if first in shown and second in shown
        ),
        facts=tuple(
            NamedFact(
                id=record.id,
                content=record.content,
                kind=record.kind.value,
                facet=record.facet or "",
                at=record.observed_at,
            )
            for record in records
            if record.id in ids
        ),
        read=len(records),
        more=max(0, len(most) - limit),
    )


def _names(record: Record, written: dict[str, str]) -> list[str]:
    """Return the names in a record, each once, and note how they are written there."""
    text = record.content[:_READ_CHARS]
    found = dict.fromkeys(entities(text))
    if isinstance(record.details, Episode):
        for participant in record.details.participants:
            found.setdefault(participant.casefold())
            written.setdefault(participant.casefold(), participant)
    for name in found:
        if name not in written:
            place = re.search(re.escape(name), text, re.IGNORECASE)
            written[name] = name if place is None else place[0]
    return list(found)
