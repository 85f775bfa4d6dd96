"""Word vectors with one byte per number, which several models share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class WordRows:
    """A table of word vectors: small integers, and a factor for each row."""

    def __init__(self, rows: NDArray[np.int8], scales: NDArray[np.float32]) -> None:
        self._rows = rows
        self._scales = scales

    def of(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the vector of each token."""
        vectors: NDArray[Any] = self._rows[ids] * self._scales[ids][..., None]
        return vectors.astype(np.float32, copy=False)
