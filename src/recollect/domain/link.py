"""A link: the judged relation between two records or turns that both stay."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from recollect.domain.relation import Relation
from recollect.domain.scope import Scope

JUDGE: Final = "judge"
"""The job that links what was stored without comparison."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """How the newer of two records or turns relates to the older one, and who judged it."""

    scope: Scope
    """Where the newer one belongs."""
    newer: str
    older: str
    relation: Relation
    probability: float
    reason: str
    decided_by: str
    at: datetime

    @property
    def ends(self) -> tuple[str, str]:
        return self.newer, self.older

    def other(self, end: str) -> str:
        """The one at the other end."""
        return self.older if end == self.newer else self.newer
