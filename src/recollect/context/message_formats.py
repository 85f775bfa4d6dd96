"""Messages in neutral, OpenAI or Anthropic format, and as stored turns."""

from __future__ import annotations

import logging
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
from recollect.domain.message import FilePart, ImagePart, Message, Part, Role, TextPart, ToolCall
from recollect.domain.turn import UTC_OFFSET, Turn, time_of
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


# --- Conversion of messages to stored turns and back, without loss --------------------------------
# The columns of a turn hold the text; the payload holds everything else.

_OURS: Final = "recollect"

_log: Final = logging.getLogger(__name__)


def as_turn(incoming: Incoming, *, tool: str = "") -> dict[str, Any]:
    """Return what is stored of a message; `tool` names the tool of a result."""
    message = incoming.message
    turn: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.name:
        turn["name"] = message.name
    if incoming.at is not None:
        turn["at"] = incoming.at
    beside = _payload(message, incoming.id)
    if incoming.print is not None:
        beside["print"] = incoming.print
    if tool:
        beside["tool"] = tool
    return {**turn, _OURS: beside} if beside else turn


def messages_of(turn: Turn) -> list[Message]:
    """Return the messages of a turn; none if it cannot be sent again."""
    if turn.act == "retracted":
        return []
    kept = cast("Mapping[str, Any] | None", turn.payload.get(_OURS))
    return _stored_native(turn) if kept is None else [_from_payload(turn, kept)]


def given_fingerprint(turn: Turn) -> str | None:
    """Return the fingerprint that a message had when its framework gave it."""
    return cast("Mapping[str, Any]", turn.payload.get(_OURS, {})).get("print")


def given_id(turn: Turn) -> str | None:
    """Return the id that the sender gave to a message."""
    return cast("Mapping[str, Any]", turn.payload.get(_OURS, {})).get("id")


def _payload(message: Message, given: str | None) -> dict[str, Any]:
    """Return everything that the text, the role and the name of a message do not say."""
    is_plain = len(message.parts) == 1 and isinstance(message.parts[0], TextPart)
    has_words = bool(message.text.strip())
    beside: dict[str, Any] = {
        "id": given,
        "parts": None
        if is_plain and has_words
        else [_part_as_json(part) for part in message.parts],
        "calls": [[call.id, call.name, call.arguments] for call in message.tool_calls],
        "answers": message.answers,
        "extra": dict(message.extra),
    }
    # An empty list of parts has a meaning; other empty values do not.
    return {
        name: value
        for name, value in beside.items()
        if value or (name == "parts" and value is not None)
    }


def _part_as_json(part: Part) -> dict[str, Any]:
    match part:
        case TextPart(text=text):
            return {"text": text}
        case ImagePart(source=source, description=told):
            return {"image": dict(source), "description": told}
        case FilePart(source=source, name=name, description=told):
            return {"file": dict(source), "name": name, "description": told}


def _part_from_json(stored: Mapping[str, Any]) -> Part:
    match stored:
        case {"image": source, "description": told}:
            return ImagePart(source=source, description=told)
        case {"file": source, "name": name, "description": told}:
            return FilePart(source=source, name=name, description=told)
        case _:
            return TextPart(text=stored["text"])


def _from_payload(turn: Turn, kept: Mapping[str, Any]) -> Message:
    parts = cast("list[Mapping[str, Any]] | None", kept.get("parts"))
    calls = cast("list[tuple[str, str, str]]", kept.get("calls", ()))
    called = (ToolCall(id=call_id, name=name, arguments=given) for call_id, name, given in calls)
    words = (TextPart(text=turn.content),)
    return Message(
        role=cast("Role", turn.role),
        parts=words if parts is None else tuple(map(_part_from_json, parts)),
        tool_calls=tuple(called),
        answers=kept.get("answers"),
        name=turn.speaker or None,
        id=turn.id,
        extra=kept.get("extra", {}),
    )


def _stored_native(turn: Turn) -> list[Message]:
    """Return the messages of a turn that was not stored by a session."""
    native = {"role": turn.role, "content": turn.content, **turn.payload}
    native.pop(UTC_OFFSET, None)
    if turn.speaker:
        native["name"] = turn.speaker
    try:
        return [replace(incoming.message, id=turn.id) for incoming in read_messages(native)]
    except InvalidInput as problem:
        _log.warning("%s stays outside the window: %s", turn.id, problem)
        return []
