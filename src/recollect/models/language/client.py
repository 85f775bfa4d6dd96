"""A model of any provider, through pydantic-ai: patient with busy servers, never with bad answers.

This module imports the library, so it is imported only once a configured model is asked.
"""

from __future__ import annotations

import asyncio
import itertools
import random
from typing import Final, TypeVar

from pydantic_ai import Agent, AgentRunResult
from pydantic_ai.exceptions import AgentRunError, ModelAPIError, UserError
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RunUsage

from recollect.domain.model_tier import ModelChoice
from recollect.models.language.faults import too_slow
from recollect.models.language.library_faults import as_model_error, may_pass
from recollect.models.readable import readable
from recollect.ports.language_model import Filled, Prompt, Shape, Written

_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 20.0

Output = TypeVar("Output")


class RemoteModel:
    """One model behind an HTTP API."""

    def __init__(self, model: Model, *, name: str, choice: ModelChoice) -> None:
        self._name = name
        self._model = model
        self._timeout = choice.timeout
        self._retries = choice.retries
        # The one further try for an answer is the repair: the library shows the model its error.
        self._agent = Agent(model, name="recollect", retries={"output": 1})

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
        # Leaving the model is what closes its connections, and only who entered can leave.
        async with self._model:
            pass

    async def _asked(self, prompt: Prompt, output: type[Output]) -> AgentRunResult[Output]:
        spent = RunUsage()
        try:
            async with asyncio.timeout(self._timeout) as limit:
                return await self._tried(prompt, output, spent, limit.when())
        except TimeoutError:
            failed = too_slow(self._name, self._timeout)
        except (AgentRunError, UserError) as problem:
            failed = as_model_error(self._name, problem)
        raise failed.having_spent(spent.input_tokens, spent.output_tokens)

    async def _tried(
        self,
        prompt: Prompt,
        output: type[Output],
        spent: RunUsage,
        deadline: float | None,
    ) -> AgentRunResult[Output]:
        """Ask, and again after a pause while that may help and there is time for it."""
        for attempt in itertools.count():
            try:
                return await self._agent.run(
                    readable(prompt.text),
                    output_type=output,
                    instructions=readable(prompt.system) or None,
                    model_settings=self._settings(prompt),
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

    def _settings(self, prompt: Prompt) -> ModelSettings:
        settings = ModelSettings(max_tokens=prompt.max_tokens, temperature=prompt.temperature)
        # Tries are counted here, for every provider alike.
        if "max_retries" not in self._model.unsupported_settings:
            settings["max_retries"] = 0
        return settings


def _pause(attempt: int, asked: float | None) -> float:
    """Longer from try to try, with some chance in it; what the server asks for goes first."""
    if asked is not None:
        return min(asked, _LONGEST_PAUSE)
    longest: float = min(_FIRST_PAUSE * 2**attempt, _LONGEST_PAUSE)
    return longest * random.uniform(0.5, 1)
