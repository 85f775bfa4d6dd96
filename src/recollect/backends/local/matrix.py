"""The vectors of one scope in a few matrices, which follow what is added and removed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from recollect.backends.local.ranking import Ranking
from recollect.backends.local.segment import Ids
from recollect.ports.vectors import Vector, Vectors

# A block is joined to the one before it when it has more than one row for so many of its.
_STEP: Final = 4


@dataclass(frozen=True, slots=True)
class _Block:
    """Units in rising order and their vectors, row by row."""

    units: Ids
    vectors: Vectors

    def without(self, removed: Ids) -> _Block:
        kept = ~np.isin(self.units, removed)
        return self if kept.all() else _Block(self.units[kept], self.vectors[kept])

    def score(self, question: Vector, allowed: Ids | None) -> Ranking:
        scores = (self.vectors @ question).astype(np.float64)
        if allowed is None:
            return Ranking(self.units, scores)
        chosen = np.flatnonzero(np.isin(self.units, allowed, assume_unique=True))
        return Ranking(self.units[chosen], scores[chosen])


@dataclass(frozen=True, slots=True)
class PackedMatrix:
    """An unchanging state of a scope's vectors; following changes makes the next state."""

    blocks: tuple[_Block, ...] = ()

    @property
    def units(self) -> int:
        return sum(len(block.units) for block in self.blocks)

    @property
    def bytes(self) -> int:
        return sum(block.units.nbytes + block.vectors.nbytes for block in self.blocks)

    def added(self, units: Ids, vectors: Vectors) -> PackedMatrix:
        """With these too, in rising order; a unit that was here before is replaced."""
        if not len(units):
            return self
        blocks = [*self.removed(units).blocks, _Block(units, vectors)]
        while len(blocks) > 1 and len(blocks[-1].units) * _STEP > len(blocks[-2].units):
            blocks.append(_joined(blocks.pop(), blocks.pop()))
        return PackedMatrix(tuple(blocks))

    def removed(self, units: Ids) -> PackedMatrix:
        """Without these units; those that are not here do not matter."""
        blocks = [block.without(units) for block in self.blocks]
        return PackedMatrix(tuple(block for block in blocks if len(block.units)))

    def score(self, question: Vector, allowed: Ids | None = None) -> Ranking:
        """The cosine of every unit, of those allowed, with the question."""
        return Ranking.of(block.score(question, allowed) for block in self.blocks)


def _joined(second: _Block, first: _Block) -> _Block:
    units = np.concatenate([first.units, second.units])
    vectors = np.concatenate([first.vectors, second.vectors])
    # Vectors that were filled in later may belong between earlier ones.
    order = np.argsort(units, kind="stable")
    return _Block(units[order], vectors[order])
