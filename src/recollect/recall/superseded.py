"""What was said and has changed since: the record that says what holds now stands for it.

A record that overwrites an earlier version keeps the turns of that version among what it is related
to, and is found by them. When it is undone, deleted or forgotten, they count as before by
themselves.
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

# Among the best so many times what is wanted it is looked for.
_LOOKED_AT: Final = 4
# One turn may have said several things that have changed.
_RECORDS_A_TURN: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Succession:
    """The records that replaced what was found, and the turns with the record for each."""

    found: Found = field(default_factory=lambda: Found(path="replaced"))
    by_turn: Mapping[str, str] = field(default_factory=dict[str, str])


class SupersededPath:
    """Finds the records that replaced what the best turns said."""

    name: PathName = "replaced"

    def __init__(self, units: UnitIndex) -> None:
        self._units = units

    async def search(self, question: Question, fused: Ranked) -> Succession:
        """What replaced the best turns, if anything did."""
        turns = {turn_key(it): it for it in fused.turns(_LOOKED_AT * question.limit)}
        if not turns:
            return Succession()
        matches = await self._units.search(
            question.scopes, sorted(turns), _RECORDS_A_TURN * len(turns), now=question.now
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
    """Those of these turns that say nothing else which one of these records still rests on."""
    alive = {(it.turn, record.id) for record in records for it in record.evidence}
    return {
        turn: successor
        for turn, successor in by_turn.items()
        if all(other != turn or record == successor for other, record in alive)
    }


def below_successors(weighed: Sequence[Weighed]) -> Sequence[Weighed]:
    """The same, best first, and nothing that was replaced before what replaced it."""
    if not any(it.fused.replaced_by for it in weighed):
        return weighed
    scores = {it.fused.owner_id: it.score for it in weighed}
    bounded = [
        it._replace(score=min(it.score, scores.get(it.fused.replaced_by or "", it.score)))
        for it in weighed
    ]
    return sorted(bounded, key=lambda it: (-it.score, it.fused.replaced_by is not None))
