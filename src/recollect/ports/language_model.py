"""Language models of any provider, and the counting of their tokens."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar, assert_never

from recollect.domain.message import FilePart, ImagePart, Message, Part, TextPart
from recollect.domain.model_tier import LanguageTask, ModelUsage

if TYPE_CHECKING:
    from pydantic import BaseModel


Shape = TypeVar("Shape", bound="BaseModel")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt: the role of the model, what to read, and the limit of the answer."""

    text: str
    system: str = ""
    # The source of an image to look at.
    image: Mapping[str, Any] | None = field(default=None, hash=False)
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


# --- Counting tokens for any model ----------------------------------------------------------------

# The overhead of a message: the delimiters around it and its role.
_MESSAGE_TOKENS: Final = 4
_TOOL_CALL_TOKENS: Final = 8
# Providers count 85 to about 1,600 for an image, by its size, which is not known here.
_IMAGE_TOKENS: Final = 1_600
# A page of a PDF counts about as much as an image, and takes some 160,000 characters of base64.
_DATA_CHARACTERS_PER_TOKEN: Final = 100


class TokenCounter(Protocol):
    """Counts the tokens of a model, exactly or approximately."""

    def count(self, text: str) -> int:
        """Return the number of tokens of a text."""
        ...


def message_tokens(message: Message, counter: TokenCounter) -> int:
    """Return the number of tokens of a message, with its tool calls and attachments."""
    tokens = _MESSAGE_TOKENS + sum(_part_tokens(part, counter) for part in message.parts)
    for call in message.tool_calls:
        tokens += _TOOL_CALL_TOKENS + counter.count(call.name) + counter.count(call.arguments)
    return tokens + counter.count(message.name) if message.name else tokens


def _part_tokens(part: Part, counter: TokenCounter) -> int:
    match part:
        case TextPart():
            return counter.count(part.text)
        case ImagePart():
            return _IMAGE_TOKENS
        case FilePart():
            return counter.count(part.name) + _file_tokens(part, counter)
        case _:
            assert_never(part)


def _file_tokens(part: FilePart, counter: TokenCounter) -> int:
    match part.source:
        case {"text": str(text)}:
            return counter.count(text)
        case {"data": str(data)}:
            return max(_IMAGE_TOKENS, len(data) // _DATA_CHARACTERS_PER_TOKEN)
        case {"url": _} | {"file_id": _}:
            return _IMAGE_TOKENS
        case block:
            return counter.count(json.dumps(block, ensure_ascii=False, default=str))
