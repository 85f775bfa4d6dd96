"""A record: one durable memory, its versions, and the details each kind adds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.domain.link import Link
from recollect.domain.scope import Scope


class Kind(StrEnum):
    """What sort of memory a record is."""

    SEMANTIC = "semantic"
    EPISODIC = "episodic"
    PROCEDURAL = "procedural"


class Status(StrEnum):
    """Whether a record speaks for itself now."""

    ACTIVE = "active"
    QUARANTINED = "quarantined"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    DELETED = "deleted"


class Tier(StrEnum):
    """How long a record is meant to stay."""

    SHORT = "short"
    LONG = "long"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Where a record comes from: a turn, and the characters of it that support the record."""

    turn: str
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """What an episodic record adds: who took part, what came of it and when it happened."""

    participants: tuple[str, ...] = ()
    outcome: str = ""
    artifacts: tuple[str, ...] = ()
    timestamp: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """What a procedural record adds: when to use it, its ordered steps and how well it works."""

    trigger: str = ""
    steps: tuple[str, ...] = ()
    success_rate: float | None = None
    usage_count: int = 0

    def after_use(self, *, success: bool) -> Procedure:
        """The same procedure used once more.

        A rate that was stated before any use weighs as one; uses without a rate went well as far
        as is known.
        """
        weight = self.usage_count if self.success_rate is None else max(self.usage_count, 1)
        rate = 1.0 if self.success_rate is None else self.success_rate
        return replace(
            self,
            usage_count=self.usage_count + 1,
            success_rate=(rate * weight + success) / (weight + 1),
        )

    def with_uses_of(self, other: Procedure) -> Procedure:
        """The same procedure with how often and how well another version of it was used."""
        return replace(self, usage_count=other.usage_count, success_rate=other.success_rate)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One durable memory. Changing it makes a new version; the old one is kept."""

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
    # How often it was used with success, and how often it was no help.
    helped: int = 0
    rejected: int = 0
    version: int
    status: Status
    metadata: Mapping[str, Any] = field(hash=False)
    links: tuple[Link, ...] = field(default=(), compare=False)
    """How it relates to other records and turns; read where one record or a page is read."""

    def evolve(self, **changes: Any) -> Record:
        """The same record with some fields changed."""
        return replace(self, **changes)

    @property
    def name(self) -> str:
        """A procedure's name; the title of any other record."""
        return self.title

    @property
    def observed_at(self) -> datetime:
        """When what it tells of happened or was first noticed: the time that filters look at."""
        if isinstance(self.details, Episode) and self.details.timestamp is not None:
            return self.details.timestamp
        return self.first_observed

    @property
    def is_live(self) -> bool:
        """Whether it belongs in the search index."""
        return self.status is Status.ACTIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One state of a record, with who made it, when and why."""

    record: Record
    changed_by: str
    reason: str
    replaced_at: datetime | None

    @property
    def number(self) -> int:
        return self.record.version
