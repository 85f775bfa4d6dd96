"""What OpenAI and Anthropic would refuse in a request's messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from recollect.context.anthropic_messages import to_anthropic
from recollect.context.openai_messages import from_openai_message, to_openai
from recollect.domain.message import Message

Block = dict[str, Any]

_OPENAI_ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool"})
_ANTHROPIC_ROLES: Final = frozenset({"user", "assistant", "system"})
_NOT_IN_IDS: Final = re.compile(r"[^a-zA-Z0-9_-]")


def from_openai(messages: Sequence[Mapping[str, Any]]) -> tuple[Message, ...]:
    """Return neutral messages for a chat completion's list."""
    return tuple(from_openai_message(message, index) for index, message in enumerate(messages))


def valid_for_openai(messages: Sequence[Message]) -> list[str]:
    """Return what OpenAI would refuse, one line each; trailing calls may be open."""
    return openai_rule_breaks(to_openai(messages))


def openai_rule_breaks(wire: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what OpenAI would refuse in messages of its own format, one line each."""
    breaks: list[str] = []
    waiting: set[str] = set()
    for index, message in enumerate(wire):
        role = message.get("role")
        if role == "tool":
            answered = message.get("tool_call_id")
            if answered not in waiting:
                breaks.append(f"{index}: answers {answered!r}, not called right before")
            waiting.discard(cast("str", answered))
        elif waiting:
            breaks.append(f"{index}: comes before the results of {sorted(waiting)}")
            waiting = set()
        if role not in _OPENAI_ROLES:
            breaks.append(f"{index}: role {role!r}")
        calls = cast("Sequence[Mapping[str, Any]]", message.get("tool_calls") or ())
        if calls and role != "assistant":
            breaks.append(f"{index}: tool calls with role {role!r}")
        ids = [cast("str", call.get("id")) for call in calls]
        if len(set(ids)) < len(ids):
            breaks.append(f"{index}: two tool calls with one id")
        waiting.update(ids)
        breaks += (f"{index}: {problem}" for problem in _openai_content_breaks(message))
    return breaks


def _openai_content_breaks(message: Mapping[str, Any]) -> Iterator[str]:
    role, content = message.get("role"), message.get("content")
    if isinstance(content, str):
        return
    if content is None:
        if role != "assistant" or not (message.get("tool_calls") or message.get("refusal")):
            yield "no content"
        return
    if not content:
        yield "an empty list as content"
    allowed = {"text", "refusal"} if role == "assistant" else {"text"}
    for part in cast("Sequence[Mapping[str, Any]]", content):
        if role != "user" and part.get("type") not in allowed:
            yield f"a part of type {part.get('type')!r} with role {role!r}"


def valid_for_anthropic(messages: Sequence[Message]) -> list[str]:
    """Return what Anthropic would refuse, one line each; trailing calls may be open."""
    return anthropic_rule_breaks(to_anthropic(messages).messages)


def anthropic_rule_breaks(wire: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what Anthropic would refuse in messages of its own format, one line each."""
    breaks: list[str] = []
    waiting: set[str] = set()
    called: set[str] = set()
    role_before = ""
    for index, message in enumerate(wire):
        role = message["role"]
        blocks = _as_blocks(message["content"])
        results = [str(block["tool_use_id"]) for block in blocks if block["type"] == "tool_result"]
        calls = [str(block["id"]) for block in blocks if block["type"] == "tool_use"]
        problems = [*_anthropic_content_breaks(role, blocks)]
        if role not in _ANTHROPIC_ROLES:
            problems.append(f"role {role!r}")
        if role == (role_before or "assistant"):
            problems.append(f"role {role!r} {'again' if role_before else 'first'}")
        if len(set(results)) < len(results) or set(results) - waiting:
            problems.append(f"answers {results}, called right before: {sorted(waiting)}")
        if waiting - set(results) and index < len(wire) - 1:
            problems.append(f"does not answer {sorted(waiting - set(results))}")
        if len(set(calls)) < len(calls) or called & set(calls):
            problems.append("a tool call's id for the second time")
        waiting = set(calls)
        called |= set(calls)
        role_before = role
        breaks += (f"{index}: {problem}" for problem in problems)
    return breaks


def _anthropic_content_breaks(role: str, blocks: Sequence[Block]) -> Iterator[str]:
    if not blocks:
        yield "no content"
    others = 0
    for block in blocks:
        kind = block["type"]
        if kind == "text" and not block["text"].strip():
            yield "an empty text"
        if kind == "tool_use" and (role != "assistant" or _NOT_IN_IDS.search(block["id"])):
            yield f"a tool call {block['id']!r} with role {role!r}"
        if kind == "tool_result" and (role != "user" or others):
            yield "a tool's result that does not come first in a user's message"
        if kind in ("image", "document") and role != "user":
            yield f"{kind} with role {role!r}"
        others += kind != "tool_result"


def _as_blocks(content: str | list[Block]) -> list[Block]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
