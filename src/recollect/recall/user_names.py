"""The names a user goes by: from the id of the scope, and from records that tell them.

A record that tells a name has the tag `name` and lists the names in its metadata, so names are
listed, exported, corrected and forgotten as everything else is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from recollect.domain.filters import Filter
from recollect.domain.record import Record
from recollect.domain.scope import Scope
from recollect.language.claims.subjects import Names, introduced_names, names_of_id
from recollect.ports.clock import Clock
from recollect.ports.store import Store

TAG: Final = "name"
FIELD: Final = "names"
_MOST: Final = 20
# Scopes whose names are kept in mind.
_KEPT: Final = 256
_WHERE: Final = Filter(tags=frozenset({TAG}))


class UserNames:
    """Knows the names of the users of scopes."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._known: dict[Scope, tuple[tuple[int, ...], Names]] = {}

    async def of(self, scope: Scope) -> Names:
        """The names of the scope's user; none are known where there is no user."""
        scopes = list(dict.fromkeys((scope, scope.of_user)))
        versions = await self._store.versions(scopes)
        known = self._known.get(scope)
        if known is not None and known[0] == versions:
            return known[1]
        told = await self._store.records(scopes, _WHERE, now=self._clock.now(), limit=_MOST)
        names = Names([*names_of_id(scope.user), *(it for one in told for it in names_told(one))])
        if len(self._known) >= _KEPT:
            self._known.clear()
        self._known[scope] = (versions, names)
        return names


def names_told(record: Record) -> tuple[str, ...]:
    """The names that a record tells, as its metadata lists them or as its words say."""
    listed = record.metadata.get(FIELD)
    if isinstance(listed, list | tuple):
        return tuple(it for it in cast("Sequence[Any]", listed) if isinstance(it, str))
    return introduced_names(record.content)


def with_names(record: Record) -> Record:
    """The record, marked as one that tells a name if it introduces the user."""
    names = introduced_names(record.content)
    if not names or FIELD in record.metadata:
        return record
    return record.evolve(
        tags=tuple(dict.fromkeys((*record.tags, TAG))),
        metadata={**record.metadata, FIELD: list(names)},
    )
