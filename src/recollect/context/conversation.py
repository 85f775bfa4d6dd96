"""Messages that belong together, and the order that every provider accepts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from recollect.domain.message import ROLES, Message
from recollect.errors import InvalidInput

# --- Groups of messages that belong together: a message with tool calls, and their results --------


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Messages, by index, that are sent together or not at all.

    A group is one plain message, or a message with tool calls and the results so far; `pending`
    says that some are missing.
    """

    members: tuple[int, ...]
    pending: bool = False


def grouped(messages: Sequence[Message]) -> tuple[Group, ...]:
    """Return the groups in order; raise an error that names a bad message."""
    results = _answered_calls(messages)
    groups: list[Group] = []
    for index, message in enumerate(messages):
        if message.tool_calls:
            answers = [results.get((index, call.id)) for call in message.tool_calls]
            there = sorted(answer for answer in answers if answer is not None)
            groups.append(Group(members=(index, *there), pending=len(there) < len(answers)))
        elif message.role != "tool":
            groups.append(Group(members=(index,)))
    return tuple(groups)


# The index of the message that makes a call, and the call's id. An id may be used again later:
# some servers number calls from the start in every message.
_Call: TypeAlias = tuple[int, str]


def _answered_calls(messages: Sequence[Message]) -> dict[_Call, int]:
    """Return the index of each call's result; raise an error for what no provider accepts."""
    newest: dict[str, _Call] = {}
    results: dict[_Call, int] = {}
    for index, message in enumerate(messages):
        _check_role(index, message)
        for call in message.tool_calls:
            before = newest.get(call.id)
            if before is not None and before not in results:
                raise _refused(
                    "duplicate_call",
                    f"Messages {before[0]} and {index} both make the tool call {call.id!r}, "
                    "of which the first has no result",
                    "Give a call an id of its own, or that of one whose result is there.",
                )
            newest[call.id] = index, call.id
        if message.role == "tool":
            results[_answered_call(index, message, newest, results, messages)] = index
    return results


def _check_role(index: int, message: Message) -> None:
    if message.role not in ROLES:
        raise _refused(
            "unknown_role",
            f"Message {index} has the role {message.role!r}",
            f"Use one of: {', '.join(ROLES)}.",
        )
    if message.tool_calls and message.role != "assistant":
        raise _refused(
            "calls_outside_assistant",
            f"Message {index} has tool calls and the role {message.role!r}",
            "Only an assistant's message can call tools.",
        )


def _answered_call(
    index: int,
    message: Message,
    newest: Mapping[str, _Call],
    results: Mapping[_Call, int],
    messages: Sequence[Message],
) -> _Call:
    """Return the call that a result answers: the newest one with its id."""
    answered = message.answers
    call = newest.get(answered or "")
    if call is None:
        raise _without_call(index, answered, messages)
    if call in results:
        raise _refused(
            "duplicate_result",
            f"Messages {results[call]} and {index} both answer the tool call {answered!r}",
            "Give one result for each call.",
        )
    return call


def _without_call(index: int, answered: str | None, messages: Sequence[Message]) -> InvalidInput:
    for later in range(index + 1, len(messages)):
        if any(call.id == answered for call in messages[later].tool_calls):
            return _refused(
                "result_before_call",
                f"Message {index} answers the tool call {answered!r}, which message {later} makes",
                "Give the messages in the order in which they were said.",
            )
    return _refused(
        "result_without_call",
        f"Message {index} answers the tool call {answered!r}, which no message makes",
        "Give the assistant's message with that call too.",
    )


def _refused(code: str, message: str, hint: str) -> InvalidInput:
    return InvalidInput(message, code=code, hint=hint)


# --- The order of messages that every provider accepts --------------------------------------------

_UNREAD: Final = MappingProxyType({"recollect_unread": True})


def unread_message(turn_id: str) -> Message:
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


def without_invalid(messages: Iterable[Message]) -> tuple[Message, ...]:
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
