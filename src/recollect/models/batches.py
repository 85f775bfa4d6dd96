"""Batches of texts for a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

# A batch of fewer tokens is not worth splitting, because each run of the model has a fixed cost.
# With many batches, an uneven last one matters little.
_MIN_SPLIT_TOKENS: Final = 64
_MANY_BATCHES: Final = 3


def by_length(lengths: Sequence[int], budget: int, lanes: int = 1) -> list[list[int]]:
    """Return batches of indexes, shortest texts first, each within `budget` when padded.

    A batch is padded to its longest text, so texts of similar length waste least. A text over the
    budget gets its own batch. A small amount of work is split evenly between the parallel lanes,
    so that they do not wait for the one with the last batch.
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    filled = _batches(order, lengths, budget, sum(lengths))
    if lanes == 1 or len(filled) >= _MANY_BATCHES * lanes or sum(lengths) < _MIN_SPLIT_TOKENS:
        return filled
    wanted = -(-len(filled) // lanes) * lanes
    return _batches(order, lengths, budget, sum(lengths) / wanted)


def _batches(
    order: Sequence[int], lengths: Sequence[int], budget: int, share: float
) -> list[list[int]]:
    """Return batches in this order, within the budget and of about `share` tokens each."""
    batches: list[list[int]] = []
    batch: list[int] = []
    taken = 0
    for position in order:
        length = lengths[position]
        is_full = (len(batch) + 1) * length > budget
        if batch and (is_full or taken + length / 2 > share * (len(batches) + 1)):
            batches.append(batch)
            batch = []
        batch.append(position)
        taken += length
    if batch:
        batches.append(batch)
    return batches
