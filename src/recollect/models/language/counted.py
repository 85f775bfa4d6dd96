"""A model that counts its calls and stops at the budget of its tier."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import date

from recollect.domain.model_tier import ModelUsage
from recollect.errors import ModelError
from recollect.ports.language_model import Filled, LanguageModel, Prompt, Shape, Written
from recollect.ports.runtime import Clock, span

# About one token per Chinese character, and a third more than English needs, so that a call is
# made only if it is certain to fit.
_BYTES_PER_TOKEN = 3


class CountedModel:
    """The model of a tier, its usage since the process began, and its tokens of today."""

    def __init__(self, model: LanguageModel, usage: ModelUsage, clock: Clock) -> None:
        self._model = model
        self._usage = usage
        self._clock = clock
        self._day = self._today()
        self._held = 0

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def usage(self) -> ModelUsage:
        self._begin_day()
        return self._usage

    async def write(self, prompt: Prompt) -> Written:
        async with self._counted(prompt):
            written = await self._model.write(prompt)
            self._spend(written.input_tokens, written.output_tokens)
            return written

    async def fill(self, prompt: Prompt, shape: type[Shape]) -> Filled[Shape]:
        async with self._counted(prompt):
            filled = await self._model.fill(prompt, shape)
            self._spend(filled.input_tokens, filled.output_tokens)
            return filled

    @asynccontextmanager
    async def _counted(self, prompt: Prompt) -> AsyncGenerator[None]:
        """Count a call; what it may cost is held back while it runs, for others run beside it."""
        most = _most_tokens(prompt)
        self._admit(most)
        self._held += most
        self._usage = replace(self._usage, calls=self._usage.calls + 1)
        try:
            with span("language model", task=self._usage.task, model=self.name):
                yield
        except ModelError as problem:
            self._spend(problem.input_tokens, problem.output_tokens)
            self._usage = replace(self._usage, failures=self._usage.failures + 1)
            raise
        finally:
            self._held -= most

    def _admit(self, tokens: int) -> None:
        self._begin_day()
        usage = self._usage
        if usage.daily_tokens is None:
            return
        if usage.tokens_today + self._held + tokens <= usage.daily_tokens:
            return
        self._usage = replace(usage, over_budget=usage.over_budget + 1)
        raise ModelError(
            f"The {usage.task} tier has used {usage.tokens_today} of its {usage.daily_tokens} "
            f"tokens of today, and this call may take {tokens}",
            code="model_budget",
            hint=f"It goes on tomorrow (UTC), or raise models.daily_tokens.{usage.task}.",
        )

    def _spend(self, input_tokens: int, output_tokens: int) -> None:
        self._begin_day()
        usage = self._usage
        self._usage = replace(
            usage,
            input_tokens=usage.input_tokens + input_tokens,
            output_tokens=usage.output_tokens + output_tokens,
            tokens_today=usage.tokens_today + input_tokens + output_tokens,
        )

    def _begin_day(self) -> None:
        if self._day != (today := self._today()):
            self._day = today
            self._usage = replace(self._usage, tokens_today=0)

    def _today(self) -> date:
        return self._clock.now().date()


def _most_tokens(prompt: Prompt) -> int:
    """Return the maximum cost of a call, estimated before it is made."""
    size = len((prompt.system + prompt.text).encode(errors="replace"))
    return prompt.max_tokens + -(-size // _BYTES_PER_TOKEN)
