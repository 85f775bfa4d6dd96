"""How well a memory is: the figures of the health panel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthFigures:
    """What is counted in the database; `total` is what can be recalled now."""

    total: int
    mean_confidence: float | None
    by_kind: Mapping[str, int] = field(hash=False)
    buffered: int
    quarantined: int
    expired: int
    """Past their time, whether a sweep has seen them yet or not."""
    expired_by: Mapping[str, int] = field(hash=False)
    """Of those that a sweep has seen: why they expired (time, retention, capacity)."""
    conflicts: int
    fullest: int
    """The active records of the scope that holds the most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicatePair:
    """Two records that seem to say the same."""

    first: str
    second: str
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Health(HealthFigures):
    """The figures, what looks like a duplicate, and how much of memory was looked at for that."""

    suspected_duplicates: int
    duplicates: tuple[DuplicatePair, ...]
    compared: int
    """So many records, the latest ones, were compared with those most like them."""
    capacity: int | None
    """How many active records a scope may hold; None is any number."""
