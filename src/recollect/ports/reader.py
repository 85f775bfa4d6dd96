"""Readers of what people say: which part of a message is worth keeping, and for how long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from recollect.domain.write import Lasts


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a reader makes of one part of a message."""

    score: float
    """Above 0 it is worth keeping."""
    lasts: Lasts


class PartReader(Protocol):
    """Reads parts of messages, each with what was said before it. Safe to call at once."""

    async def read(self, parts: Sequence[tuple[str, str]]) -> Sequence[Reading]:
        """Return a reading for each pair of the words before a part and its own words."""
        ...
