"""The union of what the paths found: one row per owner, with the scores of each path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recollect.domain.hit import PathScore
from recollect.domain.unit import ARCHIVE, UNIT_OWNERS
from recollect.ports.units import NO_UNITS, Ids, Matches, Scores, UnitRows
from recollect.recall.paths import Found, PathName

_ARCHIVE: Final = UNIT_OWNERS.index(ARCHIVE)
_NO_OWNERS: Final[Ids] = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Opinion:
    """The scores of one path for the owners it found (at least one), sorted by owner."""

    owners: Ids
    scores: Scores
    # The unit that represents each owner.
    rows: UnitRows
    raw: Scores
    # An upper bound on the score of anything the path did not return.
    horizon: float

    def of(self, owners: Ids, otherwise: float) -> Scores:
        """Return the scores of these owners, or `otherwise` for those that were not found."""
        if owners is self.owners:
            return self.scores
        places = np.minimum(self.owners.searchsorted(owners), len(self.owners) - 1)
        return np.where(self.owners[places] == owners, self.scores[places], otherwise)

    def told(self, path: PathName, owners: Ids) -> list[PathScore | None]:
        """Return a PathScore for each owner, or None where the path did not find it."""
        places = np.minimum(self.owners.searchsorted(owners), len(self.owners) - 1)
        scores = self.scores[places]
        ranks = 1 + len(self.scores) - np.sort(self.scores).searchsorted(scores, "right")
        columns = (self.owners[places] == owners, ranks, self.raw[places], scores)
        return [
            PathScore(path=path, rank=rank, raw=raw, score=score) if is_found else None
            for is_found, rank, raw, score in zip(*map(listed, columns), strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The owners that were found, in rising order, with their index columns and path scores."""

    owners: Ids
    rows: UnitRows
    opinions: Mapping[PathName, Opinion]
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
            opinion = self.opinions.get(path)
            scores = self._scores[path, otherwise] = (
                np.full(len(self), otherwise)
                if opinion is None
                else opinion.of(self.owners, otherwise)
            )
        return scores

    def told(self, places: Sequence[int]) -> list[tuple[PathScore, ...]]:
        """Return the path scores of the owners at these places."""
        owners = self.owners[list(places)]
        by_path = (opinion.told(path, owners) for path, opinion in self.opinions.items())
        return [tuple(filter(None, scores)) for scores in zip(*by_path, strict=True)]


def gather(found: Sequence[Found]) -> Candidates:
    """Combine the matches of all paths; the keyword path's unit represents an owner first."""
    opinions: dict[PathName, Opinion] = {
        answer.path: _opinion(answer.matches, is_cut_off=answer.is_cut_off)
        for answer in found
        if len(answer.matches)
    }
    parts = list(opinions.values())
    if len(parts) == 1:
        return Candidates(parts[0].owners, parts[0].rows, opinions)
    owners = np.concatenate([_NO_OWNERS, *(part.owners for part in parts)])
    # Paths come in the order in which their units are preferred, and the first is kept.
    order = owners.argsort(kind="stable")
    owners = owners[order]
    is_first = np.ones(len(owners), np.bool_)
    np.not_equal(owners[1:], owners[:-1], out=is_first[1:])
    rows = UnitRows.joined([NO_UNITS, *(part.rows for part in parts)])
    return Candidates(owners[is_first], rows.take(order[is_first]), opinions)


def listed(column: NDArray[Any]) -> list[Any]:
    """Return a column as a list of plain values."""
    return column.tolist()


def _opinion(matches: Matches, *, is_cut_off: bool) -> Opinion:
    """Return one score per owner: a long text counts half as a whole, half by its best passage."""
    ordinals = matches.column("ordinal")
    units = matches.column("unit")
    horizon = float(matches.scores[-1]) if is_cut_off else 0.0
    if not ordinals.any():
        order = units.argsort()
        rows = matches.rows.take(order)
        return Opinion(units[order], matches.scores[order], rows, matches.raw[order], horizon)
    # An owner's units have consecutive numbers, so the first one identifies it.
    owners, first, inverse = np.unique(units - ordinals, return_index=True, return_inverse=True)
    is_passage = ordinals > 0
    whole = np.full(len(owners), horizon)
    whole[inverse[~is_passage]] = matches.scores[~is_passage]
    # Matches come best first, so the first passage of an owner is its best.
    passages = np.flatnonzero(is_passage)
    long_ones, best = np.unique(inverse[passages], return_index=True)
    scores = whole.copy()
    best_passages = matches.scores[passages[best]]
    # The whole unit of an archive is only a description and adds nothing to a passage.
    is_archive = matches.column("kind")[passages[best]] == _ARCHIVE
    scores[long_ones] = np.where(is_archive, best_passages, (whole[long_ones] + best_passages) / 2)
    speaking = first.copy()
    speaking[long_ones] = passages[best]
    return Opinion(owners, scores, matches.rows.take(speaking), matches.raw[speaking], horizon)
