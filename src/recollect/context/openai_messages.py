"""Conversion of OpenAI's chat messages to and from neutral ones, without loss."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from recollect.domain.message import (
    FilePart,
    ImagePart,
    Message,
    Part,
    Role,
    TextPart,
    ToolCall,
    mention,
)
from recollect.errors import InvalidInput

_PROVIDER: Final = "openai"
_ROLES: Final[Mapping[str, Role]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
# Fields that a neutral message represents itself.
_READ_FIELDS: Final = frozenset(
    {"role", "content", "refusal", "tool_calls", "tool_call_id", "name"}
)
_DATA_URL: Final = re.compile(r"data:(?P<media_type>[\w.+-]+/[\w.+-]+);base64,(?P<data>[^,]*)")
_AUDIO_FORMATS: Final = ("wav", "mp3")
_THINKING: Final = ("thinking", "redacted_thinking")


def to_openai(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return a chat completion's list for neutral messages."""
    return [_native_message(message) for message in messages]


def from_openai_message(native: Mapping[str, Any], index: int = 0) -> Message:
    """Return a neutral message; `extra` holds the native one if it cannot be rebuilt."""
    role = native.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise InvalidInput(
            f"Message {index} has the role {role!r}",
            code="unknown_role",
            hint=f"Use one of: {', '.join(_ROLES)}.",
        )
    message = Message(
        role=_ROLES[role],
        parts=_parts(native, index),
        tool_calls=tuple(
            _tool_call(call, index) for call in cast("list[Any]", native.get("tool_calls") or ())
        ),
        answers=_text_or_none(native, "tool_call_id", index),
        name=_text_or_none(native, "name", index),
    )
    if _rebuilt(message) == native:
        return message
    return replace(message, extra={_PROVIDER: dict(native)})


def _native_message(message: Message) -> dict[str, Any]:
    """Return the native message while it still matches the neutral one."""
    native = cast("dict[str, Any] | None", message.extra.get(_PROVIDER))
    if native is None:
        return _rebuilt(message)
    if _says(from_openai_message(native)) == _says(message):
        return dict(native)
    own = {key: value for key, value in native.items() if key not in _READ_FIELDS}
    return _rebuilt(message) | own


def _says(message: Message) -> tuple[object, ...]:
    return (message.role, message.parts, message.tool_calls, message.answers, message.name)


def _text_or_none(native: Mapping[str, Any], key: str, index: int) -> str | None:
    value = native.get(key)
    if value is not None and not isinstance(value, str):
        raise _unreadable(index, key, value)
    return value


def _parts(native: Mapping[str, Any], index: int) -> tuple[Part, ...]:
    content: object = native.get("content")
    refusal = native.get("refusal")
    said = (TextPart(text=refusal),) if isinstance(refusal, str) else ()
    if content is None:
        return said
    if isinstance(content, str):
        return (TextPart(text=content), *said)
    if not isinstance(content, Sequence):
        raise _unreadable(index, "content", content)
    return (*(_part(part, index) for part in cast("Sequence[object]", content)), *said)


def _part(part: object, index: int) -> Part:
    match part:
        case str() | {"type": "text", "text": str()} | {"type": "refusal", "refusal": str()}:
            block = cast("Mapping[str, str]", part)
            text = part if isinstance(part, str) else block.get("text") or block.get("refusal")
            return TextPart(text=text or "")
        case {"type": "image_url", "image_url": {"url": str(url)}}:
            return ImagePart(source=_located(url))
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(coding)}}:
            return FilePart(source={"media_type": f"audio/{coding}", "data": data})
        case {"type": "file", "file": {"file_data": str(url), "filename": str(name)}}:
            return FilePart(source=_located(url), name=name)
        case {"type": "file", "file": {"file_data": str(url)}}:
            return FilePart(source=_located(url))
        case {"type": str(kind)}:
            return FilePart(source={_PROVIDER: part}, name=kind)
        case _:
            raise _unreadable(index, "a content part", part)


def _located(url: str) -> Mapping[str, Any]:
    found = _DATA_URL.fullmatch(url)
    return found.groupdict() if found else {"url": url}


def _tool_call(call: object, index: int) -> ToolCall:
    match call:
        case {"id": str(id), "function": {"name": str(name), "arguments": str(arguments)}}:
            return ToolCall(id=id, name=name, arguments=arguments)
        case {"id": str(id), "custom": {"name": str(name), "input": str(text)}}:
            return ToolCall(id=id, name=name, arguments=text)
        case _:
            raise _unreadable(index, "a tool call", call)


def _unreadable(index: int, what: str, value: object) -> InvalidInput:
    return InvalidInput(
        f"Message {index}: {what} cannot be read: {str(value)[:80]}",
        code="unreadable_message",
        hint="Give the messages as OpenAI's chat completions take them.",
    )


def _rebuilt(message: Message) -> dict[str, Any]:
    native: dict[str, Any] = {"role": message.role, "content": _content(message)}
    if message.tool_calls:
        native["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.answers is not None:
        native["tool_call_id"] = message.answers
    if message.name is not None:
        native["name"] = message.name
    return native


def _content(message: Message) -> str | list[dict[str, Any]] | None:
    write = _user_part if message.role == "user" else _text_part
    written = [part for part in map(write, message.parts) if part is not None]
    if not written:
        return None if message.tool_calls else ""
    if len(written) == 1 and written[0]["type"] == "text":
        return cast("str", written[0]["text"])
    return written


def _user_part(part: Part) -> dict[str, Any] | None:
    """Return a part as a user may send it: only this role shows images and files."""
    match part:
        case ImagePart(source={"url": url}):
            return {"type": "image_url", "image_url": {"url": url}}
        case ImagePart(source={"media_type": media_type, "data": data}):
            return {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{data}"}}
        case FilePart(source={"media_type": str(media_type), "data": data}):
            kind, _, coding = media_type.partition("/")
            if kind == "audio" and coding in _AUDIO_FORMATS:
                return {"type": "input_audio", "input_audio": {"data": data, "format": coding}}
            name = {"filename": part.name} if part.name else {}
            return {
                "type": "file",
                "file": {"file_data": f"data:{media_type};base64,{data}"} | name,
            }
        case _:
            return _text_part(part)


def _text_part(part: Part) -> dict[str, Any] | None:
    """Return a part as text; the thinking of other providers is left out."""
    match part:
        case TextPart(text=text) | FilePart(source={"text": str(text)}):
            return {"type": "text", "text": text}
        case ImagePart(source={"openai": block}) | FilePart(source={"openai": block}):
            return dict(cast("Mapping[str, Any]", block))
        case FilePart(name=name) if name in _THINKING:
            return None
        case _:
            return {"type": "text", "text": mention(part)}
