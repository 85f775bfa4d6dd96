"""Messages as turns are stored and read again, with nothing lost on the way.

A turn's columns hold the words; what else a message has lies in the turn's payload.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, cast

from recollect.context.incoming import Incoming, read_messages
from recollect.domain.message import FilePart, ImagePart, Message, Part, Role, TextPart, ToolCall
from recollect.domain.turn import Turn
from recollect.errors import InvalidInput

_OURS: Final = "recollect"

_log: Final = logging.getLogger(__name__)


def as_turn(incoming: Incoming) -> dict[str, Any]:
    """What is handed to whoever stores turns."""
    message = incoming.message
    turn: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.name:
        turn["name"] = message.name
    if incoming.at is not None:
        turn["at"] = incoming.at
    beside = _beside_words(message, incoming.id)
    return {**turn, _OURS: beside} if beside else turn


def messages_of(turn: Turn) -> list[Message]:
    """The messages that a turn stands for; none when nobody could send it again."""
    kept = cast("Mapping[str, Any] | None", turn.payload.get(_OURS))
    return _from_others(turn) if kept is None else [_from_ours(turn, kept)]


def given_id(turn: Turn) -> str | None:
    """The id that the sender of a message gave it."""
    return cast("Mapping[str, Any]", turn.payload.get(_OURS, {})).get("id")


def _beside_words(message: Message, given: str | None) -> dict[str, Any]:
    """All that the words, the role and the name of a message do not say."""
    is_plain = len(message.parts) == 1 and isinstance(message.parts[0], TextPart)
    has_words = bool(message.text.strip())
    beside: dict[str, Any] = {
        "id": given,
        "parts": None if is_plain and has_words else [_part_as_json(it) for it in message.parts],
        "calls": [[call.id, call.name, call.arguments] for call in message.tool_calls],
        "answers": message.answers,
        "extra": dict(message.extra),
    }
    # An empty list of parts is something to say, other empty things are not.
    return {name: it for name, it in beside.items() if it or (name == "parts" and it is not None)}


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


def _from_ours(turn: Turn, kept: Mapping[str, Any]) -> Message:
    parts = cast("list[Mapping[str, Any]] | None", kept.get("parts"))
    calls = cast("list[tuple[str, str, str]]", kept.get("calls", ()))
    called = (ToolCall(id=it, name=name, arguments=given) for it, name, given in calls)
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


def _from_others(turn: Turn) -> list[Message]:
    """A turn that is stored as providers write messages: plain words, or not from a session."""
    native = {"role": turn.role, "content": turn.content, **turn.payload}
    if turn.speaker:
        native["name"] = turn.speaker
    try:
        return [replace(it.message, id=turn.id) for it in read_messages(native)]
    except InvalidInput as problem:
        _log.warning("%s stays outside the window: %s", turn.id, problem)
        return []
