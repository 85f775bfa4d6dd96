"""What can go wrong with a model, as errors of our tree."""

from __future__ import annotations

from recollect.errors import NotAvailable


class EmbeddingFailed(NotAvailable):
    """The model failed on texts that it may well manage later; nothing was embedded."""

    code = "embedding_failed"
    retryable = True


class ModelDamaged(NotAvailable):
    """A model's file is not what it must be."""

    code = "model_damaged"


def wrong_dimension(model: str, *, expected: int, got: int) -> NotAvailable:
    """A model whose vectors are not as long as the configuration says."""
    return NotAvailable(
        f"{model} makes vectors of {got} numbers, and {expected} were expected",
        code="wrong_dimension",
        hint=f"Set embedding.dimension to {got}, or choose another model.",
    )


def missing_library(library: str, extra: str) -> NotAvailable:
    """A library of an extra that is not installed."""
    return NotAvailable(
        f"{library} is not installed",
        code="not_installed",
        hint=f"Install it with: pip install 'recollect[{extra}]'",
    )
