"""Prepared messages in the form in which they are sent."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from recollect.context.anthropic_messages import (
    AnthropicMessages,
    to_anthropic,
    with_ids_of_their_own,
)
from recollect.context.openai_messages import to_openai
from recollect.domain.message import Message
from recollect.errors import InvalidInput

Format: TypeAlias = Literal["openai", "anthropic", "neutral"]
Prepared: TypeAlias = list[dict[str, Any]] | AnthropicMessages | tuple[Message, ...]


def written(messages: tuple[Message, ...], format: Format) -> Prepared:
    """The messages as a provider takes them, or as they are."""
    match format:
        case "openai":
            return to_openai(messages)
        case "anthropic":
            return to_anthropic(tuple(with_ids_of_their_own(messages)))
        case "neutral":
            return messages
        case _:
            raise InvalidInput(
                f"There is no format {format!r}",
                code="unknown_format",
                hint="Use openai, anthropic or neutral.",
            )
