"""Seal the audit log in batches and verify that nobody changed it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Final

from recollect.domain.audit import (
    AuditFault,
    AuditVerdict,
    ChainHead,
    ChainLink,
    SealableEntry,
    first_head,
)
from recollect.domain.job import Job, NewJob
from recollect.errors import RecollectError
from recollect.ports.audit import Anchor, AuditLog, Sealed
from recollect.ports.jobs import Jobs

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

    def __init__(self, log: AuditLog, anchor: Anchor, jobs: Jobs) -> None:
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

    def __init__(self, log: AuditLog, anchor: Anchor) -> None:
        self._audit = log
        self._anchor = anchor

    async def verify(self, org: str, workspace: str) -> AuditVerdict:
        """Compare every link with the previous one and with the entry it seals.

        Stored records and turns are compared with the digests of their entries.
        """
        head, erased, faults = first_head(org, workspace), list[Sealed](), list[AuditFault]()
        links = 0
        # Read first: entries sealed meanwhile only make the chain longer.
        anchor = await asyncio.to_thread(self._anchor.known, org, workspace)
        while page := await self._audit.chain(org, workspace, after=head.seq, limit=_PAGE_ENTRIES):
            for sealed in page:
                faults += _faults(head, sealed)
                if sealed.entry is not None and sealed.entry.is_erased:
                    erased.append(sealed)
                link = sealed.link
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
        faults += _without_mark(erased, await self._audit.erasures(org, workspace))
        return AuditVerdict(
            org=org,
            workspace=workspace,
            sealed=links,
            unsealed=await self._audit.unsealed(org, workspace),
            erased=len(erased),
            head=head.hash,
            faults=tuple(faults),
            proved=compared.same,
            unproved=compared.unproved,
        )


async def _holds(log: AuditLog, known: ChainHead) -> bool:
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
    elif changed := _changed(link, entry):
        yield _fault(link, f"the entry was changed: {', '.join(changed)}")


def _changed(link: ChainLink, entry: SealableEntry) -> list[str]:
    compared = {
        "seq": link.seq == entry.seq,
        "at": link.at == entry.at,
        "action": link.action == entry.action,
        "target": link.target == entry.target,
        # The key of their hashes is erased together with them.
        "actor": not entry.actor if entry.is_erased else link.actor == entry.pseudonym,
        "payload": not entry.payload if entry.is_erased else link.mac == entry.mac,
    }
    return [name for name, is_same in compared.items() if not is_same]


def _without_mark(
    erased: Sequence[Sealed], marks: Sequence[tuple[int, int]]
) -> Iterator[AuditFault]:
    """Yield the emptied entries that no forgetting erased."""
    for sealed in erased:
        entry = sealed.link.entry
        # An entry is erased only once, so the ranges of the marks do not overlap.
        place = bisect_right(marks, entry, key=itemgetter(0))
        if place == 0 or marks[place - 1][1] < entry:
            yield _fault(sealed.link, "the entry was emptied without a forgetting")


def _cut_off(anchor: ChainHead, head: ChainHead) -> AuditFault:
    what = f"the chain went to {anchor.seq} and ends at {head.seq}: its end was removed"
    return AuditFault(seq=anchor.seq, entry=None, what=what)


def _fault(link: ChainLink, what: str) -> AuditFault:
    return AuditFault(seq=link.seq, entry=link.entry, what=what)
