"""Conflicts: two records that contradict each other until somebody decides."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from recollect.domain.scope import Scope

Resolution = Literal["keep_first", "keep_second", "merge", "both_at_different_times"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A pair of records that contradict each other; `first` is the older one."""

    id: str
    scope: Scope
    first: str
    second: str
    reason: str
    created_at: datetime
    resolved_at: datetime | None = None
    resolved_by: str | None = None
    resolution: Resolution | None = None

    @property
    def is_open(self) -> bool:
        return self.resolved_at is None
