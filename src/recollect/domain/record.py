"""Records, their versions, and the details that each kind adds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, Final

from recollect.domain.copies import copy_with
from recollect.domain.relation import Link
from recollect.domain.scope import Scope


class Kind(StrEnum):
    """The kind of a record: a fact, an event or a way of working."""

    SEMANTIC = "semantic"
    EPISODIC = "episodic"
    PROCEDURAL = "procedural"


class Status(StrEnum):
    """Whether a record is current, and if not, why."""

    ACTIVE = "active"
    QUARANTINED = "quarantined"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    DELETED = "deleted"


class Tier(StrEnum):
    """How long a record is meant to be kept."""

    SHORT = "short"
    LONG = "long"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A turn that a record comes from, and the characters of it that support the record."""

    turn: str
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """The details of an episodic record: participants, outcome, artifacts and time."""

    participants: tuple[str, ...] = ()
    outcome: str = ""
    artifacts: tuple[str, ...] = ()
    timestamp: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """The details of a procedural record: when to use it, its steps and its success rate."""

    trigger: str = ""
    steps: tuple[str, ...] = ()
    success_rate: float | None = None
    usage_count: int = 0

    def after_use(self, *, success: bool) -> Procedure:
        """Return the procedure after one more use.

        A rate that was given before any use counts as one use; uses without a rate count as
        successful.
        """
        weight = self.usage_count if self.success_rate is None else max(self.usage_count, 1)
        rate = 1.0 if self.success_rate is None else self.success_rate
        return replace(
            self,
            usage_count=self.usage_count + 1,
            success_rate=(rate * weight + success) / (weight + 1),
        )

    def with_uses_of(self, other: Procedure) -> Procedure:
        """Return the procedure with the usage count and success rate of another version."""
        return replace(self, usage_count=other.usage_count, success_rate=other.success_rate)


SESSION_EPISODE: Final = "session"
"""The source of the record that sums up a session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One thing that is remembered. Changing it makes a new version; the old one is kept."""

    id: str
    scope: Scope
    kind: Kind
    category: str
    title: str
    content: str
    description: str
    tags: tuple[str, ...]
    confidence: float
    importance: float
    evidence_count: int
    evidence: tuple[Evidence, ...]
    source: str
    related: tuple[str, ...]
    details: Episode | Procedure | None
    session: str | None
    task: str | None
    created_at: datetime
    updated_at: datetime
    first_observed: datetime
    last_confirmed: datetime
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    expires_at: datetime | None
    tier: Tier
    access_count: int
    last_accessed: datetime | None
    # How often it was used successfully, and how often it did not help.
    helped: int = 0
    rejected: int = 0
    # Which attribute it states (None: not decided yet, "": decided, unknown), and whom it is
    # about: "user", "other", "thing", or "" if that is unknown.
    facet: str | None = None
    about: str = ""
    # Whether a caller set them; then nothing else does, until the content changes.
    facet_fixed: bool = False
    version: int
    status: Status
    metadata: Mapping[str, Any] = field(hash=False)
    links: tuple[Link, ...] = field(default=(), compare=False)
    """Its relations to other records and turns; loaded for a single record or a page."""
    spooled: bool = field(default=False, compare=False)
    """Whether it waits on this machine, durable, until the database server is back."""

    def evolve(self, **changes: Any) -> Record:
        """Return the record with some fields changed; what new content states is undecided."""
        if "facet" not in changes and changes.get("content", self.content) != self.content:
            changes = {"facet": None, "about": "", "facet_fixed": False, **changes}
        return copy_with(self, **changes)

    @property
    def is_session_episode(self) -> bool:
        """Return whether it sums up a session, which repeats what other records are made from."""
        return self.kind is Kind.EPISODIC and self.source == SESSION_EPISODE

    @property
    def name(self) -> str:
        """Return the title, which is the name of a procedure."""
        return self.title

    @property
    def observed_at(self) -> datetime:
        """Return when it happened or was first observed: the time that filters use."""
        if isinstance(self.details, Episode) and self.details.timestamp is not None:
            return self.details.timestamp
        return self.first_observed

    @property
    def is_live(self) -> bool:
        """Return whether it belongs in the search index."""
        return self.status is Status.ACTIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of a record, with who made it and why, and when it was replaced."""

    DERIVED: ClassVar = ("number",)

    record: Record
    changed_by: str
    reason: str
    replaced_at: datetime | None

    @property
    def number(self) -> int:
        return self.record.version


# --- Categories: an open vocabulary with presets and aliases --------------------------------------


USER_PROFILE: Final = "user-profile"

_ALIASES: Final[tuple[frozenset[str], ...]] = (
    frozenset({"user", "user-profile", "user_preference", "preference"}),
    frozenset({"project", "project-context"}),
    frozenset({"task-traces", "task-trace"}),
    frozenset({"tool-effects", "tool-effect"}),
    frozenset({"domain-facts", "domain-fact"}),
)


def with_aliases(category: str) -> frozenset[str]:
    """Return the category and its aliases."""
    for group in _ALIASES:
        if category in group:
            return group
    return frozenset({category})


def is_user_profile(category: str) -> bool:
    """Return whether records of the category may be stored for a user without an agent."""
    return category in with_aliases(USER_PROFILE)
