"""What belongs together in a conversation: a message with tool calls, and the calls' results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.domain.message import ROLES, Message
from recollect.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Messages, by index, that are sent together or not at all.

    It is either one plain message, or a message with tool calls and the results that have come;
    `pending` says that some have not.
    """

    members: tuple[int, ...]
    pending: bool = False


def grouped(messages: Sequence[Message]) -> tuple[Group, ...]:
    """The groups in the order of their first messages, or an error that names the bad message."""
    results = _answered_calls(messages)
    groups: list[Group] = []
    for index, message in enumerate(messages):
        if message.tool_calls:
            answers = [results.get(call.id) for call in message.tool_calls]
            there = sorted(answer for answer in answers if answer is not None)
            groups.append(Group(members=(index, *there), pending=len(there) < len(answers)))
        elif message.role != "tool":
            groups.append(Group(members=(index,)))
    return tuple(groups)


def _answered_calls(messages: Sequence[Message]) -> dict[str, int]:
    """Where each call's result stands. Refuses messages that no provider would take."""
    callers: dict[str, int] = {}
    results: dict[str, int] = {}
    for index, message in enumerate(messages):
        _check_role(index, message)
        for call in message.tool_calls:
            if call.id in callers:
                raise _refused(
                    "duplicate_call",
                    f"Messages {callers[call.id]} and {index} both make the tool call {call.id!r}",
                    "Give every tool call of a conversation an id of its own.",
                )
            callers[call.id] = index
        if message.role == "tool":
            _check_result(index, message, callers, results, messages)
            results[message.answers or ""] = index
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


def _check_result(
    index: int,
    message: Message,
    callers: dict[str, int],
    results: dict[str, int],
    messages: Sequence[Message],
) -> None:
    answered = message.answers
    if answered in results:
        raise _refused(
            "duplicate_result",
            f"Messages {results[answered]} and {index} both answer the tool call {answered!r}",
            "Give one result a call.",
        )
    if answered in callers:
        return
    for later in range(index + 1, len(messages)):
        if any(call.id == answered for call in messages[later].tool_calls):
            raise _refused(
                "result_before_call",
                f"Message {index} answers the tool call {answered!r}, which message {later} makes",
                "Give the messages in the order in which they were said.",
            )
    raise _refused(
        "result_without_call",
        f"Message {index} answers the tool call {answered!r}, which no message makes",
        "Give the assistant's message with that call too.",
    )


def _refused(code: str, message: str, hint: str) -> InvalidInput:
    return InvalidInput(message, code=code, hint=hint)
