"""Keeping records in order: which ones are looked at, what is done with them, and the account."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal

from recollect.domain.conflict import Conflict
from recollect.domain.record import Kind, Record, Status, Tier
from recollect.domain.scope import Scope

RetentionAction = Literal["expire", "delete", "purge"]
SweepAction = Literal["promote", "expire", "delete", "purge"]
SweepReason = Literal["recalled", "unread", "time", "grace", "retention", "capacity"]
"""recalled: often enough to stay. unread: past its time, and nobody ever read it. time: past its
time. grace: expired so long ago that nobody will bring it back."""
EXPIRED_BY: Final[tuple[SweepReason, ...]] = ("time", "retention", "capacity")
"""Why records are expired; the history of each begins its reason with one of these and a colon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which records upkeep looks at; what is None is any.

    `scopes` are the only ones looked at, None is everybody's. Of an agent or a user, `-` is none.
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
    """Whose time is over at this moment."""
    expires_after: datetime | None = None
    """Whose time is not over at this moment, or who have none."""
    untouched_since: datetime | None = None
    """What nobody has changed or confirmed after this moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionRule:
    """What becomes of records that nobody changed or confirmed for so long."""

    older_than: timedelta
    action: RetentionAction
    kind: Kind | None = None
    category: str | None = None
    org: str | None = None
    workspace: str | None = None
    agent: str | None = None
    user: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """What is known of a record that tells how much it is worth keeping."""

    id: str
    importance: float
    confidence: float
    uses: int
    rejected: int
    last_touched: datetime
    """When it was last changed, confirmed or recalled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What a sweep did with records and archives, or in a dry run what it would do."""

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
    """action → the records, of very many the first thousand."""

    @property
    def records(self) -> int:
        """How many records that concerns."""
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
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """An open conflict with both of its records."""

    conflict: Conflict
    first: Record
    second: Record

    @property
    def id(self) -> str:
        return self.conflict.id
