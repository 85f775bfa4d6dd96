"""Conversion of Anthropic's messages to and from neutral ones, without loss.

Anthropic separates the system prompt, puts the results of several tools into one user message, and
requires alternating roles. A neutral list has one message for each, in the order of the
conversation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any, Final, TypeAlias, cast

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

Block: TypeAlias = dict[str, Any]
Content: TypeAlias = str | list[Block]

_PROVIDER: Final = "anthropic"
_ROLES: Final[Mapping[str, Role]] = {"user": "user", "assistant": "assistant", "system": "system"}
_PICTURES: Final = ("image/jpeg", "image/png", "image/gif", "image/webp")
_NOT_IN_IDS: Final = re.compile(r"[^a-zA-Z0-9_-]")
# Stand-ins: a message must not be empty, and the first one must be from the user.
_EMPTY_TEXT: Final = "(empty)"
_FIRST_TEXT: Final = "(the conversation goes on)"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicMessages:
    """The system prompt, if any, and the messages of a request."""

    system: Content | None
    messages: list[dict[str, Any]]


def from_anthropic(
    messages: Sequence[Mapping[str, Any]], system: str | Sequence[Mapping[str, Any]] | None = None
) -> tuple[Message, ...]:
    """Return neutral messages for those of a request, the system prompt first."""
    neutral: list[Message] = []
    if system is not None:
        prompt = system if isinstance(system, str) else [dict(block) for block in system]
        neutral.append(_with_native(_message("system", prompt, 0), prompt))
    role_before: object = None
    for index, native in enumerate(messages):
        first, *rest = from_anthropic_message(native, index)
        # Consecutive messages of one role are joined when written, unless they came separately.
        apart = native["role"] == (role_before if index else "assistant")
        neutral += (_with_marks(first, {"apart": True} if apart else {}), *rest)
        role_before = native["role"]
    return tuple(neutral)


def from_anthropic_message(native: Mapping[str, Any], index: int = 0) -> list[Message]:
    """Convert one message of a conversation; several if it holds tool results."""
    first, *rest = _read(native, index)
    own = {key: value for key, value in native.items() if key not in ("role", "content")}
    return [_with_marks(first, {"fields": own} if own else {}), *rest]


def to_anthropic(messages: Sequence[Message]) -> AnthropicMessages:
    """Return a request's messages for neutral ones, joined as Anthropic requires."""
    system: list[Content] = []
    wire: list[dict[str, Any]] = []
    for message in messages:
        marks, content = _marks(message), _native_content(message)
        role = "user" if message.role == "tool" else message.role
        if role == "system" and not marks.get("inline"):
            system.append(content)
            continue
        if not wire and role == "assistant" and not marks.get("apart"):
            wire.append({"role": "user", "content": _FIRST_TEXT})
        if wire and wire[-1]["role"] == role and not marks.get("apart"):
            wire[-1]["content"] = [*_as_blocks(wire[-1]["content"]), *_as_blocks(content)]
        else:
            wire.append({"role": role, "content": content, **marks.get("fields", {})})
    if len(system) > 1:
        system = [[block for content in system for block in _as_blocks(content)]]
    return AnthropicMessages(system=system[0] if system else None, messages=wire)


def reports_error(message: Message) -> bool:
    """Return whether a tool's message is marked as the report of an error."""
    return message.role == "tool" and any(
        block.get("is_error") for block in _as_blocks(_marks(message).get("content", ()))
    )


def with_ids_of_their_own(messages: Sequence[Message]) -> Iterator[Message]:
    """Make call ids unique: Anthropic accepts an id only once in a conversation."""
    used: set[str] = set()
    newest: dict[str | None, str] = {}
    for message in messages:
        for call in message.tool_calls:
            newest[call.id] = _unused_id(call.id, used)
            used.add(_id(newest[call.id]))
        if any(newest[call.id] != call.id for call in message.tool_calls):
            calls = tuple(replace(call, id=newest[call.id]) for call in message.tool_calls)
            yield replace(message, tool_calls=calls)
        elif newest.get(message.answers, message.answers) != message.answers:
            yield replace(message, answers=newest[message.answers])
        else:
            yield message


def _unused_id(id: str, used: Collection[str]) -> str:
    numbered = (f"{_id(id)}-{number}" for number in count(2))
    return next(candidate for candidate in chain((id,), numbered) if _id(candidate) not in used)


def _read(native: Mapping[str, Any], index: int) -> list[Message]:
    """Convert one message; several if a user message holds tool results."""
    role, content = native.get("role"), native.get("content")
    if role not in _ROLES:
        raise InvalidInput(
            f"Message {index} has the role {role!r}",
            code="unknown_role",
            hint=f"Use one of: {', '.join(_ROLES)}.",
        )
    if role != "user" or isinstance(content, str):
        content = content if isinstance(content, str) else _checked_blocks(content, index)
        message = _with_native(_message(role, content, index), content)
        return [_with_marks(message, {"inline": True} if role == "system" else {})]
    runs: list[list[Block]] = []
    for block in _checked_blocks(content, index):
        goes_on = runs and "tool_result" not in (block["type"], runs[-1][-1]["type"])
        runs[-1].append(block) if goes_on else runs.append([block])
    if len(runs) > 1:
        return [_with_native(_message("user", run, index), run, joined=True) for run in runs]
    run = runs[0] if runs else []
    return [_with_native(_message("user", run, index), run)]


def _checked_blocks(content: object, index: int) -> list[Block]:
    if not isinstance(content, Sequence):
        raise _unreadable(index, "content", content)
    blocks: list[Block] = []
    for block in cast("Sequence[object]", content):
        match block:
            case {"type": str()}:
                blocks.append(dict(cast("Block", block)))
            case _:
                raise _unreadable(index, "a content block", block)
    return blocks


def _unreadable(index: int, what: str, value: object) -> InvalidInput:
    return InvalidInput(
        f"Message {index}: {what} cannot be read: {str(value)[:80]}",
        code="unreadable_message",
        hint="Give the messages as Anthropic's messages API takes them.",
    )


def _message(role: str, content: Content, index: int) -> Message:
    blocks = _as_blocks(content)
    if role == "user" and blocks and blocks[0]["type"] == "tool_result":
        result = blocks[0]
        if not isinstance(result.get("tool_use_id"), str):
            raise _unreadable(index, "a tool's result", result)
        said = result.get("content")
        blocks = said if isinstance(said, str) else _checked_blocks(said or [], index)
        return Message(role="tool", parts=_parts(blocks), answers=result["tool_use_id"])
    call_type = "tool_use" if role == "assistant" else None
    return Message(
        role=_ROLES[role],
        parts=_parts([block for block in blocks if block["type"] != call_type]),
        tool_calls=tuple(_tool_call(b, index) for b in blocks if b["type"] == call_type),
    )


def _parts(content: Content) -> tuple[Part, ...]:
    return tuple(map(_part, _as_blocks(content)))


def _part(block: Block) -> Part:
    title = block.get("title")
    name = title if isinstance(title, str) else ""
    match block:
        case {"type": "text", "text": str(text)}:
            return TextPart(text=text)
        case {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}:
            return ImagePart(source={"media_type": kind, "data": data})
        case {"type": "image", "source": {"type": "url", "url": url}}:
            return ImagePart(source={"url": url})
        case {"type": "image"}:
            return ImagePart(source={_PROVIDER: block})
        case {"type": "document", "source": {"type": "base64", "media_type": kind, "data": data}}:
            return FilePart(source={"media_type": kind, "data": data}, name=name)
        case {"type": "document", "source": {"type": "url", "url": url}}:
            return FilePart(source={"url": url}, name=name)
        case {"type": "document", "source": {"type": "text", "data": str(text)}}:
            return FilePart(source={"text": text}, name=name)
        case _:
            return FilePart(source={_PROVIDER: block}, name=name or block["type"])


def _tool_call(block: Block, index: int) -> ToolCall:
    match block:
        case {"id": str(id), "name": str(name), "input": input}:
            return ToolCall(id=id, name=name, arguments=json.dumps(input, ensure_ascii=False))
        case _:
            raise _unreadable(index, "a tool call", block)


def _with_native(message: Message, content: Content, *, joined: bool = False) -> Message:
    """Keep the native content with the message if it cannot be rebuilt from the rest."""
    rebuilt = _as_blocks(_rebuilt(message)) if joined else _rebuilt(message)
    return message if rebuilt == content else _with_marks(message, {"content": content})


def _with_marks(message: Message, marks: Mapping[str, Any]) -> Message:
    if not marks:
        return message
    return replace(message, extra={_PROVIDER: {**_marks(message), **marks}})


def _marks(message: Message) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", message.extra.get(_PROVIDER, {}))


def _native_content(message: Message) -> Content:
    """Return the native content while it still matches the message."""
    content = cast("Content | None", _marks(message).get("content"))
    if content is None:
        return _rebuilt(message)
    said = _message("user" if message.role == "tool" else message.role, content, 0)
    same = _says(said) == _says(message)
    return content if same else _rebuilt(message)


def _says(message: Message) -> tuple[object, ...]:
    return (message.role, message.parts, message.tool_calls, message.answers)


def _as_blocks(content: Content) -> list[Block]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _rebuilt(message: Message) -> Content:
    if message.role == "tool":
        result = {"type": "tool_result", "tool_use_id": _id(message.answers or "")}
        return [result | ({"content": _blocks_of(message.parts)} if message.parts else {})]
    if message.role == "user":
        return _blocks_of(message.parts) or _EMPTY_TEXT
    calls = [
        {"type": "tool_use", "id": _id(call.id), "name": call.name, "input": _input(call)}
        for call in message.tool_calls
    ]
    said = _blocks_of(tuple(map(_in_words, message.parts)))
    if calls:
        return [*_as_blocks(said or []), *calls]
    return said or (_EMPTY_TEXT if message.role == "assistant" else [])


def _blocks_of(parts: Sequence[Part]) -> Content:
    """Return the blocks of the parts; text alone becomes a plain string."""
    blocks = [block for part in parts if (block := _block(part)) is not None]
    if len(parts) == 1 and isinstance(parts[0], TextPart):
        return parts[0].text if blocks else ""
    return blocks


def _in_words(part: Part) -> Part:
    """Return a part as allowed for an assistant or a system prompt: no images or documents."""
    if isinstance(part, TextPart) or _PROVIDER in part.source:
        return part
    if isinstance(part, FilePart) and isinstance(part.source.get("text"), str):
        return TextPart(text=part.source["text"])
    return TextPart(text=mention(part))


def _block(part: Part) -> Block | None:
    title = {"title": part.name} if isinstance(part, FilePart) and part.name else {}
    match part:
        case TextPart(text=text):
            return {"type": "text", "text": text} if text.strip() else None
        case ImagePart(source={"anthropic": block}) | FilePart(source={"anthropic": block}):
            return cast("Block", block)
        case ImagePart(source={"url": url}):
            return {"type": "image", "source": {"type": "url", "url": url}}
        case ImagePart(source={"media_type": kind, "data": data}) if kind in _PICTURES:
            return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}
        case FilePart(source={"media_type": "application/pdf", "data": data}):
            source = {"type": "base64", "media_type": "application/pdf", "data": data}
        case FilePart(source={"url": url}):
            source = {"type": "url", "url": url}
        case FilePart(source={"text": text}):
            source = {"type": "text", "media_type": "text/plain", "data": text}
        case _:
            return {"type": "text", "text": mention(part)}
    return {"type": "document", "source": source, **title}


def _id(id: str) -> str:
    """Return a tool call id that Anthropic accepts: letters, digits, hyphens and underscores."""
    return _NOT_IN_IDS.sub("_", id)


def _input(call: ToolCall) -> object:
    """Return the arguments of a call as an object, whatever the model wrote."""
    try:
        arguments: object = json.loads(call.arguments or "{}")
    except ValueError:
        return {"arguments": call.arguments}
    return cast("object", arguments) if isinstance(arguments, dict) else {"arguments": arguments}
