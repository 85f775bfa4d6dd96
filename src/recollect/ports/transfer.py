"""Export and import of whole histories between databases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeVar

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
    """What to read: some scopes as a whole, and of others only what is about the user."""

    scopes: tuple[Scope, ...]
    profiles: tuple[Scope, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Everything that some scopes hold at one moment, in a deterministic order.

    Conflicts, watermarks and proposals come after what they refer to. `blob` returns the blob of
    an archive.
    """

    schema: str
    counts: ExportCounts
    items: Iterator[Item]
    blob: Callable[[Archive | Document], Blob]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """An imported item, with its units here and the jobs that it needs.

    An archive has a blob unless its workspace already has the content. `audit` says what was
    redacted during the import.
    """

    item: Item
    units: OwnerUnits | None = None
    blob: Blob | None = None
    job: NewJob | None = None
    audit: NewAuditEntry | None = None


class Outcome(Enum):
    """The outcome for one imported item."""

    ADDED = auto()
    UNCHANGED = auto()
    ID_TAKEN = auto()
    PLACE_TAKEN = auto()
    RECORD_MISSING = auto()
    CONTENT_MISSING = auto()
    FORGOTTEN = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """The outcome for each imported item, and the keys of blobs that were not needed."""

    outcomes: list[Outcome]
    unused_blobs: tuple[str, ...] = ()
