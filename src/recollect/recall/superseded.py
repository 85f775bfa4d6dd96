"""Superseded turns: the record that says what is current replaces them in an answer.

A record that overwrites an earlier version keeps the turns of that version among its related terms,
and is found by them. When it is undone, deleted or forgotten, the turns count again on their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from recollect.domain.record import Record
from recollect.language.units import turn_key
from recollect.ports.units import UnitIndex
from recollect.recall.candidate_loader import Weighed
from recollect.recall.fuse import Ranked
from recollect.recall.paths import Found, PathName
from recollect.recall.question import Question

# Successors are looked up for turns among the best, up to this many times the limit.
_REACH_FACTOR: Final = 4
# One turn may have said several things that changed.
_RECORDS_PER_TURN: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Succession:
    """The records that supersede turns among the hits, and the record for each turn."""

    found: Found = field(default_factory=lambda: Found(path="replaced"))
    by_turn: Mapping[str, str] = field(default_factory=dict[str, str])


class SupersededPath:
    """A path to the records that supersede the best turns."""

    name: PathName = "replaced"

    def __init__(self, units: UnitIndex) -> None:
        self._units = units

    async def search(self, question: Question, fused: Ranked) -> Succession:
        """Return the records that supersede the best turns."""
        turns = {turn_key(turn): turn for turn in fused.turns(_REACH_FACTOR * question.limit)}
        if not turns:
            return Succession()
        matches = await self._units.search(
            question.scopes, sorted(turns), _RECORDS_PER_TURN * len(turns), now=question.now
        )
        if not len(matches):
            return Succession()
        units: list[int] = matches.column("unit").tolist()
        keys = await self._units.terms_of(units)
        by_turn: dict[str, str] = {}
        for unit, record in zip(units, matches.column("owner").tolist(), strict=True):
            for key in turns.keys() & keys.get(unit, frozenset[int]()):
                by_turn.setdefault(turns[key], record)
        return Succession(found=Found(path=self.name, matches=matches), by_turn=by_turn)


def outlived(by_turn: Mapping[str, str], records: Iterable[Record]) -> dict[str, str]:
    """Return the turns that no other of these records relies on, with their successors."""
    alive = {(source.turn, record.id) for record in records for source in record.evidence}
    return {
        turn: successor
        for turn, successor in by_turn.items()
        if all(other != turn or record == successor for other, record in alive)
    }


def below_successors(weighed: Sequence[Weighed]) -> Sequence[Weighed]:
    """Sort best first, with nothing superseded before its successor."""
    if not any(candidate.fused.replaced_by for candidate in weighed):
        return weighed
    scores = {candidate.fused.owner_id: candidate.score for candidate in weighed}
    bounded = [
        candidate._replace(
            score=min(
                candidate.score, scores.get(candidate.fused.replaced_by or "", candidate.score)
            )
        )
        for candidate in weighed
    ]
    return sorted(
        bounded, key=lambda candidate: (-candidate.score, candidate.fused.replaced_by is not None)
    )
