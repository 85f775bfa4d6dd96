"""Records whose time is over: gone at once when nobody read them, otherwise after a while.

The end of a record's time is `expires_at`. That it is true until `valid_to` is another matter: what
was true once is still remembered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from recollect.domain.record import Record, Status, Tier
from recollect.domain.scope import Scope
from recollect.domain.times import shifted
from recollect.domain.upkeep import Selection
from recollect.lifecycle.clearing import Account, Clearing, Step
from recollect.ports.clock import Clock

PROMOTE: Final = Step(action="promote", why="recalled", told="often enough to stay")
_UNREAD: Final = Step(action="purge", why="unread", told="its time is over and nobody read it")
_EXPIRE: Final = Step(action="expire", why="time", told="its time is over")
_PURGE: Final = Step(action="purge", why="grace", told="it expired long ago")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiryOptions:
    """How often a short-term record is recalled to stay, and how long expired ones are kept."""

    promote_at: int = 3
    purge_after: timedelta = timedelta(days=30)


class Expiry:
    """Deals with records past their time."""

    def __init__(self, clearing: Clearing, clock: Clock, options: ExpiryOptions) -> None:
        self._clearing = clearing
        self._clock = clock
        self._options = options

    async def sweep(self, scopes: Sequence[Scope] | None, account: Account) -> None:
        """Hide or remove what is past its time in these scopes; None is in all of them."""
        wanted = None if scopes is None else tuple(scopes)
        now = self._clock.now()
        outdated = Selection(scopes=wanted, expires_by=now)
        async for batch in self._clearing.batches(outdated, account):
            for step in (PROMOTE, _UNREAD, _EXPIRE):
                concerned = [record for record in batch if self._step(record) is step]
                await self._clearing.do(step, concerned, account)
        long_expired = Selection(
            scopes=wanted,
            statuses=frozenset({Status.EXPIRED}),
            untouched_since=shifted(now, -self._options.purge_after),
        )
        async for batch in self._clearing.batches(long_expired, account):
            await self._clearing.do(_PURGE, batch, account)

    def _step(self, record: Record) -> Step:
        if record.tier is Tier.LONG:
            return _EXPIRE
        if record.access_count >= self._options.promote_at:
            # It earned its place while it lived; a process that was killed did not get to say so.
            return PROMOTE
        return _EXPIRE if record.access_count else _UNREAD
