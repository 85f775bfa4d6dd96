"""Hiding, bringing back and removing records."""

from __future__ import annotations

from typing import Final

from recollect.domain.category import is_user_profile
from recollect.domain.change import ChangeSet
from recollect.domain.record import Record, Status, Version
from recollect.domain.scope import Caller
from recollect.errors import Conflict
from recollect.ports.clock import Clock
from recollect.ports.store import Store
from recollect.recall.listing import Listing
from recollect.writing.save import Saver

# What undoing must not bring back: how often a record was used is not part of what it says.
_NOT_UNDONE: Final = ("access_count", "last_accessed")


class Versions:
    """History of records: who changed what, when and why."""

    def __init__(self, store: Store, listing: Listing, saver: Saver, clock: Clock) -> None:
        self._store = store
        self._listing = listing
        self._saver = saver
        self._clock = clock

    async def history(self, caller: Caller, record_id: str) -> tuple[Version, ...]:
        """Every version of a record, oldest first."""
        await self._listing.get(caller, record_id, even_deleted=True)
        return tuple(await self._store.history(caller.readable, record_id))

    async def undo(self, caller: Caller, record_id: str, *, reason: str = "") -> Record:
        """Make a record again what it was before its last change, as a new version."""
        versions = await self.history(caller, record_id)
        if len(versions) < 2:
            raise Conflict(
                f"{record_id} was never changed; there is nothing to undo", code="nothing_to_undo"
            )
        earlier, last = versions[-2].record, versions[-1].record

        def change(current: Record) -> Record:
            if current.version != last.version:
                raise Conflict(
                    f"{record_id} was changed again meanwhile; nothing was undone",
                    code="stale_version",
                    hint="Look at its history and decide again.",
                )
            return earlier.evolve(
                version=current.version + 1,
                updated_at=self._clock.now(),
                **{name: getattr(current, name) for name in _NOT_UNDONE},
            )

        why = reason or f"undo of version {last.version}"
        return await self._saver.revise(caller, record_id, change, reason=why, even_deleted=True)

    async def delete(self, caller: Caller, record_id: str, *, reason: str = "") -> Record:
        """Hide a record from every search and listing; undo brings it back."""

        def hide(record: Record) -> Record:
            return record.evolve(
                status=Status.DELETED, version=record.version + 1, updated_at=self._clock.now()
            )

        return await self._saver.revise(caller, record_id, hide, reason=reason)

    async def purge(self, caller: Caller, record_id: str) -> None:
        """Remove a deleted record with all its versions; this cannot be undone."""
        record = await self._listing.get(caller, record_id, even_deleted=True)
        caller.require_write(record.scope, is_profile=is_user_profile(record.category))
        await self._store.commit(
            ChangeSet(principal=caller.principal, scope=caller.scope, purged=(record,))
        )
