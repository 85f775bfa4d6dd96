"""Errors of embedding models, and validation of the vectors that they return."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from recollect.errors import NotAvailable


class EmbeddingFailed(NotAvailable):
    """The model failed, but may succeed later; nothing was embedded."""

    code = "embedding_failed"
    retryable = True


class ModelDamaged(NotAvailable):
    """A file of a model is damaged."""

    code = "model_damaged"


def wrong_dimension(model: str, *, expected: int, got: int) -> NotAvailable:
    """Return the error for vectors of another length than configured."""
    return NotAvailable(
        f"{model} makes vectors of {got} numbers, and {expected} were expected",
        code="wrong_dimension",
        hint=f"Set embedding.dimension to {got}, or choose another model.",
    )


def missing_library(library: str, extra: str = "") -> NotAvailable:
    """Return the error for an extra that is not installed, or for what was left out by hand."""
    wanted = f"'recollect[{extra}]'" if extra else library
    return NotAvailable(
        f"{library} is not installed",
        code="not_installed",
        hint=f"Install it with: pip install {wanted}",
    )


# --- Validation of the vectors that an embedder returns -------------------------------------------

Vectors: TypeAlias = NDArray[np.float32]


def unit_rows(raw: Vectors, *, count: int, dimension: int, model: str) -> Vectors:
    """Return the rows scaled to length 1, or raise an error if they are not `count` vectors."""
    if raw.ndim != 2 or len(raw) != count:
        raise EmbeddingFailed(
            f"{model} answered {count} texts with vectors of shape {raw.shape}",
            code="bad_vectors",
        )
    if raw.shape[1] != dimension:
        raise wrong_dimension(model, expected=dimension, got=raw.shape[1])
    lengths = np.linalg.norm(raw, axis=1, keepdims=True)
    # A comparison with NaN is false, so this catches NaN too.
    if not np.all(lengths > 0) or not np.all(np.isfinite(lengths)):
        raise EmbeddingFailed(
            f"{model} answered with vectors that are empty or not numbers", code="bad_vectors"
        )
    return (raw / lengths).astype(np.float32, copy=False)
