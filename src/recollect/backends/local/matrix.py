"""The vectors of one scope in a few matrices, which follow additions and removals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from recollect.backends.local.byte_vectors import (
    ByteVectors,
    Product,
    SplitVector,
    plain_product,
)
from recollect.backends.local.ranking import Ranking
from recollect.backends.local.segment import Ids
from recollect.ports.vectors import Vector

# A block is merged into the one before it when it has more than 1/_STEP of its rows.
_STEP: Final = 4
# A block is compacted when more than a quarter of its vectors belong to removed units.
_WASTE: Final = 4 / 3


@dataclass(frozen=True, slots=True)
class _Block:
    """Units in ascending order, with their vectors and those of some removed units.

    Copying a whole block for one removed unit takes longer than a search, so `rows` has the rows of
    the units; None as long as nothing was removed.
    """

    units: Ids
    vectors: ByteVectors
    rows: Ids | None = None

    @property
    def bytes(self) -> int:
        rows = 0 if self.rows is None else self.rows.nbytes
        return self.units.nbytes + self.vectors.nbytes + rows

    @property
    def tidied(self) -> _Block:
        """Return the block with the vectors of its units only."""
        return self if self.rows is None else _Block(self.units, self.vectors.take(self.rows))

    def without(self, removed: Ids) -> _Block:
        kept = np.flatnonzero(~np.isin(self.units, removed))
        if len(kept) == len(self.units):
            return self
        rows = kept if self.rows is None else self.rows[kept]
        left = _Block(self.units[kept], self.vectors, rows)
        return left.tidied if len(kept) * _WASTE < len(self.vectors) else left

    def score(self, question: SplitVector, product: Product) -> Ranking:
        scores = self.vectors.cosines(question, product)
        return Ranking(self.units, scores if self.rows is None else scores[self.rows])


@dataclass(frozen=True, slots=True)
class PackedMatrix:
    """An immutable state of a scope's vectors; applying changes makes the next state."""

    blocks: tuple[_Block, ...] = ()

    @property
    def units(self) -> int:
        return sum(len(block.units) for block in self.blocks)

    @property
    def bytes(self) -> int:
        return sum(block.bytes for block in self.blocks)

    def added(self, units: Ids, vectors: ByteVectors) -> PackedMatrix:
        """Return the state with these units, in ascending order; existing ones are replaced."""
        if not len(units):
            return self
        blocks = [*self.removed(units).blocks, _Block(units, vectors)]
        while len(blocks) > 1 and len(blocks[-1].units) * _STEP > len(blocks[-2].units):
            blocks.append(_joined(blocks.pop(), blocks.pop()))
        return PackedMatrix(tuple(blocks))

    def removed(self, units: Ids) -> PackedMatrix:
        """Return the state without these units; unknown ones are ignored."""
        blocks = [block.without(units) for block in self.blocks]
        return PackedMatrix(tuple(block for block in blocks if len(block.units)))

    def score(self, question: Vector, product: Product = plain_product) -> Ranking:
        """Return the cosine of every unit with the question."""
        split = SplitVector.of(question)
        return Ranking.of(block.score(split, product) for block in self.blocks)


def _joined(second: _Block, first: _Block) -> _Block:
    units = np.concatenate([first.units, second.units])
    vectors = ByteVectors.joined([first.tidied.vectors, second.tidied.vectors])
    if (units[1:] > units[:-1]).all():
        return _Block(units, vectors)
    # Vectors that were added later belong between earlier ones.
    order = np.argsort(units, kind="stable")
    return _Block(units[order], vectors.take(order))
