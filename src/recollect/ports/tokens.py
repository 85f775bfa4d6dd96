"""Counting tokens, whichever model's tokens they are."""

from __future__ import annotations

import json
from typing import Final, Protocol, assert_never

from recollect.domain.message import FilePart, ImagePart, Message, Part, TextPart

# What a message costs besides its words: the marks around it and its role.
_A_MESSAGE: Final = 4
_A_TOOL_CALL: Final = 8
# Providers ask between 85 and about 1,600 for a picture, by its size, which is not known here.
_A_PICTURE: Final = 1_600
# A page of a PDF costs about as much as a picture, and takes some 160,000 characters of base64.
_CHARACTERS_A_TOKEN_OF_DATA: Final = 100


class TokenCounter(Protocol):
    """One model's way of counting, exactly or nearly."""

    def count(self, text: str) -> int:
        """How many tokens the text takes."""
        ...


def message_tokens(message: Message, counter: TokenCounter) -> int:
    """How many tokens a message takes in a request, with its tool calls and attachments."""
    tokens = _A_MESSAGE + sum(_part_tokens(part, counter) for part in message.parts)
    for call in message.tool_calls:
        tokens += _A_TOOL_CALL + counter.count(call.name) + counter.count(call.arguments)
    return tokens + counter.count(message.name) if message.name else tokens


def _part_tokens(part: Part, counter: TokenCounter) -> int:
    match part:
        case TextPart():
            return counter.count(part.text)
        case ImagePart():
            return _A_PICTURE
        case FilePart():
            return counter.count(part.name) + _file_tokens(part, counter)
        case _:
            assert_never(part)


def _file_tokens(part: FilePart, counter: TokenCounter) -> int:
    match part.source:
        case {"text": str(text)}:
            return counter.count(text)
        case {"data": str(data)}:
            return max(_A_PICTURE, len(data) // _CHARACTERS_A_TOKEN_OF_DATA)
        case {"url": _} | {"file_id": _}:
            return _A_PICTURE
        case block:
            return counter.count(json.dumps(block, ensure_ascii=False, default=str))
