"""Reading what is shared, and changing it as its creator or coordinator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from recollect.domain.change import ChangeSet, RecordChange
from recollect.domain.fields import RecordFields, revised
from recollect.domain.filters import Filter
from recollect.domain.page import Page
from recollect.domain.record import Record, Status
from recollect.domain.scope import Caller
from recollect.domain.sharing import shared_type
from recollect.errors import NotFound, StaleVersion
from recollect.ports.clock import Clock
from recollect.ports.store import Store
from recollect.recall.listing import Listing
from recollect.recall.meaning import Meaning
from recollect.sharing.parties import Parties
from recollect.text.searchable import is_searched_alike, record_units
from recollect.writing.redaction import Redactor

_ATTEMPTS: Final = 20


class SharedRecords:
    """The approved records of a workspace, and of the user in it."""

    def __init__(
        self,
        store: Store,
        listing: Listing,
        parties: Parties,
        meaning: Meaning,
        redactor: Redactor,
        clock: Clock,
    ) -> None:
        self._store = store
        self._listing = listing
        self._parties = parties
        self._meaning = meaning
        self._redactor = redactor
        self._clock = clock

    async def list(
        self, caller: Caller, *, type: str | None, limit: int, cursor: str | None
    ) -> Page[Record]:
        """What is shared with the caller, newest first."""
        types = frozenset[str]() if type is None else frozenset({shared_type(type).name})
        where = Filter(categories=types)
        return await self._listing.records(caller.shared, where, limit=limit, cursor=cursor)

    async def get(self, caller: Caller, record_id: str) -> Record:
        """One shared record."""
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
        """Change a shared record; the version before stays in its history."""

        def change(record: Record) -> Record:
            if expected_version is not None and record.version != expected_version:
                raise StaleVersion(
                    f"{record_id} is at version {record.version}, not {expected_version}",
                    hint="Read the record again and repeat the change.",
                )
            now = self._clock.now()
            after = revised(record, content, fields, now)
            # What somebody says now is newer than any proposal that waits.
            return after if after is record else after.evolve(last_confirmed=now)

        return await self._revise(
            caller, record_id, change, reason, once=expected_version is not None
        )

    async def delete(self, caller: Caller, record_id: str, *, reason: str) -> Record:
        """Hide a shared record from everybody; its history stays."""

        def change(record: Record) -> Record:
            return record.evolve(
                status=Status.DELETED, version=record.version + 1, updated_at=self._clock.now()
            )

        return await self._revise(caller, record_id, change, reason)

    async def _revise(
        self,
        caller: Caller,
        record_id: str,
        change: Callable[[Record], Record],
        reason: str,
        *,
        once: bool = False,
    ) -> Record:
        """Apply `change` to the newest version, again when somebody else was faster."""
        for attempt in range(_ATTEMPTS):
            before = await self.get(caller, record_id)
            self._parties.require_change(caller, before)
            after = change(before)
            if after is before:
                return before
            try:
                return await self._write(caller, before, after, reason)
            except StaleVersion:
                if once or attempt == _ATTEMPTS - 1:
                    raise
        raise AssertionError("the last attempt returns or raises")

    async def _write(self, caller: Caller, before: Record, after: Record, reason: str) -> Record:
        after, _ = self._redactor.kept(after)
        changed = () if is_searched_alike(before, after) else (record_units(after),)
        embedded = await self._meaning.of_units(changed)
        committed = await self._store.commit(
            ChangeSet(
                principal=caller.principal,
                scope=after.scope,
                records=(RecordChange(record=after, reason=reason),),
                units=embedded.owners,
                model=embedded.model,
                jobs=embedded.jobs,
            )
        )
        return after.evolve(recorded_at=committed.recorded_at)
