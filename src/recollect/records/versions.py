"""Hide, restore and remove records, and change many of them at once."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from typing import Final, cast

from recollect.domain.change import ChangeSet
from recollect.domain.fields import MAX_LABEL, RecordFields, checked_items, checked_text, revised
from recollect.domain.record import Record, Status, Tier, Version, is_user_profile
from recollect.domain.relation import Link
from recollect.domain.scope import Caller
from recollect.domain.upkeep import BulkChange, BulkFailure
from recollect.errors import Conflict, InvalidInput, NotAllowed, NotFound, StaleVersion
from recollect.ports.runtime import Clock
from recollect.ports.store import Store
from recollect.recall.listing import Listing
from recollect.sharing.records import Parties
from recollect.writing.saver import Saver, corrected, require_version, restored

# The reason of a version that was made by undo.
_UNDOES: Final = re.compile(r"undo of version (\d+)\b")


class Versions:
    """The history of records: who changed what, when and why."""

    def __init__(
        self, store: Store, listing: Listing, saver: Saver, parties: Parties, clock: Clock
    ) -> None:
        self._store = store
        self._listing = listing
        self._saver = saver
        self._parties = parties
        self._clock = clock

    async def history(self, caller: Caller, record_id: str) -> tuple[Version, ...]:
        """Return every version of a record, oldest first."""
        await self._listing.get(caller, record_id, even_deleted=True)
        return tuple(await self._store.history(caller.readable, record_id))

    async def undo(
        self,
        caller: Caller,
        record_id: str,
        *,
        expected_version: int | None = None,
        reason: str = "",
        is_shared: bool = False,
    ) -> Record:
        """Revert the last change of a record as a new version.

        An undo is not reverted by another undo: each one goes one step further back. Links that
        came with a change are removed with it. `is_shared` means a shared record, which its creator
        and the coordinator may change.
        """
        versions = await self.history(caller, record_id)
        last, changed = versions[-1].record, _last_change(versions)
        if is_shared and not last.scope.is_shared:
            raise NotFound(f"{record_id} is not shared", hint="shared.list shows what is.")

        def require_right(before: Record, after: Record) -> None:
            if is_shared:
                self._parties.require_change(caller, before)
                return
            for state in (before, after):
                caller.require_write(state.scope, is_profile=is_user_profile(state.category))

        require_version(last, expected_version)
        links = await self._last_links(caller, last)
        if links and (changed == 0 or links[0].at > last.updated_at):
            require_right(last, last)
            return await self._unlink(caller, last, links)
        if changed == 0:
            raise Conflict(
                f"{record_id} is as it was first saved; there is nothing to undo",
                code="nothing_to_undo",
                hint="Its history shows every version; edit the record to restore one.",
            )
        earlier, undone = versions[changed - 1].record, versions[changed]
        is_deletion = undone.record.status is Status.DELETED

        def change(current: Record) -> Record:
            if current.version != last.version:
                raise StaleVersion(
                    f"{record_id} was changed again meanwhile; nothing was undone",
                    hint="Look at its history and decide again.",
                ).at(current.version)
            now = self._clock.now()
            back = restored(earlier, current, now)
            # Who undoes a change says that what was before it holds; who brings back what was
            # deleted says nothing about it.
            back = back if is_deletion else back.evolve(last_confirmed=now)
            return _kept(back, now) if current.status is Status.EXPIRED else back

        why = f"undo of version {undone.number}" + (f": {reason}" if reason else "")
        return await self._saver.renew(
            caller,
            record_id,
            change,
            find=lambda: self._listing.get(caller, record_id, even_deleted=True),
            require=require_right,
            reason=why,
            removed_links=links,
        )

    async def _last_links(self, caller: Caller, record: Record) -> tuple[Link, ...]:
        """Return the newest links of a record, unless it was changed since.

        A conflict is resolved, not undone.
        """
        found = await self._store.links(caller.readable, [record.id])
        judged = [
            link for link in found if link.relation != "conflict" and link.at >= record.updated_at
        ]
        latest = max((link.at for link in judged), default=None)
        return tuple(link for link in judged if link.at == latest)

    async def _unlink(self, caller: Caller, record: Record, links: tuple[Link, ...]) -> Record:
        await self._store.commit(
            ChangeSet(principal=caller.principal, scope=caller.scope, removed_links=links)
        )
        return await self._listing.get(caller, record.id, even_deleted=True)

    async def delete(
        self,
        caller: Caller,
        record_id: str,
        *,
        expected_version: int | None = None,
        reason: str = "",
    ) -> Record:
        """Hide a record from every search and listing; `undo` restores it."""

        def change(record: Record) -> Record:
            require_version(record, expected_version)
            return self._hidden(record)

        is_certain = expected_version is not None
        return await self._saver.revise(caller, record_id, change, reason=reason, once=is_certain)

    async def purge(self, caller: Caller, record_id: str) -> None:
        """Remove a deleted record with all its versions; this cannot be undone."""
        record = await self._own(caller, record_id)
        await self._store.commit(
            ChangeSet(principal=caller.principal, scope=caller.scope, purged=(record,))
        )

    async def _own(self, caller: Caller, record_id: str) -> Record:
        """Return a record that the caller may remove."""
        record = await self._listing.get(caller, record_id, even_deleted=True)
        caller.require_write(record.scope, is_profile=is_user_profile(record.category))
        return record

    def _hidden(self, record: Record) -> Record:
        return record.evolve(
            status=Status.DELETED, version=record.version + 1, updated_at=self._clock.now()
        )


def _kept(record: Record, now: datetime) -> Record:
    """Return a restored record without an expiry time that has passed."""
    is_over = record.expires_at is not None and record.expires_at <= now
    return record.evolve(tier=Tier.LONG, expires_at=None) if is_over else record


def _last_change(versions: Sequence[Version]) -> int:
    """Return the index of the version that the record equals, ignoring undone ones."""
    index = {version.number: at for at, version in enumerate(versions)}
    now = len(versions) - 1
    while undoes := _UNDOES.match(versions[now].reason):
        undone = index.get(int(undoes[1]), 0)
        if not 0 < undone < now:
            # A caller may have written a reason that looks like ours.
            break
        now = undone - 1
    return now


# --- Change many records, each on its own, so that one failure does not stop the others -----------

_MAX_RECORDS: Final = 1_000


class Bulk:
    """Edits, tags and deletes records by id."""

    def __init__(self, saver: Saver, versions: Versions, clock: Clock) -> None:
        self._saver = saver
        self._versions = versions
        self._clock = clock

    async def update(
        self,
        caller: Caller,
        record_ids: Iterable[str],
        fields: RecordFields,
        *,
        add_tags: Iterable[str],
        remove_tags: Iterable[str],
        reason: str,
    ) -> BulkChange:
        """Set the same fields on records and add or remove tags; each gets a new version."""
        ids = _named(record_ids)
        added, removed = _tags(add_tags, "add_tags"), _tags(remove_tags, "remove_tags")
        if not (fields or added or removed):
            raise InvalidInput(
                "There is nothing to change", code="nothing_to_change", hint="Name a field."
            )

        def change(record: Record) -> Record:
            given = cast("RecordFields", dict(fields))
            if added or removed:
                tags = given.get("tags") or record.tags
                kept = (tag for tag in (*tags, *added) if tag not in removed)
                given["tags"] = list(dict.fromkeys(kept))
            return corrected(record, revised(record, None, given, self._clock.now()))

        return await _each(
            ids, lambda record_id: self._saver.revise(caller, record_id, change, reason=reason)
        )

    async def delete(self, caller: Caller, record_ids: Iterable[str], *, reason: str) -> BulkChange:
        """Hide records everywhere; `undo` restores each of them."""
        return await _each(
            _named(record_ids),
            lambda record_id: self._versions.delete(caller, record_id, reason=reason),
        )


async def _each(ids: Sequence[str], change: Callable[[str], Awaitable[Record]]) -> BulkChange:
    changed: list[Record] = []
    failed: list[BulkFailure] = []
    for record_id in ids:
        try:
            changed.append(await change(record_id))
        except (NotFound, NotAllowed, Conflict) as problem:
            failed.append(BulkFailure(id=record_id, code=problem.code, message=problem.message))
    return BulkChange(changed=tuple(changed), failed=tuple(failed))


def _named(record_ids: Iterable[str]) -> list[str]:
    ids = list(dict.fromkeys(checked_items(record_ids, "ids")))
    if not 1 <= len(ids) <= _MAX_RECORDS:
        raise InvalidInput(
            f"{len(ids):,} records are named; name 1 to {_MAX_RECORDS:,} at a time",
            code="too_many_items",
        )
    return ids


def _tags(given: Iterable[str], name: str) -> list[str]:
    return [checked_text(tag, name, MAX_LABEL) for tag in checked_items(given, name)]
