"""The short-term buffer: records that live for some days, unless something makes them stay."""

from __future__ import annotations

from typing import Final

from recollect.domain.record import Record, Tier
from recollect.domain.scope import Caller
from recollect.domain.upkeep import Selection
from recollect.ports.clock import Clock
from recollect.ports.upkeep import UpkeepReader

# As in the seed's sorted set: a second's worth of importance breaks ties between what was
# noticed together and never lifts anything over what is newer.
_SECOND: Final = 1.0


class Buffer:
    """Looks into the buffer."""

    def __init__(self, reader: UpkeepReader, clock: Clock) -> None:
        self._reader = reader
        self._clock = clock

    async def entries(self, caller: Caller) -> tuple[Record, ...]:
        """What it holds, the newest and most important first."""
        held = await self._reader.select(
            Selection(scopes=caller.readable, tier=Tier.SHORT, expires_after=self._clock.now())
        )
        return tuple(sorted(held, key=_score, reverse=True))


def _score(record: Record) -> float:
    """Its time in seconds plus its importance."""
    return record.observed_at.timestamp() + record.importance * _SECOND
