"""Whole histories out of a SQL database and into it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

from sqlalchemy import Connection

from recollect.backends.sql.database import Database
from recollect.backends.sql.transfer_attached import add_attached
from recollect.backends.sql.transfer_owners import add_owners
from recollect.backends.sql.transfer_reading import snapshot
from recollect.domain.transfer import Attached
from recollect.ports.clock import Clock
from recollect.ports.transfer import Added, Arrival, Extent, Snapshot

T = TypeVar("T")


class SqlTransfer:
    """Reads in one transaction, so that an export is one moment; writes a batch in one."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def read(self, extent: Extent | None, take: Callable[[Snapshot], T]) -> T:
        return await self._database.read(lambda connection: take(snapshot(connection, extent)))

    async def add(self, arrivals: Sequence[Arrival]) -> Added:
        return await self._database.write(
            lambda connection: _add(connection, arrivals, self._clock.now())
        )


def _add(connection: Connection, arrivals: Sequence[Arrival], now: datetime) -> Added:
    """Records, turns and archives first, then what is about them; told in the order given."""
    owners = [it for it in arrivals if not isinstance(it.item, Attached)]
    attached = [it.item for it in arrivals if isinstance(it.item, Attached)]
    added = add_owners(connection, owners, now)
    of_owners = iter(added.outcomes)
    of_attached = iter([add_attached(connection, item, now) for item in attached])
    outcomes = [
        next(of_attached if isinstance(it.item, Attached) else of_owners) for it in arrivals
    ]
    return Added(outcomes=outcomes, unused_blobs=added.unused_blobs)
