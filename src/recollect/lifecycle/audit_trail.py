"""The audit log as a caller may read it: limited to readable scopes and visible proposals."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from typing import Final

from recollect.domain.audit import AuditEntry, AuditVerdict
from recollect.domain.fields import MAX_LABEL, checked_text
from recollect.domain.injection import Replay
from recollect.domain.page import Cursor, Page, checked_limit, parse_cursor
from recollect.domain.scope import Caller, Holding, Scope, split
from recollect.domain.sharing import Party
from recollect.domain.times import to_micros
from recollect.errors import InvalidInput, NotFound
from recollect.lifecycle.audit_integrity import SEAL, Sealer, Verifier
from recollect.lifecycle.job_worker import Handler
from recollect.lifecycle.prompt_replay import Replayer
from recollect.lifecycle.usage import Usage
from recollect.ports.audit import AuditLog
from recollect.sharing.parties import Parties

MAX_PAGE: Final = 1_000
_BETWEEN: Final = "."
# The place in a log of which a page shows nothing yet; entries are numbered from 1.
_UNREAD: Final = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditService:
    """Reads, seals, verifies and replays the audit log."""

    holding: Holding[AuditLog]
    sealer: Sealer
    verifier: Verifier
    replayer: Replayer
    usage: Usage
    parties: Parties
    # Returns the scopes of the documents that a caller may read.
    collections: Callable[[Caller], Awaitable[Sequence[Scope]]] | None = None

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
        return _page(found, before, limit)

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
        return found

    async def _scopes(self, caller: Caller) -> tuple[Scope, ...]:
        of_documents = () if self.collections is None else await self.collections(caller)
        return (*caller.readable, *of_documents)

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
