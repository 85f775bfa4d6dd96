"""The short-term buffer: records that expire after some days unless they are promoted.

A record is promoted when it was recalled often enough or somebody confirms it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from recollect.domain.filters import Filter
from recollect.domain.record import Record, Status, Tier
from recollect.domain.scope import Caller, Scope
from recollect.domain.upkeep import Selection
from recollect.errors import Conflict
from recollect.lifecycle.sweep import PROMOTE, SweepAccount, SweepRunner, after
from recollect.ports.runtime import Clock
from recollect.ports.store import Store
from recollect.ports.upkeep import UpkeepReader
from recollect.writing.saver import Saver

PROMOTION: Final = "promotion"
_PROMOTABLE: Final = frozenset({Status.ACTIVE, Status.EXPIRED})
# The importance counts as at most a second: it breaks ties between records of the same time and
# never lifts one above a newer one.
_SECOND: Final = 1.0


class Promoter:
    """Makes short-term records permanent."""

    def __init__(
        self, store: Store, saver: Saver, clearing: SweepRunner, clock: Clock, *, promote_at: int
    ) -> None:
        self._store = store
        self._saver = saver
        self._clearing = clearing
        self._clock = clock
        self._promote_at = promote_at

    async def promote(self, caller: Caller, record_id: str, *, reason: str = "") -> Record:
        """Make a record permanent because somebody asks for it, even if it has expired."""
        return await self._saver.revise(
            caller, record_id, self._kept, reason=reason or "confirmed: it shall be kept"
        )

    async def recalled(self, scopes: Sequence[Scope], ids: Sequence[str]) -> None:
        """Promote those of the recalled short-term records that were recalled often enough."""
        found = await self._store.records(scopes, Filter(), now=self._clock.now(), ids=ids)
        enough = [
            record
            for record in found
            if record.tier is Tier.SHORT and record.access_count >= self._promote_at
        ]
        await self._clearing.do(PROMOTE, enough, SweepAccount(by=PROMOTION))

    def _kept(self, record: Record) -> Record:
        if record.status not in _PROMOTABLE:
            raise Conflict(
                f"{record.id} is {record.status}; only an active or expired record can be promoted",
                code="not_active",
                hint="Accept a quarantined record first; undo restores others.",
            )
        is_kept = record.tier is Tier.LONG and record.expires_at is None
        if is_kept and record.status is Status.ACTIVE:
            return record
        return after(record, "promote", self._clock.now())


class Buffer:
    """Reads the buffer."""

    def __init__(self, reader: UpkeepReader, clock: Clock) -> None:
        self._reader = reader
        self._clock = clock

    async def entries(self, caller: Caller) -> tuple[Record, ...]:
        """Return the short-term records, newest and most important first."""
        held = await self._reader.select(
            Selection(scopes=caller.readable, tier=Tier.SHORT, expires_after=self._clock.now())
        )
        return tuple(sorted(held, key=_score, reverse=True))


def _score(record: Record) -> float:
    """Return the time in seconds plus the importance."""
    return record.observed_at.timestamp() + record.importance * _SECOND
