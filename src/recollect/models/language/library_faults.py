"""Translation of the client library's errors into ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from pydantic_ai.exceptions import (
    AgentRunError,
    ContentFilterError,
    ModelAPIError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelRequestRejectedError,
    UserError,
)

from recollect.errors import ModelError
from recollect.models.language.faults import ModelUnavailable, bad_output, misconfigured

_TOO_MANY_REQUESTS: Final = 429
_MAX_QUOTE_CHARACTERS: Final = 200


def may_pass(problem: ModelAPIError) -> bool:
    """Return whether a retry may help: the server is busy, failing or unreachable."""
    if isinstance(problem, ModelQuotaExceededError):
        return False
    if isinstance(problem, ModelHTTPError):
        return problem.status_code == _TOO_MANY_REQUESTS or problem.status_code >= 500
    return not isinstance(problem, ModelRequestRejectedError)


def as_model_error(model: str, problem: AgentRunError | UserError) -> ModelError:
    """Return our error for an error of the library."""
    match problem:
        case UserError():
            return misconfigured(model, problem.message)
        case ModelContextWindowExceededError():
            return ModelError(
                f"{model} cannot read that much at once: {_said(problem)}",
                code="model_too_long",
                hint="Ask about less text, or choose a model with a larger window.",
            )
        case ModelAPIError() if may_pass(problem):
            return ModelUnavailable(
                f"{model} is not answering: {_said(problem)}",
                hint="It may answer later; nothing was lost.",
            )
        case ModelAPIError():
            return ModelError(
                f"{model} refused the call: {_said(problem)}",
                code="model_refused",
                hint="Check the model's name and models.providers: base_url and api_key.",
            )
        case ContentFilterError():
            return ModelError(
                f"{model} declined to answer about this text",
                code="model_declined",
                hint="The provider's content filter stopped it; another model may answer.",
            )
        case _:
            return bad_output(model, problem.message)


def _said(problem: ModelAPIError) -> str:
    """Return the provider's error message, shortened."""
    if not isinstance(problem, ModelHTTPError):
        return problem.message[:_MAX_QUOTE_CHARACTERS]
    return f"{problem.status_code} {_words(problem.body)[:_MAX_QUOTE_CHARACTERS]}".strip()


def _words(body: object) -> str:
    if not isinstance(body, Mapping):
        return str(body or "")
    told = cast("Mapping[str, Any]", body)
    inner = told.get("error")
    return str(told.get("message") or (_words(cast("object", inner)) if inner else ""))
