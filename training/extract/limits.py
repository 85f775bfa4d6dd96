"""The limit above which a part of a message is kept, and how often that is right (numpy)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def limit_at(scores: NDArray[np.float32], wanted: NDArray[np.bool_], precision: float) -> float:
    """Return the lowest score from which so many of the parts are rightly kept."""
    order = np.argsort(-scores)
    right = np.cumsum(wanted[order]) / np.arange(1, len(order) + 1)
    return float(scores[order][np.flatnonzero(right >= precision)[-1]])


def rates(said: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> dict[str, float]:
    """Return recall and precision of what is said to be worth keeping."""
    right = float((said & wanted).sum())
    return {
        "recall": round(right / max(1, int(wanted.sum())), 3),
        "precision": round(right / max(1, int(said.sum())), 3),
    }
