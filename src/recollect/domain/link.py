"""Links: the judged relation between two records or turns that both stay."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from recollect.domain.relation import Relation
from recollect.domain.scope import Scope

JUDGE: Final = "judge"
"""The job that links records that were stored without being compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """The relation of a newer record or turn to an older one, and who judged it."""

    scope: Scope
    """The scope of the newer one."""
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
        """Return the id at the other end."""
        return self.older if end == self.newer else self.newer
