"""Everything that some path found: one row an owner, with what each path thinks of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.ports.units import Ids, Matches, Scores, UnitRows, no_units
from recollect.recall.paths import Found, PathName


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one path thinks of the owners it found, in rising order of their numbers."""

    owners: Ids
    scores: Scores
    # The unit that speaks for each owner.
    rows: UnitRows
    raw: Scores
    # Of what it did not return, the path thinks this at the most.
    horizon: float

    def of(self, owners: Ids, otherwise: float) -> Scores:
        """Its scores of these owners."""
        places = np.minimum(np.searchsorted(self.owners, owners), max(len(self.owners) - 1, 0))
        if not len(self.owners):
            return np.full(len(owners), otherwise)
        return np.where(self.owners[places] == owners, self.scores[places], otherwise)

    def place_of(self, owner: int) -> int | None:
        """Where an owner is among those that were found."""
        place = int(np.searchsorted(self.owners, owner))
        return place if place < len(self.owners) and self.owners[place] == owner else None


@dataclass(frozen=True, slots=True)
class Candidates:
    """The owners that were found, in rising order, and all that is known of them."""

    owners: Ids
    rows: UnitRows
    opinions: Mapping[PathName, Opinion]

    def __len__(self) -> int:
        return len(self.owners)

    def column(self, name: str) -> NDArray[Any]:
        """What their setting is; see `recollect.ports.units.UNIT`."""
        return self.rows[name]

    def scores(self, path: PathName, *, otherwise: float = 0.0) -> Scores:
        """What a path thinks of each."""
        opinion = self.opinions.get(path)
        if opinion is None:
            return np.full(len(self), otherwise)
        return opinion.of(self.owners, otherwise)


def gather(found: Sequence[Found]) -> Candidates:
    """All that the paths found; words say best which unit speaks for an owner."""
    opinions: dict[PathName, Opinion] = {
        it.path: _opinion(it.matches, is_cut_off=it.is_cut_off) for it in found
    }
    owners = np.concatenate([it.owners for it in opinions.values()] or [np.empty(0, np.int64)])
    rows = np.concatenate([it.rows for it in opinions.values()] or [no_units()])
    # Paths come in the order in which their units are preferred, and the first is kept.
    owners, first = np.unique(owners, return_index=True)
    return Candidates(owners, rows[first], opinions)


def _opinion(matches: Matches, *, is_cut_off: bool) -> Opinion:
    """One score an owner: a long text counts half as a whole and half by its best passage."""
    ordinals = matches.column("ordinal")
    # An owner's units are numbered in a row, so the number of its first one names it.
    numbers = matches.column("unit") - ordinals
    horizon = float(matches.scores[-1]) if is_cut_off else 0.0
    owners, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    if not ordinals.any():
        chosen = matches.rows[first]
        return Opinion(owners, matches.scores[first], chosen, matches.raw[first], horizon)
    is_passage = ordinals > 0
    whole = np.full(len(owners), horizon)
    whole[inverse[~is_passage]] = matches.scores[~is_passage]
    # Matches come best first, so the first passage of an owner is its best.
    passages = np.flatnonzero(is_passage)
    long_ones, best = np.unique(inverse[passages], return_index=True)
    scores = whole.copy()
    scores[long_ones] = (whole[long_ones] + matches.scores[passages[best]]) / 2
    speaking = first.copy()
    speaking[long_ones] = passages[best]
    return Opinion(owners, scores, matches.rows[speaking], matches.raw[speaking], horizon)
