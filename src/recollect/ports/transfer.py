"""Moving whole histories out of a database and into another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol, TypeVar

from recollect.domain.scope import Scope
from recollect.domain.transfer import ExportCounts, Item
from recollect.domain.unit import OwnerUnits

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Everything some scopes hold at one moment, in an order that depends on nothing else."""

    schema: str
    counts: ExportCounts
    items: Iterator[Item]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """Something from elsewhere, and the units it is found by here."""

    item: Item
    units: OwnerUnits


class Outcome(Enum):
    """What became of an arrival."""

    ADDED = auto()
    UNCHANGED = auto()
    ID_TAKEN = auto()
    PLACE_TAKEN = auto()
    FORGOTTEN = auto()


class Transfer(Protocol):
    """The only way in that keeps ids, times, versions and places as they were."""

    async def read(self, scopes: Sequence[Scope] | None, take: Callable[[Snapshot], T]) -> T:
        """Run `take` beside the event loop on these scopes, or with None on all there are."""
        ...

    async def add(self, arrivals: Sequence[Arrival]) -> list[Outcome]:
        """Write those that are new, in one transaction; nothing stored is ever changed."""
        ...
