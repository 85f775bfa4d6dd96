"""Scores as every reranker must return them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from recollect.errors import NotAvailable

Scores: TypeAlias = NDArray[np.float32]


class RerankingFailed(NotAvailable):
    """The model failed on texts that it may well manage later; their order stays as it was."""

    code = "reranking_failed"
    retryable = True


def from_logits(logits: NDArray[np.floating]) -> Scores:
    """Each number brought between 0 and 1, their order kept."""
    # In double precision, where clear answers are still told apart.
    return np.exp(-np.logaddexp(0.0, -logits.astype(np.float64))).astype(np.float32)


def bad_scores(model: str, why: str) -> RerankingFailed:
    """An answer that is not one usable number a text."""
    return RerankingFailed(f"{model} gave no usable scores: {why}", code="bad_scores")
