"""Conversion of messages to stored turns and back, without loss.

The columns of a turn hold the text; the payload holds everything else.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, cast

from recollect.context.message_formats import Incoming, read_messages
from recollect.domain.message import FilePart, ImagePart, Message, Part, Role, TextPart, ToolCall
from recollect.domain.turn import Turn
from recollect.errors import InvalidInput

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
    return _from_native(turn) if kept is None else [_from_payload(turn, kept)]


def given_print(turn: Turn) -> str | None:
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


def _from_native(turn: Turn) -> list[Message]:
    """Return the messages of a turn that was not stored by a session."""
    native = {"role": turn.role, "content": turn.content, **turn.payload}
    if turn.speaker:
        native["name"] = turn.speaker
    try:
        return [replace(incoming.message, id=turn.id) for incoming in read_messages(native)]
    except InvalidInput as problem:
        _log.warning("%s stays outside the window: %s", turn.id, problem)
        return []
