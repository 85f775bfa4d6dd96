"""The names of a user: from the id of the scope, and from records that tell them.

A record that tells a name has the tag `name` and lists the names in its metadata, so names are
listed, exported, corrected and forgotten like any other record.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from recollect.domain.filters import Filter
from recollect.domain.record import Record
from recollect.domain.scope import Scope
from recollect.language.claims.subjects import introduced_names, names_of_id
from recollect.ports.runtime import Clock
from recollect.ports.store import Store

TAG: Final = "name"
FIELD: Final = "names"
_MAX_RECORDS: Final = 20
# The number of scopes whose names are cached.
_MAX_CACHED_SCOPES: Final = 256
_WHERE: Final = Filter(tags=frozenset({TAG}))


class UserNames:
    """A cache of the names of users by scope."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._known: dict[tuple[Scope, ...], tuple[tuple[int, ...], frozenset[str]]] = {}

    async def of(self, scope: Scope) -> frozenset[str]:
        """Return the names of the scope's user; none if the scope has no user."""
        scopes = tuple(dict.fromkeys((scope, scope.of_user)))
        return await self.told_in(scopes, await self._store.versions(scopes))

    async def told_in(self, scopes: tuple[Scope, ...], versions: tuple[int, ...]) -> frozenset[str]:
        """Return the names of the user of some scopes, which have these versions.

        There are none if the scopes are of several users, or of none.
        """
        users = {scope.user for scope in scopes if scope.user is not None}
        if len(users) != 1:
            return frozenset()
        known = self._known.get(scopes)
        if known is not None and known[0] == versions:
            return known[1]
        records = await self._store.records(
            scopes, _WHERE, now=self._clock.now(), limit=_MAX_RECORDS
        )
        told = (name for record in records for name in names_told(record))
        every = (" ".join(name.split()).casefold() for name in (*names_of_id(*users), *told))
        names = frozenset(filter(None, every))
        if len(self._known) >= _MAX_CACHED_SCOPES:
            self._known.clear()
        self._known[scopes] = (versions, names)
        return names


def names_told(record: Record) -> tuple[str, ...]:
    """Return the names that a record tells, by its metadata or its words."""
    listed = record.metadata.get(FIELD)
    if isinstance(listed, list | tuple):
        return tuple(name for name in cast("Sequence[Any]", listed) if isinstance(name, str))
    return introduced_names(record.content)


def with_names(record: Record) -> Record:
    """Return the record, tagged and with its names listed if it introduces the user."""
    names = introduced_names(record.content)
    if not names or FIELD in record.metadata:
        return record
    return record.evolve(
        tags=tuple(dict.fromkeys((*record.tags, TAG))),
        metadata={**record.metadata, FIELD: list(names)},
    )
