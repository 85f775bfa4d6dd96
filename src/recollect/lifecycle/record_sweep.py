"""One sweep over records: what is past its time, what the rules say, what is too much."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from recollect.context.archive_retention import Retention
from recollect.domain.scope import Caller, Scope
from recollect.domain.upkeep import Swept
from recollect.lifecycle.capacity import Capacity
from recollect.lifecycle.clearing import Account
from recollect.lifecycle.expiry import Expiry
from recollect.lifecycle.retention_rules import RetentionRules

SWEEPER: Final = "sweep"

_log = logging.getLogger(__name__)


class RecordSweep:
    """Sweeps the scopes that a caller may write to, or as a job those of everybody."""

    def __init__(
        self,
        expiry: Expiry,
        rules: RetentionRules,
        capacity: Capacity,
        archives: Retention,
        settle: Callable[[], Awaitable[None]],
    ) -> None:
        self._expiry = expiry
        self._rules = rules
        self._capacity = capacity
        self._archives = archives
        self._settle = settle

    async def everything(self, *, dry_run: bool = False, by: str = SWEEPER) -> Swept:
        """Sweep the records of all scopes."""
        return await self._sweep(None, Account(by=by, is_dry_run=dry_run))

    async def of(self, caller: Caller, *, dry_run: bool = False) -> Swept:
        """Sweep the records and archives that the caller may write to."""
        account = Account(by=caller.principal, is_dry_run=dry_run)
        for scope in caller.writable:
            swept = await self._archives.sweep(scope, dry_run=dry_run)
            account.archives += len(swept.archives)
        return await self._sweep(caller.writable, account)

    async def expire(self, caller: Caller, *, dry_run: bool = False) -> Swept:
        """Only what is past its time."""
        account = Account(by=caller.principal, is_dry_run=dry_run)
        await self._settle()
        await self._expiry.sweep(caller.writable, account)
        return account.told()

    async def retain(self, caller: Caller, *, dry_run: bool = False) -> Swept:
        """Only what the rules of retention say."""
        account = Account(by=caller.principal, is_dry_run=dry_run)
        await self._rules.sweep(caller.writable, account)
        return account.told()

    async def _sweep(self, scopes: Sequence[Scope] | None, account: Account) -> Swept:
        # What was recalled a moment ago is not unread.
        await self._settle()
        await self._expiry.sweep(scopes, account)
        await self._rules.sweep(scopes, account)
        await self._capacity.sweep(scopes, account)
        swept = account.told()
        if swept.records:
            _log.info(
                "%s: %d records promoted, %d expired, %d deleted, %d purged (%s)",
                "a sweep would change" if swept.is_dry_run else "swept",
                swept.promoted,
                swept.expired,
                swept.deleted,
                swept.purged,
                ", ".join(f"{why} {count}" for why, count in swept.by_reason.items()),
            )
        return swept
