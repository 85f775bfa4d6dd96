"""The relation of a new statement to a stored one, and the verdict of a judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

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


UNRELATED: Final = Verdict(
    relation="different", probability=1.0, reason="nothing stored is about it", decided_by=RULES
)
