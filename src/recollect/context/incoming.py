"""Messages as agents hand them over: neutral ones, OpenAI's or Anthropic's, one or several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, TypeAlias, cast

from recollect.context.anthropic_messages import from_anthropic, from_anthropic_message
from recollect.context.openai_messages import from_openai_message
from recollect.context.summary_text import is_summary
from recollect.domain.fields import checked_items
from recollect.domain.message import Message
from recollect.errors import InvalidInput

GivenMessage: TypeAlias = Message | Mapping[str, Any]

# What its sender may say about a message that is no part of it.
_ABOUT: Final = frozenset({"id", "at"})
_OPENAI_PARTS: Final = ("text", "image_url", "input_audio", "file", "refusal")
_OPENAI_FIELDS: Final = frozenset({"tool_calls", "tool_call_id", "refusal"})
_OPENAI_ROLES: Final = ("tool", "developer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A message that was just said, and the id and time its sender gave it."""

    message: Message
    id: str | None = None
    at: datetime | None = None


def read_messages(given: GivenMessage | Iterable[GivenMessage]) -> list[Incoming]:
    """One message or several as neutral ones; each may be written in its own way."""
    is_one = isinstance(given, Message | Mapping)
    items = [cast("GivenMessage", given)] if is_one else checked_items(given, "messages")
    return [incoming for index, item in enumerate(items) for incoming in _read(item, index)]


def _read(item: GivenMessage, index: int) -> list[Incoming]:
    if isinstance(item, Message):
        if is_summary(item):
            raise InvalidInput(
                f"Message {index} stands for what was said before; nobody said it",
                code="not_a_turn",
                hint="Observe only what is new, not what prepare() gave.",
            )
        return [Incoming(message=replace(item, id=None), id=item.id)]
    if not isinstance(item, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(
            f"Message {index} must be a Message or a mapping, not {type(item).__name__}",
            code="wrong_type",
            hint='Give messages such as {"role": "user", "content": "…"}.',
        )
    native = {name: value for name, value in item.items() if name not in _ABOUT}
    first, *rest = _from_native(native, index)
    known = item.get("id")
    return [
        Incoming(message=first, id=known if isinstance(known, str) else None, at=item.get("at")),
        *(Incoming(message=message, at=item.get("at")) for message in rest),
    ]


def _from_native(native: Mapping[str, Any], index: int) -> list[Message]:
    if not _is_anthropic(native) or not isinstance(native.get("role"), str):
        return [from_openai_message(native, index)]
    if native.get("role") == "system":
        # A system prompt belongs in front, where a request keeps it apart.
        return [*from_anthropic((), system=native["content"])]
    return from_anthropic_message(native, index)


def _is_anthropic(native: Mapping[str, Any]) -> bool:
    """Whether a message holds what only Anthropic's do; plain words are the same for both."""
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
