"""Which texts go through a model together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

# Fewer tokens are not worth being shared: a run of the model costs as much as some of them. Of many
# batches the last one weighs little.
_LITTLE: Final = 64
_MANY: Final = 3


def by_length(lengths: Sequence[int], budget: int, lanes: int = 1) -> list[list[int]]:
    """Batches of positions, shortest texts first, each within `budget` when padded.

    A batch is padded to its longest text, so texts of like length waste least. A text over the
    budget goes alone. What is little for the lanes that work side by side is shared out evenly:
    otherwise all of them wait for the one with the last batch.
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    filled = _batches(order, lengths, budget, sum(lengths))
    if lanes == 1 or len(filled) >= _MANY * lanes or sum(lengths) < _LITTLE:
        return filled
    wanted = -(-len(filled) // lanes) * lanes
    return _batches(order, lengths, budget, sum(lengths) / wanted)


def _batches(
    order: Sequence[int], lengths: Sequence[int], budget: int, share: float
) -> list[list[int]]:
    """Batches in this order, within the budget and each of about `share` tokens."""
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
