"""How a new claim relates to one that is stored, and what becomes of the two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Relation = Literal["same", "update", "conflict", "different"]
"""same: says nothing new. update: a new value of the same thing. conflict: both cannot be true and
nothing says which is. different: about something else."""

Strategy = Literal["overwrite", "append", "summarise"]

Side = Literal["new", "old"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """How two claims relate, and why."""

    relation: Relation
    reason: str
    similarity: float
    """From 0 to 1: how much of what the two say is shared."""
    stands: Side = "new"
    """Which of the two holds after an update. The stored one does where it is the later or the
    surer: the new claim then belongs to its history."""
