"""The order of messages that every provider accepts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import MappingProxyType
from typing import Final

from recollect.context.groups import grouped
from recollect.domain.message import Message
from recollect.errors import InvalidInput

_UNREAD: Final = MappingProxyType({"recollect_unread": True})


def unread(turn_id: str) -> Message:
    """Return a stand-in for a summarised message that was not read; it is never sent."""
    return Message(role="assistant", parts=(), id=turn_id, extra=_UNREAD)


def is_unread(message: Message) -> bool:
    return message.extra is _UNREAD


def check_next(before: Sequence[Message], new: Sequence[Message]) -> None:
    """Raise an error for messages that cannot follow, such as results without calls."""
    grouped((*before, *new))
    waiting = waiting_calls(before)
    for index, message in enumerate(new, start=len(before)):
        if waiting and message.role != "tool":
            raise InvalidInput(
                f"Message {index} comes before the results of the tool calls {sorted(waiting)}",
                code="result_missing",
                hint="Give the results first; one may say that its call was cancelled or failed.",
            )
        waiting.discard(message.answers or "")
        waiting.update(call.id for call in message.tool_calls)


def waiting_calls(messages: Sequence[Message]) -> set[str]:
    """Return the trailing calls that have no result yet."""
    answered: set[str | None] = set()
    for message in reversed(messages):
        if message.role != "tool":
            return {call.id for call in message.tool_calls if call.id not in answered}
        answered.add(message.answers)
    return set()


def sound(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return the messages without those that no provider accepts.

    Left out are results without an open call, calls without results, and duplicate ids in one
    message. They stay stored and can be recalled.
    """
    taken: list[Message] = []
    waiting: set[str] = set()
    caller = 0
    for message in messages:
        calls = [call.id for call in message.tool_calls]
        if message.role == "tool":
            if message.answers not in waiting:
                continue
            waiting.remove(message.answers)
        else:
            if waiting:
                del taken[caller:]
                waiting = set()
            if len(set(calls)) < len(calls) or (calls and message.role != "assistant"):
                continue
            waiting.update(calls)
            caller = len(taken)
        taken.append(message)
    return tuple(taken)
