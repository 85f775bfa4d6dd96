"""What may be said next in a conversation, so that every provider takes the whole of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recollect.context.groups import grouped
from recollect.domain.message import Message
from recollect.errors import InvalidInput


def check_next(before: Sequence[Message], new: Sequence[Message]) -> None:
    """Refuse messages that cannot follow: results without calls, and words before the results."""
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
    """The calls at the end of a conversation whose results have not come."""
    answered: set[str | None] = set()
    for message in reversed(messages):
        if message.role != "tool":
            return {call.id for call in message.tool_calls if call.id not in answered}
        answered.add(message.answers)
    return set()


def sound(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The messages without those that no provider takes, as others may have stored them.

    Left out are results that no open call waits for, calls that went without their results, and
    those of one message with the same id. They stay stored, and can be recalled.
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
