"""How a short-term record comes to stay: recalled often enough, or confirmed by somebody."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from recollect.domain.filters import Filter
from recollect.domain.record import Record, Status, Tier
from recollect.domain.scope import Caller, Scope
from recollect.errors import Conflict
from recollect.lifecycle.clearing import Account, Clearing, after
from recollect.lifecycle.expiry import PROMOTE
from recollect.ports.clock import Clock
from recollect.ports.store import Store
from recollect.writing.save import Saver

PROMOTION: Final = "promotion"
_CAN_STAY: Final = frozenset({Status.ACTIVE, Status.EXPIRED})


class Promoter:
    """Makes short-term records long-term."""

    def __init__(
        self, store: Store, saver: Saver, clearing: Clearing, clock: Clock, *, promote_at: int
    ) -> None:
        self._store = store
        self._saver = saver
        self._clearing = clearing
        self._clock = clock
        self._promote_at = promote_at

    async def promote(self, caller: Caller, record_id: str, *, reason: str = "") -> Record:
        """Somebody wants it kept: it stays from now on, even if its time was over already."""
        return await self._saver.revise(
            caller, record_id, self._kept, reason=reason or "confirmed: it shall be kept"
        )

    async def recalled(self, scopes: Sequence[Scope], ids: Sequence[str]) -> None:
        """Some short-term records were recalled once more: those recalled often enough stay."""
        found = await self._store.records(scopes, Filter(), now=self._clock.now(), ids=ids)
        enough = [
            record
            for record in found
            if record.tier is Tier.SHORT and record.access_count >= self._promote_at
        ]
        await self._clearing.do(PROMOTE, enough, Account(by=PROMOTION))

    def _kept(self, record: Record) -> Record:
        if record.status not in _CAN_STAY:
            raise Conflict(
                f"{record.id} is {record.status}; only what is remembered can be kept",
                code="not_active",
                hint="A quarantined record is accepted first; undo brings others back.",
            )
        is_kept = record.tier is Tier.LONG and record.expires_at is None
        if is_kept and record.status is Status.ACTIVE:
            return record
        return after(record, "promote", self._clock.now())
