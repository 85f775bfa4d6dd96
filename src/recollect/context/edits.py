"""Edits of messages: by index, which any list of the same length takes, and of their texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, TypeVar, cast

from recollect.context.conversation import grouped
from recollect.context.placeholder import find_placeholders
from recollect.domain.message import Message, Part, TextPart, ToolCall
from recollect.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Keep:
    """An edit that keeps a message."""

    index: int


@dataclass(frozen=True, slots=True)
class Drop:
    """An edit that leaves a message out."""

    index: int


@dataclass(frozen=True, slots=True)
class Replace:
    """An edit that sends another message in its place."""

    index: int
    message: Message


@dataclass(frozen=True, slots=True)
class Insert:
    """An edit that sends a new message before the one at `before`, or at the end."""

    before: int
    message: Message


Edit: TypeAlias = Keep | Drop | Replace | Insert


def apply(messages: Sequence[Message], edits: Iterable[Edit]) -> tuple[Message, ...]:
    """Return the messages after the edits; messages without an edit are kept."""
    changes: dict[int, Keep | Drop | Replace] = {}
    inserted: dict[int, list[Message]] = {}
    for edit in edits:
        if isinstance(edit, Insert):
            _check_index(edit.before, len(messages))
            inserted.setdefault(edit.before, []).append(edit.message)
        else:
            _check_index(edit.index, len(messages) - 1)
            if edit.index in changes:
                raise InvalidInput(
                    f"Two edits change message {edit.index}", code="conflicting_edits"
                )
            changes[edit.index] = edit
    result: list[Message] = []
    for index, message in enumerate(messages):
        result += inserted.get(index, ())
        match changes.get(index):
            case Drop():
                pass
            case Replace(message=other):
                result.append(other)
            case _:
                result.append(message)
    return (*result, *inserted.get(len(messages), ()))


def _check_index(index: int, last: int) -> None:
    if not 0 <= index <= last:
        raise InvalidInput(
            f"An edit changes message {index}, but the last is {last}", code="edit_out_of_range"
        )


# --- Changing of the texts in messages and tool results -------------------------------------------
# A conversation is stored with every placeholder closed, so that it stays the same from turn to
# turn. What a turn shows in addition is inserted just before sending.

_SIGN: Final = "📎 ["


def with_result(message: Message, text: str) -> Message:
    """Return a tool message with another text; what the provider wrote around it stays."""
    others = tuple(part for part in message.parts if not isinstance(part, TextPart))
    parts = (TextPart(text=text), *others)
    # A provider's own form also holds the text and can be updated only if there is nothing else.
    extra = (
        {} if others else {name: _with_text(value, text) for name, value in message.extra.items()}
    )
    return replace(message, parts=parts, extra=extra)


def tool_input(call: ToolCall) -> object:
    """Return the arguments of a call as a value, or as text if the model wrote no JSON."""
    try:
        return json.loads(call.arguments)
    except ValueError:
        return call.arguments


def archives_in(message: Message) -> set[str]:
    """Return the ids of the archives that a message has placeholders of."""
    return placeholder_ids(message.text) if message.role == "tool" else set()


def placeholder_ids(text: str) -> set[str]:
    """Return the ids of the archives that a text has placeholders of."""
    if _SIGN not in text:
        return set()
    return {placeholder.id for _, _, placeholder in find_placeholders(text)}


def newest_places(messages: Sequence[Message], ids: Iterable[str]) -> dict[str, int]:
    """Return where each of these archives has its newest placeholder."""
    wanted, places = set(ids), dict[str, int]()
    for index in range(len(messages) - 1, -1, -1):
        if not wanted:
            break
        found = archives_in(messages[index]) & wanted
        places |= dict.fromkeys(found, index)
        wanted -= found
    return places


def edits_outside(
    edits: Sequence[Edit], messages: Sequence[Message], places: Iterable[int]
) -> tuple[Edit, ...]:
    """Return the edits without those that change these places or separate a pair."""
    wanted = set(places)
    if not wanted:
        return tuple(edits)
    groups = (group.members for group in grouped(messages) if wanted & set(group.members))
    spared = {member for members in groups for member in members}
    return tuple(edit for edit in edits if isinstance(edit, Insert) or edit.index not in spared)


def edited_places(edits: Iterable[Edit]) -> set[int]:
    """Return the places that an edit changes."""
    return {edit.index for edit in edits if not isinstance(edit, Insert)}


def _with_text(native: object, text: str) -> object:
    """Return a provider's form of a result with another text."""
    if not isinstance(native, Mapping):
        return native
    form = dict(cast("Mapping[str, Any]", native))
    match form.get("content"):
        case [{"type": "tool_result"} as block]:
            form["content"] = [{**cast("Mapping[str, Any]", block), "content": text}]
        case None:
            pass
        case _:
            form["content"] = text
    return form


# --- Changing of the texts in messages, neutral ones and those of providers -----------------------

AnyMessage = TypeVar("AnyMessage", Message, Mapping[str, Any])

# The fields in which providers' messages keep texts and nested parts.
_TEXT_FIELDS: Final = ("content", "text", "output")


def with_texts(message: AnyMessage, change: Callable[[str], str]) -> AnyMessage:
    """Return the message with its texts changed; the same object if nothing changes."""
    if isinstance(message, Message):
        parts = tuple(_change_part(part, change) for part in message.parts)
        return message if parts == message.parts else replace(message, parts=parts)
    return cast("AnyMessage", _change_texts(message, change))


def _change_part(part: Part, change: Callable[[str], str]) -> Part:
    return TextPart(text=change(part.text)) if isinstance(part, TextPart) else part


def _change_texts(value: object, change: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        items = cast("list[object]", value)
        changed = [_change_texts(item, change) for item in items]
        return items if all(map(_is_same, items, changed)) else changed
    if isinstance(value, Mapping):
        mapping = cast("Mapping[str, object]", value)
        texts = {name: mapping[name] for name in _TEXT_FIELDS if name in mapping}
        new = {name: _change_texts(inner, change) for name, inner in texts.items()}
        is_same = all(map(_is_same, texts.values(), new.values()))
        return mapping if is_same else {**mapping, **new}
    return value


def _is_same(one: object, other: object) -> bool:
    return one is other or (isinstance(one, str) and one == other)
