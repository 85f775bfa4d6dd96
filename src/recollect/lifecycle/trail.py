"""The audit as its readers see it: each only what happened in scopes that they may read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from recollect.domain.audit import AuditEntry, AuditVerdict
from recollect.domain.fields import MAX_LABEL, checked_text
from recollect.domain.page import Cursor, Page, checked_limit, parse_cursor
from recollect.domain.replay import Replay
from recollect.domain.scope import Caller
from recollect.domain.times import to_micros
from recollect.errors import InvalidInput, NotFound
from recollect.lifecycle.auditing import SEAL, Sealer, Verifier
from recollect.lifecycle.replaying import Replayer
from recollect.lifecycle.usage import Usage
from recollect.lifecycle.worker import Handler
from recollect.ports.audit import AuditLog

MAX_PAGE: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """What happened, shown, sealed, checked and asked again."""

    log: AuditLog
    sealer: Sealer
    verifier: Verifier
    replayer: Replayer
    usage: Usage

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """Who does which of its jobs."""
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
        """What happened, the latest first, a page at a time."""
        checked_limit(limit, MAX_PAGE)
        # What this process has not written yet has happened too.
        await self.usage.flush()
        found = await self.log.entries(
            caller.readable,
            action=None if action is None else checked_text(action, "action", MAX_LABEL),
            target=None if target is None else checked_text(target, "target", MAX_LABEL),
            before=None if cursor is None else _place(cursor),
            limit=limit + 1,
        )
        items = tuple(found[:limit])
        if len(found) <= limit:
            return Page(items=items)
        last = items[-1]
        return Page(items=items, next_cursor=str(Cursor(at=to_micros(last.at), id=str(last.id))))

    async def show(self, caller: Caller, ident: str) -> tuple[AuditEntry, ...]:
        """All that happened to one thing or because of it, in its order."""
        checked_text(ident, "id", MAX_LABEL)
        await self.usage.flush()
        found = await self.log.entries(caller.readable, naming=ident, limit=MAX_PAGE)
        if not found:
            raise NotFound(
                f"The audit of {caller.scope.key} tells nothing of {ident!r}",
                hint="Ids of records, turns and recalls are known to it; `audit tail` shows some.",
            )
        return tuple(reversed(found))

    async def replay(self, caller: Caller, recall_id: str) -> Replay:
        """A past recall asked again."""
        checked_text(recall_id, "recall_id", MAX_LABEL)
        await self.usage.flush()
        return await self.replayer.replay(caller, recall_id)

    async def verify(self, caller: Caller) -> AuditVerdict:
        """Whether anybody changed what was sealed in the caller's workspace."""
        await self.usage.flush()
        return await self.verifier.verify(caller.scope.org, caller.scope.workspace)

    async def seal(self) -> int:
        """Seal all that is unsealed; how many entries that were."""
        await self.usage.flush()
        return await self.sealer.seal()


def _place(cursor: str) -> int:
    number = parse_cursor(cursor).id
    if not number.isdecimal():
        raise InvalidInput(
            f"{cursor!r} is no cursor of the audit", code="bad_cursor", hint="Take the last page's."
        )
    return int(number)
