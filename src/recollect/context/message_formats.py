"""Messages in neutral, OpenAI or Anthropic format, read and written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias, cast

from recollect.context.anthropic_messages import (
    AnthropicMessages,
    from_anthropic,
    from_anthropic_message,
    to_anthropic,
    with_ids_of_their_own,
)
from recollect.context.openai_messages import from_openai_message, to_openai
from recollect.context.summary_text import is_summary
from recollect.domain.fields import checked_items
from recollect.domain.message import Message
from recollect.domain.turn import time_of
from recollect.errors import InvalidInput

GivenMessage: TypeAlias = Message | Mapping[str, Any]

# Fields about a message that are not part of it.
_METADATA_FIELDS: Final = frozenset({"id", "at", "timestamp"})
_OPENAI_PARTS: Final = ("text", "image_url", "input_audio", "file", "refusal")
_OPENAI_FIELDS: Final = frozenset({"tool_calls", "tool_call_id", "refusal"})
_OPENAI_ROLES: Final = ("tool", "developer")
Format: TypeAlias = Literal["openai", "anthropic", "neutral"]
Prepared: TypeAlias = list[dict[str, Any]] | AnthropicMessages | tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A message that was just said, with the id and the time given by its sender."""

    message: Message
    id: str | None = None
    at: datetime | None = None
    # The fingerprint of the message as its framework has it.
    print: str | None = None


def read_messages(given: GivenMessage | Iterable[GivenMessage]) -> list[Incoming]:
    """Return neutral messages; each one may be in its own format."""
    is_one = isinstance(given, Message | Mapping)
    items = [cast("GivenMessage", given)] if is_one else checked_items(given, "messages")
    return [incoming for index, item in enumerate(items) for incoming in _read(item, index)]


def _read(item: GivenMessage, index: int) -> list[Incoming]:
    if isinstance(item, Message):
        if is_summary(item):
            raise InvalidInput(
                f"Message {index} is a summary made by prepare(), not a message that was said",
                code="not_a_turn",
                hint="Observe only new messages, not what prepare() returned.",
            )
        return [Incoming(message=replace(item, id=None), id=item.id)]
    if not isinstance(item, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(
            f"Message {index} must be a Message or a mapping, not {type(item).__name__}",
            code="wrong_type",
            hint='Give messages such as {"role": "user", "content": "…"}.',
        )
    native = {name: value for name, value in item.items() if name not in _METADATA_FIELDS}
    first, *rest = _from_native(native, index)
    known, at = item.get("id"), time_of(item)
    return [
        Incoming(message=first, id=known if isinstance(known, str) else None, at=at),
        *(Incoming(message=message, at=at) for message in rest),
    ]


def _from_native(native: Mapping[str, Any], index: int) -> list[Message]:
    if not _is_anthropic(native) or not isinstance(native.get("role"), str):
        return [from_openai_message(native, index)]
    if native.get("role") == "system":
        # A system prompt goes first, where a request keeps it separate.
        return [*from_anthropic((), system=native["content"])]
    return from_anthropic_message(native, index)


def _is_anthropic(native: Mapping[str, Any]) -> bool:
    """Return whether a message has blocks that only Anthropic uses."""
    content: object = native.get("content")
    is_openai = native.get("role") in _OPENAI_ROLES or bool(_OPENAI_FIELDS & native.keys())
    if is_openai or not isinstance(content, list | tuple):
        return False
    return any(map(_is_anthropic_block, cast("list[object]", content)))


def _is_anthropic_block(block: object) -> bool:
    if not isinstance(block, Mapping):
        return False
    fields = cast("Mapping[str, object]", block)
    return fields.get("type") not in _OPENAI_PARTS or "cache_control" in fields


def written(messages: tuple[Message, ...], format: Format) -> Prepared:
    """Return the messages in the format of a provider, or as they are."""
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
