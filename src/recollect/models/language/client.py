"""A model of any provider, through pydantic-ai, with retries for busy servers.

This module imports the library, so it is imported only once a configured model is asked.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import random
from collections.abc import Mapping
from typing import Any, Final, TypeVar, cast

from pydantic_ai import Agent, AgentRunResult
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
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RunUsage

from recollect.domain.model_tier import ModelChoice
from recollect.errors import ModelError
from recollect.models.language.faults import ModelUnavailable, bad_output, misconfigured, too_slow
from recollect.models.language.forms import (
    AskedFor,
    Way,
    form_asked_for,
    refuses_form,
    simpler_way,
)
from recollect.models.onnx_model import readable
from recollect.ports.language_model import Filled, Prompt, Shape, Written

_FIRST_PAUSE_SECONDS: Final = 0.5
_MAX_PAUSE_SECONDS: Final = 20.0

Output = TypeVar("Output")
_log: Final = logging.getLogger(__name__)


class RemoteModel:
    """A model behind an HTTP API."""

    def __init__(self, model: Model, *, name: str, choice: ModelChoice) -> None:
        self._name = name
        self._model = model
        self._retries = choice.retries
        # The single retry of an answer is the repair: the library shows the model its error.
        self._agent = Agent(model, name="recollect", retries={"output": 1})
        # How to ask for a form; what the server refused once is not tried again.
        self._way: Way = "schema"

    @property
    def name(self) -> str:
        return self._name

    async def write(self, prompt: Prompt) -> Written:
        result = await self._asked(prompt, str)
        return Written(
            text=result.output,
            input_tokens=result.usage.input_tokens,
            output_tokens=result.usage.output_tokens,
            is_cut=result.response.finish_reason == "length",
        )

    async def fill(self, prompt: Prompt, shape: type[Shape]) -> Filled[Shape]:
        result = await self._asked(prompt, shape)
        return Filled(
            value=result.output,
            input_tokens=result.usage.input_tokens,
            output_tokens=result.usage.output_tokens,
        )

    async def close(self) -> None:
        # Exiting the context closes the connections, and only the task that entered can exit.
        async with self._model:
            pass

    async def _asked(self, prompt: Prompt, output: type[Output]) -> AgentRunResult[Output]:
        spent = RunUsage()
        try:
            async with asyncio.timeout(prompt.seconds) as limit:
                return await self._asked_in_some_way(prompt, output, spent, limit.when())
        except TimeoutError:
            failed = too_slow(self._name, prompt.seconds or 0)
        except (AgentRunError, UserError) as problem:
            failed = as_model_error(self._name, problem)
        raise failed.having_spent(spent.input_tokens, spent.output_tokens)

    async def _asked_in_some_way(
        self,
        prompt: Prompt,
        output: type[Output],
        spent: RunUsage,
        deadline: float | None,
    ) -> AgentRunResult[Output]:
        """Ask in the format that the server accepts, and in a simpler one if it refuses."""
        while True:
            asked = form_asked_for(output, self._way)
            try:
                return await self._tried(prompt, asked, spent, deadline)
            except ModelHTTPError as problem:
                simpler = simpler_way(self._way)
                if output is str or simpler is None or not refuses_form(problem):
                    raise
                _log.info(
                    "%s takes no form as %s, so it is asked as %s", self._name, self._way, simpler
                )
                self._way = simpler

    async def _tried(
        self,
        prompt: Prompt,
        asked: AskedFor[Output],
        spent: RunUsage,
        deadline: float | None,
    ) -> AgentRunResult[Output]:
        """Ask, and retry after a pause while that may help and time is left."""
        told = "\n\n".join(filter(None, (readable(prompt.system), asked.instructions)))
        for attempt in itertools.count():
            try:
                return await self._agent.run(
                    readable(prompt.text),
                    output_type=asked.output,
                    instructions=told or None,
                    model_settings=self._settings(prompt, asked),
                    usage=spent,
                )
            except ModelAPIError as problem:
                pause = _pause(attempt, problem.retry_after)
                if attempt == self._retries or not may_pass(problem):
                    raise
                if deadline is not None and asyncio.get_running_loop().time() + pause > deadline:
                    raise
                await asyncio.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def _settings(self, prompt: Prompt, asked: AskedFor[Output]) -> ModelSettings:
        settings = ModelSettings(max_tokens=prompt.max_tokens, temperature=prompt.temperature)
        if asked.is_json:
            settings["extra_body"] = {"response_format": {"type": "json_object"}}
        # Retries are counted here, the same for every provider.
        if "max_retries" not in self._model.unsupported_settings:
            settings["max_retries"] = 0
        return settings


def _pause(attempt: int, asked: float | None) -> float:
    """Return the next pause: longer each time, with jitter, or as the server asks for."""
    if asked is not None:
        return min(asked, _MAX_PAUSE_SECONDS)
    longest: float = min(_FIRST_PAUSE_SECONDS * 2**attempt, _MAX_PAUSE_SECONDS)
    return longest * random.uniform(0.5, 1)


# --- Translation of the client library's errors into ours -----------------------------------------


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
