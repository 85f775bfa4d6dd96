"""A change set, written in one transaction or not at all, and the feed of what changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from recollect.domain.archive import Archive, NewArchive
from recollect.domain.audit import NewAuditEntry
from recollect.domain.document import Document, DocumentChange
from recollect.domain.embedding import EmbeddingModel, UnitVector
from recollect.domain.fields import MAX_REASON, checked_text
from recollect.domain.job import NewJob
from recollect.domain.record import Record, Status
from recollect.domain.relation import Conflict, Link
from recollect.domain.scope import Scope
from recollect.domain.sharing import Proposal
from recollect.domain.turn import Turn
from recollect.domain.unit import OwnerKind, OwnerUnits
from recollect.domain.write import Trace, Watermark


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordChange:
    """The next state of a record; version 1 is a new record, others follow the version before."""

    record: Record
    reason: str = ""

    def __post_init__(self) -> None:
        checked_text(self.reason, "reason", MAX_REASON, blank=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """Whether a record helped, and whether it was used or only looked at.

    It makes no new version, because use is not part of what a record says.
    """

    record: Record
    helped: bool
    was_used: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """In how many sessions a record entered a prompt, and when it last did."""

    record_id: str
    scope: Scope
    count: int
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Idempotency:
    """A caller's key for a write: the same key with the same body is written once."""

    key: str
    body_hash: str
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSet:
    """What to write. `scope` is the one of the idempotency keys; the parts name their own scopes.

    `model` made the vectors of the units, or will make them; `vectors` are for units that are
    already stored. The blobs of new archives must be stored before. `accesses` do not change what
    a recall returns, so they leave the versions of scopes unchanged.
    """

    principal: str
    scope: Scope
    records: tuple[RecordChange, ...] = ()
    turns: tuple[Turn, ...] = ()
    # Turns that the owner of the conversation took back; `units` removes their units.
    retracted: tuple[Turn, ...] = ()
    units: tuple[OwnerUnits, ...] = ()
    vectors: tuple[UnitVector, ...] = ()
    model: EmbeddingModel | None = None
    purged: tuple[Record, ...] = ()
    archives: tuple[NewArchive, ...] = ()
    removed_archives: tuple[Archive, ...] = ()
    documents: tuple[DocumentChange, ...] = ()
    removed_documents: tuple[Document, ...] = ()
    feedback: tuple[Feedback, ...] = ()
    accesses: tuple[Access, ...] = ()
    # A conflict with a known id replaces its earlier state.
    conflicts: tuple[Conflict, ...] = ()
    # A link between two that are already linked replaces the earlier one.
    links: tuple[Link, ...] = ()
    removed_links: tuple[Link, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    traces: tuple[Trace, ...] = ()
    watermarks: tuple[Watermark, ...] = ()
    audit: tuple[NewAuditEntry, ...] = ()
    expected: Mapping[Scope, int] = field(default_factory=dict[Scope, int], hash=False)
    """The versions of scopes that this write is based on; if one has changed, the write fails."""
    jobs: tuple[NewJob, ...] = ()
    # Several where several requests are written together.
    idempotency: tuple[Idempotency, ...] = ()

    @property
    def is_removal(self) -> bool:
        """Return whether it only deletes, so that it must work on a full disk."""
        removed = all(change.record.status is Status.DELETED for change in self.records)
        adds = self.turns or self.archives or self.proposals or self.documents
        goes = self.records or self.purged or self.removed_archives or self.removed_documents
        return bool(goes) and removed and not adds


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """The result of a write. `replayed` is the stored result if the key was used before.

    `unused_blobs` are the keys of blobs that nothing refers to any more; they may be deleted.
    `without_vectors` are the owners whose units were stored without vectors, each with the number
    of its first unit, where the model of the change set serves the scope.
    """

    recorded_at: datetime
    versions: Mapping[Scope, int]
    turn_ordinals: tuple[int, ...] = ()
    replayed: Mapping[str, Any] | None = None
    unused_blobs: tuple[str, ...] = ()
    without_vectors: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)


# --- The change feed of a scope, in the order in which changes were written -----------------------


ChangeKind = Literal["put", "use", "purge"]
"""put: new, or a new version. use: feedback was counted. purge: removed for good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A record, turn or archive that changed."""

    entity: OwnerKind
    id: str
    op: ChangeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeChange:
    """What one write changed in one scope; `mark` is the position after it."""

    mark: str
    scope: Scope
    version: int
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What changed since a mark, and the mark to continue from."""

    items: tuple[ScopeChange, ...]
    mark: str
