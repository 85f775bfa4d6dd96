"""Readers of what people say: what is worth keeping, and what needs memory to be answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from recollect.domain.write import Lasts
from recollect.ports.facets import UNDECIDED, FacetGuess

Stance = Literal["told", "asked", "requested", "supposed", "quoted", "denied", "chatter", "task"]
"""How a part of a message is meant: `task` is material of the present task, not a fact."""

Wish = Literal["none", "standing", "remember", "forget"]
"""What a part of a message asks of memory: `standing` holds for all answers to come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a reader makes of one part of a message."""

    score: float
    """Above 0 it is told, and worth keeping."""
    worth: float = 0.0
    """Above 0 it is worth keeping, however it is meant."""
    lasts: Lasts
    stance: Stance = "told"
    about: str = ""
    """user, other or thing; empty if that is not likely enough."""
    wish: Wish = "none"
    states: FacetGuess = UNDECIDED
    """The attribute that it states, and of whom."""


class PartReader(Protocol):
    """Reads messages and their parts, each with what was said before it. Safe to call at once."""

    async def read(self, parts: Sequence[tuple[str, str]]) -> Sequence[Reading]:
        """Return a reading for each pair of the words before a part and its own words."""
        ...

    async def needs(self, messages: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Return, for each pair of what the assistant said and a message, whether it needs memory.

        Above 0, what was said in earlier conversations could change a good answer.
        """
        ...
