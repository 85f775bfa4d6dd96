"""The model of a tier behind a circuit breaker and a time limit for each call.

A model that failed several times in a row is paused for a while: callers get an error at once and
use rules without waiting. Then one call tries again.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from recollect.domain.model_tier import ModelUsage
from recollect.errors import ModelError
from recollect.models.language.counted import CountedModel
from recollect.models.language.faults import ModelUnavailable
from recollect.ports.language_model import Filled, Prompt, Shape, Written
from recollect.ports.runtime import Clock

_log: Final = logging.getLogger(__name__)

# Caused by the prompt or the budget: another prompt may be answered.
_NOT_CAUSED_BY_MODEL: Final = frozenset({"model_too_long", "model_declined", "model_budget"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The time limit of a tier's calls, and when and for how long it is paused."""

    seconds: float
    failures: int = 3
    pause: timedelta = timedelta(seconds=30)


class GuardedModel:
    """The model of a tier with a time limit, called only while it is not paused."""

    def __init__(self, model: CountedModel, limits: Limits, clock: Clock) -> None:
        self._model = model
        self._limits = limits
        self._clock = clock
        self._failures = 0
        self._paused_until: datetime | None = None
        self._is_trying = False
        self._skipped = 0
        self._last_error = ""

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def usage(self) -> ModelUsage:
        """Return the usage of the tier, whether it is paused, and why."""
        return replace(
            self._model.usage,
            skipped=self._skipped,
            paused_until=self._paused_until,
            last_error=self._last_error,
        )

    async def write(self, prompt: Prompt) -> Written:
        async with self._guarded():
            return await self._model.write(self._within_budget(prompt))

    async def fill(self, prompt: Prompt, shape: type[Shape]) -> Filled[Shape]:
        async with self._guarded():
            return await self._model.fill(self._within_budget(prompt), shape)

    def _within_budget(self, prompt: Prompt) -> Prompt:
        most = self._limits.seconds
        return replace(
            prompt, seconds=most if prompt.seconds is None else min(prompt.seconds, most)
        )

    @asynccontextmanager
    async def _guarded(self) -> AsyncGenerator[None]:
        is_trial = self._admit()
        try:
            yield
        except ModelError as problem:
            if problem.code not in _NOT_CAUSED_BY_MODEL:
                self._failed(problem)
            raise
        else:
            self._answered()
        finally:
            # A cancelled trial shows nothing, so the next call is the trial.
            if is_trial:
                self._is_trying = False

    def _admit(self) -> bool:
        """Return whether this call is the one that tries a paused model again."""
        until = self._paused_until
        if until is None:
            return False
        if self._clock.now() >= until and not self._is_trying:
            self._is_trying = True
            return True
        self._skipped += 1
        raise ModelUnavailable(
            f"The {self._model.usage.task} tier ({self.name}) is paused until {until:%H:%M:%S} UTC "
            f"after {self._failures} failures in a row; the last: {self._last_error}",
            code="model_paused",
            hint="Rules are used meanwhile, and the model is tried again by itself.",
        )

    def _failed(self, problem: ModelError) -> None:
        self._failures += 1
        self._last_error = str(problem.message)
        if self._failures >= self._limits.failures:
            self._paused_until = self._clock.now() + self._limits.pause
            _log.warning(
                "the %s tier is paused for %g s after %d failures in a row: %s",
                self._model.usage.task,
                self._limits.pause.total_seconds(),
                self._failures,
                problem.message,
            )

    def _answered(self) -> None:
        if self._paused_until is not None:
            _log.info("the %s tier answers again", self._model.usage.task)
        self._failures = 0
        self._paused_until = None
        self._last_error = ""
