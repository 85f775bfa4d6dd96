"""The figures of the health panel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthFigures:
    """Counts from the database; `total` counts the records that can be recalled now."""

    total: int
    mean_confidence: float | None
    by_kind: Mapping[str, int] = field(hash=False)
    buffered: int
    quarantined: int
    expired: int
    """Expired records, whether a sweep has marked them yet or not."""
    expired_by: Mapping[str, int] = field(hash=False)
    """Expired records that a sweep has marked, by reason (time, retention, capacity)."""
    conflicts: int
    fullest: int
    """The number of active records of the largest scope."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicatePair:
    """Two records that are probably duplicates."""

    first: str
    second: str
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Health(HealthFigures):
    """The figures, suspected duplicates, and how many records were compared to find them."""

    suspected_duplicates: int
    duplicates: tuple[DuplicatePair, ...]
    compared: int
    """The number of latest records that were compared with the most similar ones."""
    capacity: int | None
    """The maximum number of active records of a scope; None means no limit."""
