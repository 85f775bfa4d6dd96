"""What became of a change to many records."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.domain.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkFailure:
    """A record that was left as it is, and why."""

    id: str
    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkChange:
    """The records as they are now, in the order they were named, and those left as they were."""

    changed: tuple[Record, ...]
    failed: tuple[BulkFailure, ...] = ()
