"""Candidates of an answer: everything that any path found, as columns, and single ones as rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import Final, NamedTuple

import numpy as np

from recollect.domain.hit import Boost, Explanation, PathScore, Standing
from recollect.domain.times import EPOCH
from recollect.domain.unit import TURN, UNIT_OWNERS, UnitOwner
from recollect.ports.units import COLUMNS, NO_UNITS, Ids, Scores, UnitRows
from recollect.recall.paths import Found, PathName, listed

_TURN: Final = UNIT_OWNERS.index(TURN)
_OF_CANDIDATES: Final = [COLUMNS.index(it) for it in ("kind", "unit", "ordinal", "start", "end")]
_NO_OWNERS: Final[Ids] = np.empty(0, np.int64)
_not_scored: Final = partial(np.empty, 0)
_score_of: Final = attrgetter("score")


class FoundUnit(NamedTuple):
    """The unit that was found: a whole text or, with a higher ordinal, a passage of it."""

    number: int
    ordinal: int
    start: int
    end: int
    owner: str


class Candidate(NamedTuple):
    """A record, turn or archive that some path found, with its score."""

    owner_id: str
    owner_kind: UnitOwner
    candidates: Candidates
    # Its row among them, and the unit that represents it.
    at: int
    unit: FoundUnit
    # Its score there, and the one that its standing and the other hits make of it.
    relevance: float
    score: float
    # The record that supersedes this turn, if there is one.
    superseded_by: str | None
    standing: Standing = Standing(observed_at=EPOCH)
    # Changes to the score after it was computed.
    boosts: tuple[Boost, ...] = ()

    def moved(self, score: float, reason: str) -> Candidate:
        """Return the candidate with another score, and a boost that explains it."""
        boost = Boost(reason=reason, factor=score / self.score)
        return self._replace(score=score, boosts=(*self.boosts, boost))

    @property
    def span(self) -> tuple[int, int]:
        return self.unit.start, self.unit.end

    @property
    def is_found(self) -> bool:
        """Return whether the owner itself was found, not only something that it follows."""
        return self.unit.owner == self.owner_id

    @property
    def is_passage(self) -> bool:
        """Return whether a passage represents the owner, not the whole text."""
        return self.unit.ordinal > 0

    def explanation(
        self,
        paths: tuple[PathScore, ...],
        matched_terms: tuple[str, ...],
        boosts: tuple[Boost, ...],
    ) -> Explanation:
        """Explain the score; called only for hits that are returned."""
        return Explanation(
            paths=paths,
            matched_terms=matched_terms,
            surroundings=float(self.candidates.surroundings[self.at]),
            factor=float(self.candidates.factors[self.at]),
            closeness=float(self.candidates.closeness[self.at]),
            sureness=self.candidates.confidence,
            relevance=self.relevance,
            boosts=boosts,
        )


def best_first(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Sort by score; equal ones stay in their order."""
    return sorted(candidates, key=_score_of, reverse=True)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Everything that any path found, one row per owner, as columns: few rows are ever read.

    `gather` lists them by owner; `fuse` scores them and lists the best first.
    """

    owners: Ids
    rows: UnitRows
    # Of every path that found anything.
    found: Mapping[PathName, Found]
    scores: Scores = field(default_factory=_not_scored)
    # The parts of the scores.
    surroundings: Scores = field(default_factory=_not_scored)
    factors: Scores = field(default_factory=_not_scored)
    closeness: Scores = field(default_factory=_not_scored)
    # The confidence that any of them is relevant to the question.
    confidence: float = 1.0
    # The superseded turns, with the records that supersede them.
    superseded: Mapping[str, str] = field(default_factory=dict[str, str])
    _by_path: dict[tuple[PathName, float], Scores] = field(
        default_factory=dict["tuple[PathName, float]", Scores], compare=False
    )

    def __len__(self) -> int:
        return len(self.owners)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.between(0, len(self)))

    def by_path(self, path: PathName, *, otherwise: float = 0.0) -> Scores:
        """Return the scores of a path for all owners."""
        scores = self._by_path.get((path, otherwise))
        if scores is None:
            found = self.found.get(path)
            scores = self._by_path[path, otherwise] = (
                np.full(len(self), otherwise)
                if found is None
                else found.scores(self.owners, otherwise)
            )
        return scores

    def path_scores(self, places: Sequence[int]) -> list[tuple[PathScore, ...]]:
        """Return what each path says of the owners at these places."""
        owners = self.owners[list(places)]
        by_path = [found.path_scores(owners) for found in self.found.values()]
        return [tuple(filter(None, scores)) for scores in zip(*by_path, strict=True)]

    def with_confidence(self, confidence: float) -> Candidates:
        """Return the same candidates with another confidence."""
        scores = self.scores * (confidence / self.confidence)
        return replace(self, scores=scores, confidence=confidence)

    def turns(self, most: int) -> list[str]:
        """Return the ids of the turns among the best `most` owners."""
        return listed(self.rows["owner"][:most][self.rows["kind"][:most] == _TURN])

    def between(self, start: int, end: int) -> list[Candidate]:
        """Return the owners from one rank (counted from 0) up to another."""
        kinds, *columns = self.rows.numbers[_OF_CANDIDATES, start:end].tolist()
        owners: list[str] = self.rows.owners[start:end].tolist()
        units = map(FoundUnit, *columns, owners)
        scores: list[float] = self.scores[start:end].tolist()
        return [
            Candidate(
                unit.owner,
                UNIT_OWNERS[kind],
                self,
                at,
                unit,
                score,
                score,
                self.superseded.get(unit.owner),
            )
            for at, (kind, unit, score) in enumerate(zip(kinds, units, scores, strict=True), start)
        ]


def gather(found: Sequence[Found]) -> Candidates:
    """Combine the matches of all paths; the keyword path's unit represents an owner first."""
    by_path: dict[PathName, Found] = {
        answer.path: answer for answer in found if len(answer.matches.scores)
    }
    parts = list(by_path.values())
    if len(parts) == 1:
        return Candidates(parts[0].owners, parts[0].by_owner.rows, by_path)
    owners = np.concatenate([_NO_OWNERS, *[part.owners for part in parts]])
    # Paths come in the order in which their units are preferred, and the first is kept.
    order = owners.argsort(kind="stable")
    owners = owners[order]
    is_first = np.ones(len(owners), np.bool_)
    np.not_equal(owners[1:], owners[:-1], out=is_first[1:])
    rows = UnitRows.joined([NO_UNITS, *[part.by_owner.rows for part in parts]])
    return Candidates(owners[is_first], rows.take(order[is_first]), by_path)
