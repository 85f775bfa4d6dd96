"""Errors of embedding models."""

from __future__ import annotations

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


def missing_library(library: str, extra: str) -> NotAvailable:
    """Return the error for an extra that is not installed."""
    return NotAvailable(
        f"{library} is not installed",
        code="not_installed",
        hint=f"Install it with: pip install 'recollect[{extra}]'",
    )
