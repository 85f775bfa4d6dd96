"""How a new statement relates to a stored one, and who says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Relation = Literal["same", "update", "conflict", "different"]
"""same: says nothing new. update: a new value of the same thing. conflict: both cannot be true and
nothing says which is. different: both can be true."""

Strategy = Literal["overwrite", "append", "summarise"]

RULES: Final = "rules"
"""Who decided, where no model was asked: what is certain by its form alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How two statements relate, how likely that is, why, and who says so."""

    relation: Relation
    probability: float
    reason: str
    decided_by: str
    is_sure: bool = False
    """Whether a stored record may be changed for it; otherwise both stay, with a link. Two that
    contradict each other stay even where that is sure."""


UNRELATED: Final = Verdict(
    relation="different", probability=1.0, reason="nothing stored is about it", decided_by=RULES
)
