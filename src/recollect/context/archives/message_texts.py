"""Changing of the texts in messages, neutral ones and those of providers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar, cast

from recollect.domain.message import Message, Part, TextPart

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
