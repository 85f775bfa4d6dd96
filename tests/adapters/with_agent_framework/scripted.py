"""A chat client that says what is written, and remembers what it was sent."""

import json
from collections.abc import Sequence
from typing import Any

from agent_framework import (
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
)


class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """See the module."""

    def __init__(self, *answers: Content | str) -> None:
        super().__init__()
        self._answers = list(answers)
        self.sent: list[list[Message]] = []
        self.told: list[str] = []

    async def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Any, **_: Any
    ) -> ChatResponse:
        self.sent.append(list(messages))
        self.told.append(options.get("instructions") or "")
        return ChatResponse(messages=[Message("assistant", [self._answers.pop(0)])])


def calling(name: str, /, **arguments: Any) -> Content:
    return Content.from_function_call(f"call-{name}", name, arguments=json.dumps(arguments))
