"""Moving whole histories out of a database and into another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol, TypeVar

from recollect.domain.archive import Archive, Blob
from recollect.domain.audit import NewAuditEntry
from recollect.domain.document import Document
from recollect.domain.job import NewJob
from recollect.domain.scope import Scope
from recollect.domain.transfer import ExportCounts, Item
from recollect.domain.unit import OwnerUnits

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """What is to be read: all of some scopes, and of others only what speaks of the user."""

    scopes: tuple[Scope, ...]
    profiles: tuple[Scope, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Everything some scopes hold at one moment, in an order that depends on nothing else.

    Conflicts, watermarks and proposals come after all that they are about. `blob` tells where the
    content of an archive lies.
    """

    schema: str
    counts: ExportCounts
    items: Iterator[Item]
    blob: Callable[[Archive | Document], Blob]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """Something from elsewhere, with the units it is found by here and the work it leaves.

    An archive has a blob unless its workspace holds the content already. `audit` says what was
    taken out of it on its way.
    """

    item: Item
    units: OwnerUnits | None = None
    blob: Blob | None = None
    job: NewJob | None = None
    audit: NewAuditEntry | None = None


class Outcome(Enum):
    """What became of an arrival."""

    ADDED = auto()
    UNCHANGED = auto()
    ID_TAKEN = auto()
    PLACE_TAKEN = auto()
    RECORD_MISSING = auto()
    CONTENT_MISSING = auto()
    FORGOTTEN = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What became of each arrival, and the keys of blobs that were brought in vain."""

    outcomes: list[Outcome]
    unused_blobs: tuple[str, ...] = ()


class Transfer(Protocol):
    """The only way in that keeps ids, times, versions and places as they were."""

    async def read(self, extent: Extent | None, take: Callable[[Snapshot], T]) -> T:
        """Run `take` beside the event loop on this extent, or with None on all there is."""
        ...

    async def add(self, arrivals: Sequence[Arrival]) -> Added:
        """Write those that are new, in one transaction; nothing that anybody said is changed."""
        ...
