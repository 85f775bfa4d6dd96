"""How statements relate: the verdict of a judge, links between what stays, and conflicts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from recollect.domain.scope import Scope

Relation = Literal["same", "update", "conflict", "different"]
"""same: says nothing new. update: a new value of the same thing. conflict: both cannot be true,
and it is unknown which is. different: both can be true."""

Strategy = Literal["overwrite", "append", "summarise"]

RULES: Final = "rules"
"""Named as the judge if no model was asked, because the form alone decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The relation of two statements, its probability, the reason, and who judged it."""

    relation: Relation
    probability: float
    reason: str
    decided_by: str
    is_sure: bool = False
    """Whether the stored record may be changed; otherwise both stay, with a link. In a conflict,
    both stay even if it is sure."""
    is_doubtful: bool = False
    """Whether the judge would not bet on `different`. In shared memory a person is asked then."""


UNRELATED: Final = Verdict(
    relation="different", probability=1.0, reason="nothing stored is about it", decided_by=RULES
)


# --- Links: the judged relation between two records or turns that both stay -----------------------


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


# --- Conflicts: two records that contradict each other until somebody decides ---------------------


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
