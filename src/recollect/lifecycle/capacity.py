"""How many records a scope may hold: of too many, the least valuable expire."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from recollect.domain.filters import Filter
from recollect.domain.scope import Scope
from recollect.domain.upkeep import Worth
from recollect.lifecycle.clearing import Account, Clearing, Step
from recollect.ports.clock import Clock
from recollect.ports.store import Store
from recollect.ports.upkeep import UpkeepReader

_DAY: Final = timedelta(days=1)
_BATCH: Final = 200

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityOptions:
    """How many active records a scope may hold, None is any number; how fast worth wears off."""

    records: int | None = None
    decay_lambda: float = 0.01


class Capacity:
    """Keeps every scope within its capacity, and says so when it has to."""

    def __init__(
        self,
        store: Store,
        reader: UpkeepReader,
        clearing: Clearing,
        clock: Clock,
        options: CapacityOptions,
    ) -> None:
        self._store = store
        self._reader = reader
        self._clearing = clearing
        self._clock = clock
        self._options = options

    @property
    def records(self) -> int | None:
        """How many active records a scope may hold."""
        return self._options.records

    async def sweep(self, scopes: Sequence[Scope] | None, account: Account) -> None:
        """Of scopes that hold too many, let the least valuable records expire; undo brings back."""
        most = self._options.records
        if most is None:
            return
        now = self._clock.now()
        for scope in await self._reader.crowded(scopes, most, now=now):
            held = [
                it for it in await self._reader.worths(scope, now=now) if not account.has(it.id)
            ]
            going = self.least_valuable(held, len(held) - most, now)
            if going:
                await self._let_go(scope, going, account)

    def least_valuable(self, held: Sequence[Worth], count: int, now: datetime) -> list[str]:
        """The ids of so many records, the least valuable first; of equal ones the oldest."""
        ordered = sorted(
            held, key=lambda it: (value_of(it, now, self._options.decay_lambda), it.id)
        )
        return [worth.id for worth in ordered[: max(count, 0)]]

    async def _let_go(self, scope: Scope, ids: list[str], account: Account) -> None:
        step = Step(
            action="expire",
            why="capacity",
            told=f"the scope holds more than {self._options.records} records",
        )
        count = 0
        for start in range(0, len(ids), _BATCH):
            records = await self._store.records(
                [scope], Filter(), now=self._clock.now(), ids=ids[start : start + _BATCH]
            )
            count += await self._clearing.do(step, records, account)
        if count and not account.is_dry_run:
            _log.warning(
                "%s is over its capacity of %d records: the %d least valuable have expired; "
                "undo brings them back",
                scope.key,
                self._options.records,
                count,
            )


def value_of(worth: Worth, now: datetime, decay_lambda: float) -> float:
    """How much a record is worth keeping: (importance + use) · confidence · e^(−λ·age in days).

    Its age counts from when it was last changed, confirmed or recalled.
    """
    balance = max(worth.uses - worth.rejected, 0)
    use = balance / (balance + 1)
    age = max((now - worth.last_touched) / _DAY, 0.0)
    return (worth.importance + use) * worth.confidence * math.exp(-decay_lambda * age)
