"""The result of changing many records at once."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.domain.record import Record


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
