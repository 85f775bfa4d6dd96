"""Which texts go through a model together."""

from __future__ import annotations

from collections.abc import Sequence


def by_length(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Batches of positions, shortest texts first, each within `budget` when padded.

    A batch is padded to its longest text, so texts of like length waste least. A text over the
    budget goes alone.
    """
    batches: list[list[int]] = []
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[position] > budget:
            batches.append(batch)
            batch = []
        batch.append(position)
    if batch:
        batches.append(batch)
    return batches
