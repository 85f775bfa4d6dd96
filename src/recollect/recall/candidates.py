"""Everything that some path found: one row an owner, with what each path thinks of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recollect.domain.hit import PathScore
from recollect.domain.owner import ARCHIVE, UNIT_OWNERS
from recollect.ports.units import NO_UNITS, Ids, Matches, Scores, UnitRows
from recollect.recall.paths import Found, PathName

_ARCHIVE: Final = UNIT_OWNERS.index(ARCHIVE)
_NOBODY: Final[Ids] = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one path thinks of the owners it found (some), in rising order of their numbers."""

    owners: Ids
    scores: Scores
    # The unit that speaks for each owner.
    rows: UnitRows
    raw: Scores
    # Of what it did not return, the path thinks this at the most.
    horizon: float

    def of(self, owners: Ids, otherwise: float) -> Scores:
        """Its scores of these owners."""
        if owners is self.owners:
            return self.scores
        places = np.minimum(self.owners.searchsorted(owners), len(self.owners) - 1)
        return np.where(self.owners[places] == owners, self.scores[places], otherwise)

    def told(self, path: PathName, owners: Ids) -> list[PathScore | None]:
        """What it thinks of these owners, None of those that it did not find."""
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
    """The owners that were found, in rising order, and all that is known of them."""

    owners: Ids
    rows: UnitRows
    opinions: Mapping[PathName, Opinion]

    def __len__(self) -> int:
        return len(self.owners)

    def column(self, name: str) -> NDArray[Any]:
        """What is known of each; see `recollect.ports.units.COLUMNS`."""
        return self.rows[name]

    def scores(self, path: PathName, *, otherwise: float = 0.0) -> Scores:
        """What a path thinks of each."""
        opinion = self.opinions.get(path)
        if opinion is None:
            return np.full(len(self), otherwise)
        return opinion.of(self.owners, otherwise)

    def told(self, places: Sequence[int]) -> list[tuple[PathScore, ...]]:
        """What the paths think of those at these places, each of what it found."""
        owners = self.owners[list(places)]
        by_path = (opinion.told(path, owners) for path, opinion in self.opinions.items())
        return [tuple(filter(None, scores)) for scores in zip(*by_path, strict=True)]


def gather(found: Sequence[Found]) -> Candidates:
    """All that the paths found; words say best which unit speaks for an owner."""
    opinions: dict[PathName, Opinion] = {
        it.path: _opinion(it.matches, is_cut_off=it.is_cut_off) for it in found if len(it.matches)
    }
    parts = list(opinions.values())
    if len(parts) == 1:
        return Candidates(parts[0].owners, parts[0].rows, opinions)
    owners = np.concatenate([_NOBODY, *(it.owners for it in parts)])
    # Paths come in the order in which their units are preferred, and the first is kept.
    order = owners.argsort(kind="stable")
    owners = owners[order]
    is_first = np.ones(len(owners), np.bool_)
    np.not_equal(owners[1:], owners[:-1], out=is_first[1:])
    rows = UnitRows.joined([NO_UNITS, *(it.rows for it in parts)])
    return Candidates(owners[is_first], rows.take(order[is_first]), opinions)


def listed(column: NDArray[Any]) -> list[Any]:
    """A column as plain values."""
    return column.tolist()


def _opinion(matches: Matches, *, is_cut_off: bool) -> Opinion:
    """One score an owner: a long text counts half as a whole and half by its best passage."""
    ordinals = matches.column("ordinal")
    units = matches.column("unit")
    horizon = float(matches.scores[-1]) if is_cut_off else 0.0
    if not ordinals.any():
        order = units.argsort()
        rows = matches.rows.take(order)
        return Opinion(units[order], matches.scores[order], rows, matches.raw[order], horizon)
    # An owner's units are numbered in a row, so the number of its first one names it.
    owners, first, inverse = np.unique(units - ordinals, return_index=True, return_inverse=True)
    is_passage = ordinals > 0
    whole = np.full(len(owners), horizon)
    whole[inverse[~is_passage]] = matches.scores[~is_passage]
    # Matches come best first, so the first passage of an owner is its best.
    passages = np.flatnonzero(is_passage)
    long_ones, best = np.unique(inverse[passages], return_index=True)
    scores = whole.copy()
    best_passages = matches.scores[passages[best]]
    # The whole of an archive is only what it is about: beside a passage it says nothing.
    is_archive = matches.column("kind")[passages[best]] == _ARCHIVE
    scores[long_ones] = np.where(is_archive, best_passages, (whole[long_ones] + best_passages) / 2)
    speaking = first.copy()
    speaking[long_ones] = passages[best]
    return Opinion(owners, scores, matches.rows.take(speaking), matches.raw[speaking], horizon)
