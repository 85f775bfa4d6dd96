"""A model that says what is written, and remembers what it was sent."""

from typing import Any

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage


class Scripted(GenericFakeChatModel):
    """See the module."""

    sent: list[list[Any]]

    def bind_tools(self, tools: Any, **_: Any) -> "Scripted":
        return self

    def _generate(self, messages: list[Any], *rest: Any, **more: Any) -> Any:
        self.sent.append(messages)
        return super()._generate(messages, *rest, **more)


def scripted(*answers: AIMessage | str) -> Scripted:
    said = (AIMessage(it) if isinstance(it, str) else it for it in answers)
    return Scripted(messages=iter(said), sent=[])


def calling(name: str, /, **arguments: Any) -> AIMessage:
    call = {"name": name, "args": arguments, "id": f"call-{name}", "type": "tool_call"}
    return AIMessage("", tool_calls=[call])
