"""Turns of older releases, which were stored before the act of a turn was decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from recollect.domain.turn import Act, Turn


class UndecidedTurns(Protocol):
    """All turns without an act, whoever's they are."""

    async def first(self, *, limit: int) -> Sequence[Turn]:
        """Some of them, the oldest first; none when all are decided."""
        ...

    async def decide(self, acts: Mapping[str, Act]) -> None:
        """Keep the acts of these turns, with the traits of their units."""
        ...
