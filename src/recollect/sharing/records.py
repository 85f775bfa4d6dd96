"""Access to shared records, and changes by their creator or the coordinator."""

from __future__ import annotations

from collections.abc import Callable

from recollect.domain.fields import RecordFields, revised
from recollect.domain.filters import Filter
from recollect.domain.page import Page
from recollect.domain.record import Record, Status
from recollect.domain.scope import Caller
from recollect.domain.sharing import shared_type
from recollect.errors import NotFound
from recollect.ports.runtime import Clock
from recollect.recall.listing import Listing
from recollect.sharing.parties import Parties
from recollect.writing.saver import Saver, require_version


class SharedRecords:
    """The approved records of a workspace and of the user in it."""

    def __init__(
        self,
        listing: Listing,
        parties: Parties,
        saver: Saver,
        clock: Clock,
    ) -> None:
        self._listing = listing
        self._parties = parties
        self._saver = saver
        self._clock = clock

    async def list(
        self, caller: Caller, *, type: str | None, limit: int, cursor: str | None
    ) -> Page[Record]:
        """Return what is shared with the caller, newest first."""
        types = frozenset[str]() if type is None else frozenset({shared_type(type).name})
        where = Filter(categories=types)
        return await self._listing.records(caller.shared, where, limit=limit, cursor=cursor)

    async def get(self, caller: Caller, record_id: str) -> Record:
        """Return one shared record."""
        record = await self._listing.get(caller, record_id)
        if not record.scope.is_shared:
            raise NotFound(f"{record_id} is not shared", hint="shared.list shows what is.")
        return record

    async def update(
        self,
        caller: Caller,
        record_id: str,
        content: str | None,
        fields: RecordFields,
        *,
        expected_version: int | None,
        reason: str,
    ) -> Record:
        """Change a shared record; the previous version stays in its history."""

        def change(record: Record) -> Record:
            require_version(record, expected_version)
            now = self._clock.now()
            after = revised(record, content, fields, now)
            # A change made now is newer than any pending proposal.
            return after if after is record else after.evolve(last_confirmed=now)

        return await self._revise(
            caller, record_id, change, reason, once=expected_version is not None
        )

    async def delete(
        self, caller: Caller, record_id: str, *, expected_version: int | None, reason: str
    ) -> Record:
        """Hide a shared record from everybody; its history stays."""

        def change(record: Record) -> Record:
            require_version(record, expected_version)
            return record.evolve(
                status=Status.DELETED, version=record.version + 1, updated_at=self._clock.now()
            )

        return await self._revise(
            caller, record_id, change, reason, once=expected_version is not None
        )

    async def _revise(
        self,
        caller: Caller,
        record_id: str,
        change: Callable[[Record], Record],
        reason: str,
        *,
        once: bool = False,
    ) -> Record:
        return await self._saver.renew(
            caller,
            record_id,
            change,
            find=lambda: self.get(caller, record_id),
            require=lambda before, _: self._parties.require_change(caller, before),
            reason=reason,
            once=once,
        )
