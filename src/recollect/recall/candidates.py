"""Candidates of an answer: everything that any path found, as columns, and single ones as rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.domain.hit import Boost, Explanation, PathScore
from recollect.domain.unit import TURN, UNIT_OWNERS, UnitOwner
from recollect.ports.units import NO_UNITS, Ids, Scores, UnitRows
from recollect.recall.paths import Found, PathName, listed

_TURN: Final = UNIT_OWNERS.index(TURN)
_NO_OWNERS: Final[Ids] = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Candidates:
    """The owners that were found, in rising order, with their index columns and path scores."""

    owners: Ids
    rows: UnitRows
    # Of every path that found anything.
    found: Mapping[PathName, Found]
    _scores: dict[tuple[PathName, float], Scores] = field(
        default_factory=dict["tuple[PathName, float]", Scores], compare=False
    )

    def __len__(self) -> int:
        return len(self.owners)

    def column(self, name: str) -> NDArray[Any]:
        """Return a column of the index; see `recollect.ports.units.COLUMNS`."""
        return self.rows[name]

    def scores(self, path: PathName, *, otherwise: float = 0.0) -> Scores:
        """Return the scores of a path for all owners."""
        scores = self._scores.get((path, otherwise))
        if scores is None:
            found = self.found.get(path)
            scores = self._scores[path, otherwise] = (
                np.full(len(self), otherwise)
                if found is None
                else found.scores(self.owners, otherwise)
            )
        return scores

    def path_scores(self, places: Sequence[int]) -> list[tuple[PathScore, ...]]:
        """Return the path scores of the owners at these places."""
        owners = self.owners[list(places)]
        by_path = (found.path_scores(owners) for found in self.found.values())
        return [tuple(filter(None, scores)) for scores in zip(*by_path, strict=True)]


def gather(found: Sequence[Found]) -> Candidates:
    """Combine the matches of all paths; the keyword path's unit represents an owner first."""
    by_path: dict[PathName, Found] = {
        answer.path: answer for answer in found if len(answer.matches)
    }
    parts = list(by_path.values())
    if len(parts) == 1:
        return Candidates(parts[0].owners, parts[0].by_owner.rows, by_path)
    owners = np.concatenate([_NO_OWNERS, *(part.owners for part in parts)])
    # Paths come in the order in which their units are preferred, and the first is kept.
    order = owners.argsort(kind="stable")
    owners = owners[order]
    is_first = np.ones(len(owners), np.bool_)
    np.not_equal(owners[1:], owners[:-1], out=is_first[1:])
    rows = UnitRows.joined([NO_UNITS, *(part.by_owner.rows for part in parts)])
    return Candidates(owners[is_first], rows.take(order[is_first]), by_path)


# --- The ranking of candidates, and one of them --------------------------------------------------


class Candidate(NamedTuple):
    """A record, turn or archive that some path found, with its score."""

    candidates: Candidates
    owner_kind: UnitOwner
    owner_id: str
    # The record that supersedes this turn, if there is one.
    superseded_by: str | None
    # The confidence that anything found is relevant to the question.
    confidence: float
    at: int
    score: float
    surroundings: float
    factor: float
    closeness: float

    @property
    def unit(self) -> int:
        """Return the unit that represents the owner."""
        return int(self.candidates.column("unit")[self.at])

    @property
    def span(self) -> tuple[int, int]:
        return (
            int(self.candidates.column("start")[self.at]),
            int(self.candidates.column("end")[self.at]),
        )

    @property
    def is_found(self) -> bool:
        """Return whether the owner itself was found, not only something that it follows."""
        return self.candidates.column("owner")[self.at] == self.owner_id

    @property
    def is_passage(self) -> bool:
        """Return whether a passage represents the owner, not the whole text."""
        return bool(self.candidates.column("ordinal")[self.at])

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
            surroundings=self.surroundings,
            factor=self.factor,
            closeness=self.closeness,
            sureness=self.confidence,
            relevance=self.score,
            boosts=boosts,
        )


@dataclass(frozen=True, slots=True)
class Ranked:
    """All owners that any path found, best first, stored as columns: few rows are ever read."""

    candidates: Candidates
    # Their places among the candidates, and their scores.
    places: Ids
    scores: Scores
    # The parts of the scores, in the order of the candidates.
    surroundings: Scores
    factors: Scores
    closeness: Scores
    # The confidence that any of them is relevant to the question.
    confidence: float
    # The superseded turns, with the records that supersede them.
    superseded: Mapping[str, str]

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.between(0, len(self)))

    def with_confidence(self, confidence: float) -> Ranked:
        """Return the same ranking with another confidence."""
        factor = confidence / self.confidence
        return replace(self, scores=self.scores * factor, confidence=confidence)

    def turns(self, most: int) -> list[str]:
        """Return the ids of the turns among the best `most` owners."""
        places = self.places[:most]
        rows = self.candidates.rows
        return listed(rows["owner"][places[rows["kind"][places] == _TURN]])

    def between(self, start: int, end: int) -> list[Candidate]:
        """Return the owners from one rank (counted from 0) up to another."""
        places = self.places[start:end]
        rows = self.candidates.rows
        kinds: list[int] = rows["kind"][places].tolist()
        owners = listed(rows["owner"][places])
        successors = map(self.superseded.get, owners)
        columns = (
            *(places, self.scores[start:end]),
            *(self.surroundings[places], self.factors[places], self.closeness[places]),
        )
        return [
            Candidate(
                self.candidates, UNIT_OWNERS[kind], owner, successor, self.confidence, *values
            )
            for kind, owner, successor, values in zip(
                kinds, owners, successors, zip(*map(listed, columns), strict=True), strict=True
            )
        ]
