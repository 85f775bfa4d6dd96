"""Errors of language models."""

from __future__ import annotations

from recollect.errors import ModelError


class ModelUnavailable(ModelError):
    """The model cannot be reached, is busy or is slow; it may answer later."""

    code = "model_unavailable"
    retryable = True


def too_slow(model: str, seconds: float) -> ModelError:
    """Return the error for a model that did not answer in time."""
    return ModelUnavailable(
        f"{model} did not answer within {seconds:g} s",
        code="model_timeout",
        hint="It may answer later; models.seconds says how long a call of each tier may take.",
    )


def bad_output(model: str, why: str) -> ModelError:
    """Return the error for an answer that cannot be used, even after a repair."""
    return ModelError(
        f"{model} gave no usable answer: {why}",
        code="model_bad_output",
        hint="Ask for less at once, allow more tokens, or choose a stronger model for this tier.",
    )


def misconfigured(model: str, why: str) -> ModelError:
    """Return the error for a model that cannot be opened as configured."""
    return ModelError(
        f"{model} cannot be used: {why}",
        code="model_misconfigured",
        hint="Check models.tiers and models.providers; a tier is provider:model.",
    )
