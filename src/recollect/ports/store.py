"""The source of truth: change sets in, values out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from recollect.domain.change import ChangeSet, Committed
from recollect.domain.filters import Filter
from recollect.domain.link import Link
from recollect.domain.page import Cursor
from recollect.domain.record import Record, Version
from recollect.domain.scope import Scope
from recollect.domain.standing import Weighable
from recollect.domain.stats import StoreCounts
from recollect.domain.turn import Turn


class Store(Protocol):
    """Durable, scoped storage. Reads only ever see the scopes they are given."""

    async def commit(self, changes: ChangeSet) -> Committed:
        """Write all of it durably, or nothing and raise."""
        ...

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
        """Records that pass the filter, what happened last first: a page, or those of `ids`."""
        ...

    async def turns(
        self,
        scopes: Sequence[Scope],
        where: Filter,
        *,
        ids: Sequence[str] | None = None,
        after: Cursor | None = None,
        limit: int | None = None,
    ) -> list[Turn]:
        """Turns that pass the filter, of a session in its order: a page, or those of `ids`."""
        ...

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
        """Those of these records and turns that pass the filter, by id, to be weighed.

        Many are weighed for the few that are shown: of the records only the first so many are read
        as a whole.
        """
        ...

    async def links(self, scopes: Sequence[Scope], ids: Sequence[str]) -> list[Link]:
        """The links at whose newer or older end one of these records and turns is, oldest first."""
        ...

    async def history(self, scopes: Sequence[Scope], record_id: str) -> list[Version]:
        """Every version of a record, oldest first; empty when there is none to see."""
        ...

    async def versions(self, scopes: Sequence[Scope]) -> tuple[int, ...]:
        """How far each scope has moved on; what was read stands as long as these stay the same.

        Cheap: it is asked before every recall. 0 is a scope in which nothing was ever written.
        """
        ...

    async def counts(self, scopes: Sequence[Scope]) -> StoreCounts:
        """How much these scopes hold."""
        ...

    async def close(self) -> None: ...
