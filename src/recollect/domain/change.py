"""A change set: everything one call writes, in one transaction or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollect.domain.archive import Archive, NewArchive
from recollect.domain.audit import NewAuditEntry
from recollect.domain.conflict import Conflict
from recollect.domain.document import Document, DocumentChange
from recollect.domain.embedding import EmbeddingModel, UnitVector
from recollect.domain.fields import MAX_REASON, checked_text
from recollect.domain.job import NewJob
from recollect.domain.link import Link
from recollect.domain.proposal import Proposal
from recollect.domain.record import Record, Status
from recollect.domain.scope import Scope
from recollect.domain.turn import Turn
from recollect.domain.unit import OwnerUnits
from recollect.domain.write import Trace, Watermark


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordChange:
    """A record's next state; version 1 is new, any other replaces the version before it."""

    record: Record
    reason: str = ""

    def __post_init__(self) -> None:
        checked_text(self.reason, "reason", MAX_REASON, blank=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """That a record helped or did not, and whether it was used or only looked at.

    It makes no version: use is not part of what a record says.
    """

    record: Record
    helped: bool
    was_used: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """That a record entered the prompts of so many sessions, and when it last did."""

    record_id: str
    scope: Scope
    count: int
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Idempotency:
    """A caller's key for this write: the same key with the same body happens once."""

    key: str
    body_hash: str
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSet:
    """What to write. `scope` is where idempotency keys count; parts name their own scope.

    `model` made the vectors of the units, or will; `vectors` belong to units that are stored
    already. The blobs of new archives must be in the blob store before. `accesses` change nothing
    that a recall answers, so they leave the versions of scopes alone.
    """

    principal: str
    scope: Scope
    records: tuple[RecordChange, ...] = ()
    turns: tuple[Turn, ...] = ()
    # Turns that whoever keeps the conversation has taken back; their units go with `units`.
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
    # Of those that are known by their id the newest state is kept.
    conflicts: tuple[Conflict, ...] = ()
    # The latest verdict on two that are linked already takes the place of the one before.
    links: tuple[Link, ...] = ()
    removed_links: tuple[Link, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    traces: tuple[Trace, ...] = ()
    watermarks: tuple[Watermark, ...] = ()
    audit: tuple[NewAuditEntry, ...] = ()
    expected: Mapping[Scope, int] = field(default_factory=dict[Scope, int], hash=False)
    """Versions since which no record of a scope may have changed: what is written rests on them."""
    jobs: tuple[NewJob, ...] = ()
    idempotency: Idempotency | None = None

    @property
    def is_removal(self) -> bool:
        """Whether it only takes things away, so that it must be possible on a full disk."""
        removed = all(it.record.status is Status.DELETED for it in self.records)
        adds = self.turns or self.archives or self.proposals or self.documents
        goes = self.records or self.purged or self.removed_archives or self.removed_documents
        return bool(goes) and removed and not adds


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """What was written, durably. `replayed` is the stored result when the key was used before.

    `unused_blobs` are the keys of contents that nothing refers to now; they may be deleted.
    `without_vectors` are the owners whose units were stored without any, each with the number of
    its first unit, where the change set's model answers.
    """

    recorded_at: datetime
    versions: Mapping[Scope, int]
    turn_ordinals: tuple[int, ...] = ()
    replayed: Mapping[str, Any] | None = None
    unused_blobs: tuple[str, ...] = ()
    without_vectors: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
