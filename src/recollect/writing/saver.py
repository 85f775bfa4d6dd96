"""Saving and changing of records: validate, then write in one transaction."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast
from weakref import WeakValueDictionary

from recollect.backends.sql.outage import LOST
from recollect.domain.audit import NewAuditEntry
from recollect.domain.change import ChangeSet, Committed, Idempotency, RecordChange
from recollect.domain.copies import copy_with
from recollect.domain.fields import (
    MAX_ITEMS,
    MAX_TITLE,
    Draft,
    RecordFields,
    checked_text,
    new_record,
    record_alike,
    revised,
)
from recollect.domain.filters import Filter
from recollect.domain.ids import new_id
from recollect.domain.profile import Author, edited
from recollect.domain.record import (
    USER_PROFILE,
    Episode,
    Evidence,
    Procedure,
    Record,
    Status,
    is_user_profile,
)
from recollect.domain.turn import Turn
from recollect.errors import NotFound, StaleVersion, StorageError
from recollect.language.units import is_searched_alike, record_units
from recollect.spool.entries import SpoolEntry
from recollect.spool.service import Outcome, Spool
from recollect.writing.facets import Facets
from recollect.writing.redaction import Counts, Redactor

if TYPE_CHECKING:
    from recollect.domain.archive import Archive
    from recollect.domain.relation import Link
    from recollect.domain.scope import Caller, Scope
    from recollect.domain.sharing import Proposal
    from recollect.domain.unit import OwnerUnits
    from recollect.embedding.service import EmbeddingService
    from recollect.ports.runtime import Clock
    from recollect.ports.store import Store
    from recollect.recall.listing import Listing
    from recollect.writing.schedule import Judging

# --- The turns that a record supersedes; recall uses them to mark those turns ---------------------


def replacing(record: Record, said: Sequence[Evidence], said_now: Sequence[Evidence]) -> Record:
    """Return the record with the superseded turns among its related ids."""
    turns_now = {evidence.turn for evidence in said_now}
    others = (evidence.turn for evidence in said if evidence.turn not in turns_now)
    return record.evolve(related=tuple(dict.fromkeys((*record.related, *others)))[-MAX_ITEMS:])


def corrected(before: Record, after: Record) -> Record:
    """Return a record after a manual change; its old turns no longer say what it says."""
    if after.content == before.content:
        return after
    is_told_anew = after.evidence != before.evidence
    return replacing(after, before.evidence, after.evidence if is_told_anew else ())


# --- Saving and changing of records: validate, then write in one transaction ----------------------

_MAX_ATTEMPTS: Final = 20


# Bringing back a version does not restore usage counts, which are not part of the content.
_USES: Final = ("access_count", "last_accessed", "helped", "rejected")


def restored(earlier: Record, current: Record, now: datetime) -> Record:
    """Return an earlier version of a record as its next one, with the uses counted since."""
    return earlier.evolve(
        version=current.version + 1,
        updated_at=now,
        details=_with_later_uses(earlier, current),
        **{name: getattr(current, name) for name in _USES},
    )


def _with_later_uses(earlier: Record, current: Record) -> Episode | Procedure | None:
    """Return the details of an earlier version with the uses counted since."""
    then, now = earlier.details, current.details
    is_used = (earlier.helped, earlier.rejected) != (current.helped, current.rejected)
    if is_used and isinstance(then, Procedure) and isinstance(now, Procedure):
        return then.with_uses_of(now)
    return then


class Saver:
    """The service that creates records and new versions of them."""

    def __init__(
        self,
        store: Store,
        listing: Listing,
        embedding: EmbeddingService,
        clock: Clock,
        redactor: Redactor | None = None,
        judging: Judging | None = None,
        facets: Facets | None = None,
        spool: Spool | None = None,
    ) -> None:
        self._store = store
        self._spool = spool
        self._listing = listing
        self._embedding = embedding
        self._clock = clock
        self._redactor = redactor or Redactor()
        # Makes the jobs that relate new records to others.
        self._judging = judging
        self._facets = facets or Facets(None)
        self._changing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def create(
        self,
        caller: Caller,
        drafts: Sequence[Draft],
        *,
        namespace: str | tuple[str, str] | None = None,
        idempotency_key: str | None = None,
        reason: str = "",
    ) -> tuple[Record, ...]:
        """Save new records together: all of them, or none."""
        now = self._clock.now()
        wanted = list(_records_of_drafts(caller, drafts, namespace, now))
        if not wanted:
            return ()
        records, counts = zip(*map(self._redactor.kept, wanted), strict=True)
        return await self.save(
            SpoolEntry(
                id=new_id("spool"),
                at=now,
                caller=caller,
                records=records,
                reason=self._redactor.note(reason),
                counts=counts,
                idempotency=_idempotency_of(idempotency_key, records, drafts, namespace),
            )
        )

    async def save(self, entry: SpoolEntry) -> tuple[Record, ...]:
        """Save checked and redacted records; they wait here while the database server is away."""
        if self._spool is None:
            outcome = await self.store(entry)
        else:
            outcome = await self._spool.write(entry, self.store)
        committed = outcome.committed
        if committed is None:
            return tuple(copy_with(it, spooled=outcome.is_waiting) for it in outcome.entry.records)
        if committed.replayed is not None:
            return await self._saved_before(entry.caller, committed)
        records = outcome.entry.records
        return tuple(copy_with(record, recorded_at=committed.recorded_at) for record in records)

    async def may_store(self, scope: Scope) -> bool:
        """Return whether the database takes what is said in a scope now, not the spool."""
        return self._spool is None or await self._spool.may_store(scope)

    def may_spool(self, problem: StorageError) -> bool:
        """Return whether what met this problem can wait here."""
        return self._spool is not None and problem.code in LOST

    async def store(self, entry: SpoolEntry) -> Outcome:
        """Store the records of an entry in the database."""
        changes = await self.changes_of([entry])
        committed = await self._store.commit(changes)
        records = tuple(change.record for change in changes.records)
        return Outcome(replace(entry, records=records), committed)

    async def changes_of(self, entries: Sequence[SpoolEntry]) -> ChangeSet:
        """Return what stores the records of one caller's entries together."""
        caller = entries[0].caller
        wanted = [record for entry in entries for record in entry.records]
        embedded = await self._embedding.of_units(await units_of(record_units, wanted))
        records = await self._facets.decided(wanted, embedded)
        reasons = [entry.reason for entry in entries for _ in entry.records]
        redacted = (map(redacted_entry, entry.records, entry.counts) for entry in entries)
        return ChangeSet(
            principal=caller.principal,
            scope=caller.scope,
            records=tuple(
                RecordChange(record=record, reason=reason)
                for record, reason in zip(records, reasons, strict=True)
            ),
            units=embedded.owners,
            model=embedded.model,
            jobs=(*embedded.jobs, *(self._judging(caller, records) if self._judging else ())),
            audit=tuple(filter(None, chain.from_iterable(redacted))),
            idempotency=tuple(filter(None, (entry.idempotency for entry in entries))),
        )

    async def update(
        self,
        caller: Caller,
        record_id: str,
        content: str | None,
        fields: RecordFields,
        *,
        expected_version: int | None = None,
        reason: str = "",
        author: Author | None = "person",
    ) -> Record:
        """Change some fields of a record; the previous version stays in its history."""

        def change(record: Record) -> Record:
            require_version(record, expected_version)
            after = revised(record, content, fields, self._clock.now())
            return corrected(record, after if author is None else edited(record, after, author))

        is_certain = expected_version is not None
        return await self.revise(caller, record_id, change, reason=reason, once=is_certain)

    async def revise(
        self,
        caller: Caller,
        record_id: str,
        change: Callable[[Record], Record],
        *,
        reason: str,
        even_deleted: bool = False,
        once: bool = False,
        removed_links: tuple[Link, ...] = (),
    ) -> Record:
        """Apply `change` to the newest version of a record that the caller may write."""

        def require_write(before: Record, after: Record) -> None:
            for state in (before, after):
                caller.require_write(state.scope, is_profile=is_user_profile(state.category))

        return await self.renew(
            caller,
            record_id,
            change,
            find=lambda: self._listing.get(caller, record_id, even_deleted=even_deleted),
            require=require_write,
            reason=reason,
            once=once,
            removed_links=removed_links,
        )

    async def renew(
        self,
        caller: Caller,
        record_id: str,
        change: Callable[[Record], Record],
        *,
        find: Callable[[], Awaitable[Record]],
        require: Callable[[Record, Record], None],
        reason: str,
        once: bool = False,
        removed_links: tuple[Link, ...] = (),
    ) -> Record:
        """Apply `change` to what `find` returns, if `require` accepts the record before and after.

        It is repeated if another process was faster; within this process, changes of one record
        wait for each other.
        """
        checked_text(record_id, "id", MAX_TITLE, blank=True)
        async with self._changing.setdefault(record_id, asyncio.Lock()):
            for attempt in range(_MAX_ATTEMPTS):
                before = await find()
                after = change(before)
                require(before, after)
                if after is before:
                    return before
                after, counts = self._redactor.kept(after, before)
                try:
                    return await self._write_version(
                        caller, before, after, reason, counts, removed_links
                    )
                except StaleVersion:
                    if once or attempt == _MAX_ATTEMPTS - 1:
                        raise
        raise AssertionError("the last attempt returns or raises")

    async def _write_version(
        self,
        caller: Caller,
        before: Record,
        after: Record,
        reason: str,
        counts: Counts,
        removed_links: tuple[Link, ...],
    ) -> Record:
        changed = () if is_searched_alike(before, after) else (after,)
        embedded = await self._embedding.of_units(await units_of(record_units, changed))
        (after,) = await self._facets.decided([after], embedded)
        committed = await self._store.commit(
            ChangeSet(
                principal=caller.principal,
                scope=caller.scope,
                records=(RecordChange(record=after, reason=self._redactor.note(reason)),),
                removed_links=removed_links,
                units=embedded.owners,
                model=embedded.model,
                jobs=embedded.jobs,
                audit=tuple(filter(None, [redacted_entry(after, counts)])),
            )
        )
        return after.evolve(recorded_at=committed.recorded_at)

    async def _saved_before(self, caller: Caller, committed: Committed) -> tuple[Record, ...]:
        """Return what the first request with this key saved, as it was then."""
        told = committed.replayed or {}
        ids = cast("list[str]", told["ids"] if "ids" in told else [told["record"]])
        as_saved = Filter(statuses=frozenset(Status), as_of=committed.recorded_at)
        found = await self._store.records(caller.readable, as_saved, now=self._clock.now(), ids=ids)
        by_id = {record.id: record for record in found}
        if len(by_id) < len(ids):
            raise NotFound(
                "What was saved under this idempotency key has been removed since",
                code="purged",
                hint="Use a new key to save it again.",
            )
        return tuple(by_id[saved] for saved in ids)


def redacted_entry(of: Record | Turn | Archive | Proposal, counts: Counts) -> NewAuditEntry | None:
    """Return an audit entry of how much personal data was removed; never the data itself."""
    if not counts:
        return None
    return NewAuditEntry(
        scope=of.scope, action="redact", target=of.id, payload={"redacted": dict(counts)}
    )


def require_version(record: Record, expected: int | None) -> None:
    """Raise an error if a change was decided on another version of the record."""
    if expected is not None and record.version != expected:
        raise StaleVersion(
            f"{record.id} is at version {record.version}, not {expected}",
            hint="Read the record again and repeat the change.",
        ).at(record.version)


def idempotency(
    key: str | None, body: Mapping[str, Any], result: Mapping[str, Any]
) -> Idempotency | None:
    """Return the key with a hash of the request, so that its use for another is detected."""
    if key is None:
        return None
    canonical = json.dumps(body, sort_keys=True, ensure_ascii=False, default=_plain)
    return Idempotency(
        key=checked_text(key, "idempotency_key", MAX_TITLE),
        body_hash=hashlib.sha256(canonical.encode()).hexdigest(),
        result=result,
    )


def _idempotency_of(
    key: str | None,
    records: Sequence[Record],
    drafts: Sequence[Draft],
    namespace: str | tuple[str, str] | None,
) -> Idempotency | None:
    if key is None:
        return None
    asked = [
        _normalised_request(record, draft) for record, draft in zip(records, drafts, strict=True)
    ]
    body = {"save": asked, "namespace": namespace}
    return idempotency(key, body, {"ids": [record.id for record in records]})


def _normalised_request(record: Record, draft: Draft) -> dict[str, Any]:
    """Return the normalised request, so that equal requests are recognised."""
    request: dict[str, Any] = {}
    for name in draft:
        of = record.details if hasattr(record.details, name) else record
        request[name] = getattr(of, name)
    return request


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return repr(value)


# --- Draft a record from what a caller wants to save, in the scope where it belongs ------------


Namespace = str | tuple[str, str]
_ONLY_CONTENT: Final = frozenset({"content"})


def record_of_draft(
    caller: Caller, draft: Draft, namespace: Namespace | None, now: datetime
) -> Record:
    """Return a checked new record in a scope that this caller may write."""
    fields = cast("dict[str, Any]", dict(draft))
    content = cast("str", fields.pop("content", ""))
    record = new_record(content, cast("RecordFields", fields), caller.scope, now)
    scope = _target(caller, record, namespace)
    caller.require_write(scope, is_profile=is_user_profile(record.category))
    return record if scope == record.scope else record.evolve(scope=scope)


def _records_of_drafts(
    caller: Caller, drafts: Sequence[Draft], namespace: Namespace | None, now: datetime
) -> Iterator[Record]:
    """Yield the record of each draft; those that are only a content are checked as one."""
    plain: Record | None = None
    for draft in drafts:
        if draft.keys() != _ONLY_CONTENT:
            yield record_of_draft(caller, draft, namespace, now)
        elif plain is None:
            plain = record_of_draft(caller, draft, namespace, now)
            yield plain
        else:
            yield record_alike(plain, draft.get("content"))


def _target(caller: Caller, record: Record, namespace: Namespace | None) -> Scope:
    """Return the scope of a new record: the user's for a user profile, else the caller's."""
    if namespace is not None:
        return caller.namespace(namespace)
    is_for_user = record.category == USER_PROFILE and caller.scope.user is not None
    return caller.scope.of_user if is_for_user else caller.scope


# --- Build the units of what is saved, in a thread if there is much text -----------------------


T = TypeVar("T", Record, Turn)

# Shorter texts are analysed in a few milliseconds, 20 if they are Chinese.
_MIN_THREAD_CHARACTERS: Final = 4_000


async def units_of(make: Callable[[T], OwnerUnits], items: Sequence[T]) -> tuple[OwnerUnits, ...]:
    """Build the units of these records or turns."""
    if sum(len(item.content) for item in items) <= _MIN_THREAD_CHARACTERS:
        return tuple(map(make, items))
    return await asyncio.to_thread(lambda: tuple(map(make, items)))
