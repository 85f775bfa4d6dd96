"""Asking a language model, whichever it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from recollect.domain.model_tier import LanguageTask, ModelUsage

if TYPE_CHECKING:
    from pydantic import BaseModel

Shape = TypeVar("Shape", bound="BaseModel")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a model is asked: who it shall be, what it shall read, how much it may answer."""

    text: str
    system: str = ""
    max_tokens: int = 1_024
    temperature: float = 0.0
    # How long the answer may take; a tier sets its own budget, and nobody may exceed it.
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a model wrote, and what it cost."""

    text: str
    input_tokens: int
    output_tokens: int
    # The answer reached `max_tokens` before its end.
    is_cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled(Generic[Shape]):
    """A form that a model filled in, and what it cost."""

    value: Shape
    input_tokens: int
    output_tokens: int


class LanguageModel(Protocol):
    """One language model. Safe to call from several tasks at once.

    Whatever goes wrong is a `ModelError`, an answer that takes longer than `prompt.seconds` too;
    its `retryable` tells whether later may be better. Opening a model is outside that time.
    """

    @property
    def name(self) -> str: ...

    async def write(self, prompt: Prompt) -> Written:
        """An answer in plain text."""
        ...

    async def fill(self, prompt: Prompt, shape: type[Shape]) -> Filled[Shape]:
        """An answer in a given shape; what does not fit is shown to the model once, to mend."""
        ...


class LanguageModels(Protocol):
    """The models there are, by the task they are for."""

    def of(self, task: LanguageTask) -> LanguageModel | None:
        """The model for a task; None where none is configured, which is no error."""
        ...

    def usage(self) -> tuple[ModelUsage, ...]:
        """What each tier was asked and what it cost, since this process began."""
        ...

    async def close(self) -> None: ...
