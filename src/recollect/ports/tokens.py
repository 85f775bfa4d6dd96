"""Counting tokens for any model."""

from __future__ import annotations

import json
from typing import Final, Protocol, assert_never

from recollect.domain.message import FilePart, ImagePart, Message, Part, TextPart

# The overhead of a message: the delimiters around it and its role.
_MESSAGE_TOKENS: Final = 4
_TOOL_CALL_TOKENS: Final = 8
# Providers count 85 to about 1,600 for an image, by its size, which is not known here.
_IMAGE_TOKENS: Final = 1_600
# A page of a PDF counts about as much as an image, and takes some 160,000 characters of base64.
_DATA_CHARACTERS_PER_TOKEN: Final = 100


class TokenCounter(Protocol):
    """Counts the tokens of a model, exactly or approximately."""

    def count(self, text: str) -> int:
        """Return the number of tokens of a text."""
        ...


def message_tokens(message: Message, counter: TokenCounter) -> int:
    """Return the number of tokens of a message, with its tool calls and attachments."""
    tokens = _MESSAGE_TOKENS + sum(_part_tokens(part, counter) for part in message.parts)
    for call in message.tool_calls:
        tokens += _TOOL_CALL_TOKENS + counter.count(call.name) + counter.count(call.arguments)
    return tokens + counter.count(message.name) if message.name else tokens


def _part_tokens(part: Part, counter: TokenCounter) -> int:
    match part:
        case TextPart():
            return counter.count(part.text)
        case ImagePart():
            return _IMAGE_TOKENS
        case FilePart():
            return counter.count(part.name) + _file_tokens(part, counter)
        case _:
            assert_never(part)


def _file_tokens(part: FilePart, counter: TokenCounter) -> int:
    match part.source:
        case {"text": str(text)}:
            return counter.count(text)
        case {"data": str(data)}:
            return max(_IMAGE_TOKENS, len(data) // _DATA_CHARACTERS_PER_TOKEN)
        case {"url": _} | {"file_id": _}:
            return _IMAGE_TOKENS
        case block:
            return counter.count(json.dumps(block, ensure_ascii=False, default=str))
