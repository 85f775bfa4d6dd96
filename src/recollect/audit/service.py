"""The audit log: read as far as a caller may, sealed in batches, and verified."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from recollect.domain.audit import (
    AuditEntry,
    AuditFault,
    AuditVerdict,
    ChainHead,
    ChainLink,
    SealableEntry,
    first_head,
)
from recollect.domain.fields import MAX_LABEL, checked_text
from recollect.domain.job import Job, NewJob
from recollect.domain.page import Cursor, Page, checked_limit, parse_cursor
from recollect.domain.scope import Caller, Holding, Scope, split
from recollect.domain.times import to_micros
from recollect.errors import InvalidInput, NotFound, RecollectError
from recollect.ports.audit import Anchor, Erasures, Sealed

if TYPE_CHECKING:
    from recollect.audit.contents import Contents
    from recollect.audit.prompt_replay import Replayer
    from recollect.audit.rows import SqlAudit
    from recollect.domain.injection import Replay
    from recollect.domain.sharing import Party
    from recollect.jobs.worker import Handler
    from recollect.ports.jobs import Jobs
    from recollect.records.usage import Usage
    from recollect.sharing.records import Parties

# --- Seal the audit log in batches and verify that nobody changed it ------------------------------

SEAL: Final = "seal"
# A save waits while a batch is being sealed.
_BATCH_ENTRIES: Final = 200
# Hashing this many takes a few milliseconds, during which the event loop is blocked.
_PAGE_ENTRIES: Final = 250
_INTERVAL_SECONDS: Final = 30.0
# A memory seals its own entries when it is closed; a longer tail is left to the next worker.
_BATCHES_AT_CLOSE: Final = 10
# With this many faults, a longer list says nothing new.
_MAX_UNCHAINED: Final = 100

_log = logging.getLogger(__name__)


class Sealer:
    """Schedules the sealing of new entries; one of all open memories does it.

    Saving never waits for it. Until an entry is sealed, nothing proves what it says.
    """

    def __init__(self, log: SqlAudit, anchor: Anchor, jobs: Jobs) -> None:
        self._audit = log
        self._anchor = anchor
        self._jobs = jobs
        self._loop: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Check periodically until `close`."""
        self._loop = asyncio.create_task(self._ask_forever(), name="recollect-sealer")

    async def ask(self) -> None:
        """Queue the sealing if there is anything to seal."""
        if not await self._audit.is_sealed():
            await self._jobs.add([NewJob(kind=SEAL, key=SEAL)])

    async def run(self, job: Job) -> None:
        """Run the job."""
        await self.seal()

    async def seal(self, *, batches: int | None = None) -> int:
        """Seal the new entries, one batch per transaction; return how many."""
        count = 0
        for _ in itertools.repeat(None) if batches is None else range(batches):
            batch = await self._audit.seal(_BATCH_ENTRIES)
            for head in batch.heads:
                await self._keep(head)
            count += batch.count
            if batch.count < _BATCH_ENTRIES:
                break
        return count

    async def close(self) -> None:
        """Stop, and seal the rest if it is small."""
        if self._loop is not None:
            self._loop.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._loop
            self._loop = None
        try:
            if not await self._audit.is_sealed():
                await self.seal(batches=_BATCHES_AT_CLOSE)
        except RecollectError as problem:
            _log.warning("the newest audit entries stay unsealed: %s", problem)

    async def _ask_forever(self) -> None:
        while True:
            await asyncio.sleep(_INTERVAL_SECONDS)
            try:
                await self.ask()
            except RecollectError as problem:
                _log.warning("sealing the audit log is postponed: %s", problem)

    async def _keep(self, head: ChainHead) -> None:
        """Store the head of the chain, unless that would hide that it was cut off before."""
        known = await asyncio.to_thread(self._anchor.known, head.org, head.workspace)
        if known is None or await _holds(self._audit, known):
            await asyncio.to_thread(self._anchor.keep, head)
        else:
            _log.warning("the audit of %s/%s was cut off", head.org, head.workspace)


class Verifier:
    """Verifies the chain of a workspace from its beginning."""

    def __init__(self, log: SqlAudit, anchor: Anchor) -> None:
        self._audit = log
        self._anchor = anchor

    async def verify(self, org: str, workspace: str) -> AuditVerdict:
        """Compare every link with the previous one and with the entry it seals.

        Stored records and turns are compared with the digests of their entries.
        """
        head, faults = first_head(org, workspace), list[AuditFault]()
        altered: list[tuple[ChainLink, SealableEntry]] = []
        links = 0
        # Read first: entries sealed meanwhile only make the chain longer.
        anchor = await asyncio.to_thread(self._anchor.known, org, workspace)
        while page := await self._audit.chain(org, workspace, after=head.seq, limit=_PAGE_ENTRIES):
            for sealed in page:
                faults += _faults(head, sealed)
                link, entry = sealed.link, sealed.entry
                if entry is not None and (entry.is_erased or _changed(link, entry)):
                    altered.append((link, entry))
                head = ChainHead(org=org, workspace=workspace, seq=link.seq, hash=link.hash)
                if anchor is not None and anchor.seq == head.seq and anchor.hash != head.hash:
                    faults.append(_fault(link, "the chain was rewritten up to here"))
            links += len(page)
        if anchor is not None and anchor.seq > head.seq:
            faults.append(_cut_off(anchor, head))
        for entry in await self._audit.unchained(org, workspace, limit=_MAX_UNCHAINED):
            what = "the entry was sealed, and its link is gone"
            faults.append(AuditFault(seq=entry.seq, entry=entry.id, what=what))
        compared = await self._audit.compare(org, workspace)
        faults += [
            AuditFault(seq=fault.seq, entry=fault.entry, what=str(fault))
            for fault in compared.faults
        ]
        # Read last: a forgetting that ran meanwhile has left its mark by now.
        marks = await self._audit.erasures(org, workspace)
        faults += _unexplained(altered, marks)
        return AuditVerdict(
            org=org,
            workspace=workspace,
            sealed=links,
            unsealed=await self._audit.unsealed(org, workspace),
            erased=sum(it.is_erased or it.id in marks.renamed for _, it in altered),
            head=head.hash,
            faults=tuple(faults),
            proved=compared.same,
            unproved=compared.unproved,
        )


async def _holds(log: SqlAudit, known: ChainHead) -> bool:
    """Return whether the chain still has the link that was once its last."""
    there = await log.chain(known.org, known.workspace, after=known.seq - 1, limit=1)
    return bool(there) and there[0].link.hash == known.hash


def _faults(before: ChainHead, sealed: Sealed) -> Iterator[AuditFault]:
    link, entry = sealed.link, sealed.entry
    if link.seq != before.seq + 1:
        missing = f"{before.seq + 1} to {link.seq - 1}"
        yield _fault(link, f"links {missing} before this one are gone")
    if link.hash != link.expected_hash(before.hash):
        yield _fault(link, "the link is not the one that was sealed here")
    if entry is None:
        yield _fault(link, "the entry is gone")


def _changed(
    link: ChainLink, entry: SealableEntry, renamed: tuple[str, str] | None = None
) -> list[str]:
    """Return what of an entry is not as it was sealed, or as the forgetting of a person left it."""
    actor, mac = renamed or (link.actor, link.mac)
    compared = {
        "seq": link.seq == entry.seq,
        "at": link.at == entry.at,
        "action": link.action == entry.action,
        "target": link.target == entry.target,
        # The key of their hashes is erased together with them.
        "actor": not entry.actor if entry.is_erased else actor == entry.pseudonym,
        "payload": not entry.payload if entry.is_erased else mac == entry.mac,
    }
    return [name for name, is_same in compared.items() if not is_same]


def _unexplained(
    altered: Sequence[tuple[ChainLink, SealableEntry]], marks: Erasures
) -> Iterator[AuditFault]:
    """Yield the faults of entries that no forgetting left as they are now."""
    for link, entry in altered:
        if changed := _changed(link, entry, marks.renamed.get(entry.id)):
            yield _fault(link, f"the entry was changed: {', '.join(changed)}")
        if entry.is_erased:
            # An entry is blanked only once, so the ranges do not overlap.
            place = bisect_right(marks.blanked, entry.id, key=itemgetter(0))
            if place == 0 or marks.blanked[place - 1][1] < entry.id:
                yield _fault(link, "the entry was emptied without a forgetting")


def _cut_off(anchor: ChainHead, head: ChainHead) -> AuditFault:
    what = f"the chain went to {anchor.seq} and ends at {head.seq}: its end was removed"
    return AuditFault(seq=anchor.seq, entry=None, what=what)


def _fault(link: ChainLink, what: str) -> AuditFault:
    return AuditFault(seq=link.seq, entry=link.entry, what=what)


# --- The audit log as a caller may read it: limited to readable scopes and visible proposals ------

MAX_PAGE: Final = 1_000
_BETWEEN: Final = "."
# The place in a log of which a page shows nothing yet; entries are numbered from 1.
_UNREAD: Final = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditService:
    """Reads, seals, verifies and replays the audit log."""

    holding: Holding[SqlAudit]
    sealer: Sealer
    verifier: Verifier
    replayer: Replayer
    contents: Contents
    usage: Usage
    parties: Parties
    # Returns the scopes of the documents that a caller may read.
    collections: Callable[[Caller], Awaitable[Sequence[Scope]]]

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers of its jobs."""
        return {SEAL: self.sealer.run}

    async def tail(
        self,
        caller: Caller,
        *,
        limit: int,
        cursor: str | None,
        action: str | None,
        target: str | None,
    ) -> Page[AuditEntry]:
        """Return a page of the entries that the caller may read, newest first."""
        return await self.page(
            await self._scopes(caller),
            limit=limit,
            cursor=cursor,
            action=action,
            target=target,
            proposals_of=self.parties.sees_proposals_of(caller),
        )

    async def page(
        self,
        scopes: Sequence[Scope],
        *,
        limit: int,
        cursor: str | None,
        action: str | None,
        target: str | None = None,
        about: str | None = None,
        proposals_of: Party | None = None,
    ) -> Page[AuditEntry]:
        """Return a page of the entries of these scopes, newest first; `about` is an id in them."""
        checked_limit(limit, MAX_PAGE)
        # Include what this process has not written yet.
        await self.usage.flush()
        logs = split(scopes, self.holding)
        before = [None] * len(logs) if cursor is None else _places(cursor, len(logs))
        found = [
            await log.entries(
                some,
                action=None if action is None else checked_text(action, "action", MAX_LABEL),
                target=None if target is None else checked_text(target, "target", MAX_LABEL),
                naming=None if about is None else checked_text(about, "about", MAX_LABEL),
                before=place,
                proposals_of=proposals_of,
                limit=limit + 1,
            )
            for (log, some), place in zip(logs, before, strict=True)
        ]
        page = _page(found, before, limit)
        return replace(page, items=await self.contents.titled(page.items))

    async def show(self, caller: Caller, ident: str) -> tuple[AuditEntry, ...]:
        """Return every entry about one record, turn or recall, oldest first."""
        checked_text(ident, "id", MAX_LABEL)
        await self.usage.flush()
        logs = [
            await log.entries(
                some,
                naming=ident,
                proposals_of=self.parties.sees_proposals_of(caller),
                limit=MAX_PAGE,
            )
            for log, some in split(await self._scopes(caller), self.holding)
        ]
        # Within a log the order of writing counts, not the clock.
        found = tuple(merge(*map(reversed, logs), key=lambda entry: entry.at))
        if not found:
            raise NotFound(
                f"The audit log of {caller.scope.key} has no entry about {ident!r}",
                hint="Give the id of a record, a turn or a recall; `audit tail` shows some.",
            )
        return await self.contents.titled(found)

    async def _scopes(self, caller: Caller) -> tuple[Scope, ...]:
        return (*caller.readable, *await self.collections(caller))

    async def replay(self, caller: Caller, recall_id: str) -> Replay:
        """Run a past recall again."""
        checked_text(recall_id, "recall_id", MAX_LABEL)
        await self.usage.flush()
        return await self.replayer.replay(caller, recall_id)

    async def verify(self, caller: Caller) -> AuditVerdict:
        """Verify the chain of the caller's workspace."""
        await self.usage.flush()
        return await self.verifier.verify(caller.scope.org, caller.scope.workspace)

    async def seal(self) -> int:
        """Seal all new entries; return how many."""
        await self.usage.flush()
        return await self.sealer.seal()


def _page(
    found: Sequence[Sequence[AuditEntry]], before: Sequence[int | None], limit: int
) -> Page[AuditEntry]:
    """Return the newest entries of all logs; its cursor has a place in each of them."""
    numbered = [[(number, entry) for entry in entries] for number, entries in enumerate(found)]
    newest = [*merge(*numbered, key=lambda it: it[1].at, reverse=True)]
    items = tuple(entry for _, entry in newest[:limit])
    if len(newest) <= limit:
        return Page(items=items)
    places = [_UNREAD if place is None else place for place in before]
    for number, entry in newest[:limit]:
        places[number] = entry.id
    place = _BETWEEN.join(map(str, places))
    return Page(items=items, next_cursor=str(Cursor(at=to_micros(items[-1].at), id=place)))


def _places(cursor: str, logs: int) -> list[int | None]:
    numbers = parse_cursor(cursor).id.split(_BETWEEN)
    if len(numbers) != logs or not all(number.isdecimal() for number in numbers):
        raise InvalidInput(
            f"{cursor!r} is not a cursor of the audit log",
            code="bad_cursor",
            hint="Take the last page's.",
        )
    return [int(number) or None for number in numbers]
