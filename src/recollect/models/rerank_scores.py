"""Scores and errors of rerankers."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from recollect.errors import NotAvailable

Scores: TypeAlias = NDArray[np.float32]


class RerankingFailed(NotAvailable):
    """The model failed, but may succeed later; the order of the texts stays as it was."""

    code = "reranking_failed"
    retryable = True


def from_logits(logits: NDArray[np.floating]) -> Scores:
    """Return scores between 0 and 1 in the same order."""
    # Double precision still distinguishes very clear answers.
    return np.exp(-np.logaddexp(0.0, -logits.astype(np.float64))).astype(np.float32)


def bad_scores(model: str, why: str) -> RerankingFailed:
    """Return the error for an answer without one valid number per text."""
    return RerankingFailed(f"{model} gave no usable scores: {why}", code="bad_scores")
