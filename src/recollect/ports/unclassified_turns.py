"""Turns without an act, stored by releases that did not classify turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from recollect.domain.turn import Act, Turn


class UndecidedTurns(Protocol):
    """All turns without an act, in all scopes."""

    async def first(self, *, limit: int) -> Sequence[Turn]:
        """Return some of them, oldest first; none if all are classified."""
        ...

    async def decide(self, acts: Mapping[str, Act]) -> None:
        """Store the acts of these turns, with the traits of their units."""
        ...
