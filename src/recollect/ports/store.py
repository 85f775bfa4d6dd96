"""The store, which writes change sets and reads records, turns and links."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from recollect.domain.change import ChangeSet, Committed
from recollect.domain.filters import Filter
from recollect.domain.hit import Weighable
from recollect.domain.page import Cursor
from recollect.domain.record import Record, Version
from recollect.domain.relation import Link
from recollect.domain.scope import Scope
from recollect.domain.stats import StoreCounts
from recollect.domain.turn import Turn


class Store(Protocol):
    """Durable, scoped storage. Reads only see the given scopes."""

    async def commit(self, changes: ChangeSet) -> Committed:
        """Write the whole change set durably, or raise and write nothing."""
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
        """Return the records that match the filter, latest first: a page, or those of `ids`."""
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
        """Return the turns that match the filter, in session order: a page, or those of `ids`."""
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
        """Return the candidates that match the filter, by id, with what scoring needs.

        Many are scored for the few that are shown, so only the first records are loaded as a
        whole.
        """
        ...

    async def links(self, scopes: Sequence[Scope], ids: Sequence[str]) -> list[Link]:
        """Return the links of these records and turns, at either end, oldest first."""
        ...

    async def history(self, scopes: Sequence[Scope], record_id: str) -> list[Version]:
        """Return every version of a record, oldest first; empty if it is not visible."""
        ...

    async def versions(self, scopes: Sequence[Scope]) -> tuple[int, ...]:
        """Return the version of each scope; reads stay valid while it does not change.

        This is cheap and called before every recall. 0 is a scope that was never written to.
        """
        ...

    async def counts(self, scopes: Sequence[Scope]) -> StoreCounts:
        """Return the counts of what these scopes hold."""
        ...

    async def close(self) -> None: ...
