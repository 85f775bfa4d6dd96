"""The units of what is saved: those of much text are made in a thread, so that others go on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from recollect.domain.record import Record
from recollect.domain.turn import Turn
from recollect.domain.unit import OwnerUnits

T = TypeVar("T", Record, Turn)

# So many characters are read in a few milliseconds, 20 if they are Chinese.
_LITTLE: Final = 4_000


async def units_of(make: Callable[[T], OwnerUnits], items: Sequence[T]) -> tuple[OwnerUnits, ...]:
    """The units of each of these."""
    if sum(len(item.content) for item in items) <= _LITTLE:
        return tuple(map(make, items))
    return await asyncio.to_thread(lambda: tuple(map(make, items)))
