"""Upkeep of records: selections, retention rules, and the result of a sweep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from recollect.domain.record import Kind, Record, Status, Tier
from recollect.domain.relation import Conflict
from recollect.domain.scope import Scope

# The importance counts as at most a second: it breaks ties between records of the same time and
# never lifts one above a newer one.
_SECOND: Final = 1.0

RetentionAction = Literal["expire", "delete", "purge"]
SweepAction = Literal["promote", "expire", "delete", "purge"]
SweepReason = Literal["recalled", "unread", "time", "grace", "retention", "capacity"]
"""recalled: often enough to stay. unread: expired without ever being read. time: expired. grace:
expired longer ago than the grace period. retention, capacity: by a rule, or over the limit."""
EXPIRED_BY: Final[tuple[SweepReason, ...]] = ("time", "retention", "capacity")
"""Why records expire; the reason in a record's history begins with one of these and a colon."""


def buffer_score(record: Record) -> float:
    """Return the place of a record in the short-term buffer: its time in seconds and importance."""
    return record.observed_at.timestamp() + record.importance * _SECOND


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which records to select; None means any.

    `scopes` limits the selection, None means all scopes. For an agent or a user, `-` means none.
    """

    scopes: tuple[Scope, ...] | None = None
    statuses: frozenset[Status] = frozenset({Status.ACTIVE})
    kind: Kind | None = None
    category: str | None = None
    tier: Tier | None = None
    org: str | None = None
    workspace: str | None = None
    agent: str | None = None
    user: str | None = None
    expires_by: datetime | None = None
    """Only records that are expired at this time."""
    expires_after: datetime | None = None
    """Only records that are not expired at this time, or never expire."""
    untouched_since: datetime | None = None
    """Only records that were not changed or confirmed after this time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """The properties of a record that determine how much it is worth keeping."""

    id: str
    importance: float
    confidence: float
    uses: int
    rejected: int
    last_touched: datetime
    """When it was last changed, confirmed or recalled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptRecord:
    """A record that a sweep takes a step with: what it is called, which step, and why."""

    id: str
    title: str
    """Its title, or the beginning of its content."""
    category: str
    action: SweepAction
    reason: SweepReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What a sweep did with records and archives, or would do in a dry run."""

    is_dry_run: bool
    promoted: int = 0
    expired: int = 0
    deleted: int = 0
    purged: int = 0
    archives: int = 0
    by_category: Mapping[str, Mapping[str, int]] = field(
        default_factory=dict[str, Mapping[str, int]], hash=False
    )
    """category → action → how many."""
    by_reason: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
    ids: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict[str, tuple[str, ...]], hash=False
    )
    """action → the ids of the records, at most the first thousand."""
    named: tuple[SweptRecord, ...] = ()
    """The records of `ids`, by name."""

    @property
    def records(self) -> int:
        """Return the number of affected records."""
        return self.promoted + self.expired + self.deleted + self.purged


def swept_together(several: Sequence[Swept]) -> Swept:
    """Return the sweeps of several stores as one."""
    if len(several) == 1:
        return several[0]
    categories: dict[str, Counter[str]] = {}
    reasons: Counter[str] = Counter()
    ids: dict[str, tuple[str, ...]] = {}
    for swept in several:
        for category, actions in swept.by_category.items():
            categories.setdefault(category, Counter()).update(actions)
        reasons.update(swept.by_reason)
        for action, some in swept.ids.items():
            ids[action] = (*ids.get(action, ()), *some)
    return Swept(
        is_dry_run=several[0].is_dry_run,
        promoted=sum(it.promoted for it in several),
        expired=sum(it.expired for it in several),
        deleted=sum(it.deleted for it in several),
        purged=sum(it.purged for it in several),
        archives=sum(it.archives for it in several),
        by_category={name: dict(counts) for name, counts in sorted(categories.items())},
        by_reason=dict(reasons),
        ids=ids,
        named=tuple(record for swept in several for record in swept.named),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """An open conflict with its two records."""

    conflict: Conflict
    first: Record
    second: Record

    @property
    def id(self) -> str:
        return self.conflict.id


# --- The result of changing many records at once --------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkFailure:
    """A record that was not changed, and why."""

    id: str
    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkChange:
    """The changed records, in the order in which they were named, and the failures."""

    changed: tuple[Record, ...]
    failed: tuple[BulkFailure, ...] = ()
