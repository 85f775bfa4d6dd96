"""Rounding of weights to a few bits, as they are shipped; training needs it without `onnx`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

# Seven bits for weights: with eight, processors that have AVX2 but no VNNI overflow when they add
# two products in 16 bits, and give other vectors than everybody else.
LARGEST_WEIGHT: Final = 63
_LARGEST_ROW: Final = 127
EPSILON: Final = 1e-12


def rounded(
    rows: NDArray[np.float32], largest: int
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return the rows as small integers, and what to multiply each row with to get it back."""
    scales = np.abs(rows).max(axis=1, keepdims=True) / np.float32(largest)
    scales = np.maximum(scales, np.float32(EPSILON))
    return np.rint(rows / scales).astype(np.int8), scales


def round_rows(rows: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return word rows as bytes, and the number that each row is multiplied with."""
    return rounded(rows, _LARGEST_ROW)


def read_rows(folder: Path) -> NDArray[np.float32]:
    """Return the word rows of a folder with the files that are shipped."""
    rows: NDArray[np.float32] = (
        np.load(folder / "words.npy") * np.load(folder / "scales.npy")[:, None]
    )
    return rows.astype(np.float32)
