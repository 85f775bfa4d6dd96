"""Language models of any provider."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from recollect.domain.model_tier import LanguageTask, ModelUsage

if TYPE_CHECKING:
    from pydantic import BaseModel

Shape = TypeVar("Shape", bound="BaseModel")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt: the role of the model, what to read, and the limit of the answer."""

    text: str
    system: str = ""
    max_tokens: int = 1_024
    temperature: float = 0.0
    # The time limit of the answer; it cannot exceed the limit of the tier.
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The text that a model wrote, and its cost."""

    text: str
    input_tokens: int
    output_tokens: int
    # Whether the answer was cut off at `max_tokens`.
    is_cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled(Generic[Shape]):
    """A form that a model filled in, and its cost."""

    value: Shape
    input_tokens: int
    output_tokens: int


class LanguageModel(Protocol):
    """One language model. Safe to call from several tasks at once.

    Every failure raises `ModelError`, including an answer that takes longer than
    `prompt.seconds`; its `retryable` says whether to retry. Opening a model is not included.
    """

    @property
    def name(self) -> str: ...

    async def write(self, prompt: Prompt) -> Written:
        """Return an answer in plain text."""
        ...

    async def fill(self, prompt: Prompt, shape: type[Shape]) -> Filled[Shape]:
        """Return an answer in a given form; if it is invalid, ask the model once to repair it."""
        ...


class LanguageModels(Protocol):
    """The configured models, by task."""

    def of(self, task: LanguageTask) -> LanguageModel | None:
        """Return the model for a task, or None if none is configured."""
        ...

    def usage(self) -> tuple[ModelUsage, ...]:
        """Return the usage of each tier since this process began."""
        ...

    async def close(self) -> None: ...
