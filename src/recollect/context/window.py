"""The window: which messages of a conversation are sent, within a token and message budget.

A conversation is processed from its first message, and when it no longer fits, more is dropped than
necessary. So what is left out depends only on the conversation, does not come back, and stays the
same for several turns, which helps providers' prompt caches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from recollect.context.conversation import Group, grouped
from recollect.context.edits import Drop, Edit, Insert, Keep
from recollect.context.summary_text import OUTSIDE_MARK, is_summary
from recollect.domain.message import Message, TextPart
from recollect.errors import InvalidInput
from recollect.language.characters import language
from recollect.ports.language_model import TokenCounter, message_tokens

# The error code for a window that cannot hold even what must stay.
TOO_SMALL: Final = "window_too_small"
# The share of the room for other messages that is freed at once.
_FREED_SHARE: Final = 1 / 5
_LARGE_COUNT: Final = 999_999
_LANGUAGE_SAMPLE_CHARS: Final = 500
_NOTE_EN: Final = (
    "[Outside this window: {messages} earlier messages, {user} from the user, {results} results "
    "of tools. Nothing is lost: call memory_recall with what you look for.]"
)
_NOTE_ZH: Final = (
    "[窗口之外：更早的 {messages} 条消息，其中用户消息 {user} 条、工具结果 {results} 条。"
    "内容没有丢失：需要时用 memory_recall 检索。]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The limits of a prompt: a share of the model's context, and a number of messages."""

    context_tokens: int
    share: float = 0.70
    messages: int = 50

    def __post_init__(self) -> None:
        if self.context_tokens < 1 or not 0 < self.share <= 1 or self.messages < 1:
            raise InvalidInput(
                f"No window fits {self.messages} messages and {self.share:.0%} of "
                f"{self.context_tokens} tokens",
                code="bad_budget",
                hint="Give at least one token and one message, and a share above 0 and up to 1.",
            )

    @property
    def tokens(self) -> int:
        return int(self.context_tokens * self.share)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The edits of a conversation, and how many tokens and messages result."""

    edits: tuple[Edit, ...]
    tokens: int
    outside: int


class RememberedCounts:
    """A token counter with a cache: messages come again at every turn."""

    def __init__(self, counter: TokenCounter, *, remembered: int = 50_000) -> None:
        self._counter = counter
        self._most = remembered
        # By length and hash, so that the texts themselves are not kept alive.
        self._counts: dict[tuple[int, int], int] = {}

    def count(self, text: str) -> int:
        key = (len(text), hash(text))
        counted = self._counts.get(key)
        if counted is None:
            if len(self._counts) >= self._most:
                self._counts.clear()
            counted = self._counts[key] = self._counter.count(text)
        return counted


def plan_window(messages: Sequence[Message], budget: Budget, counter: TokenCounter) -> Plan:
    """Return the edits that bring a conversation within the budget.

    The system prompt, the newest user message and open tool calls always stay. If tokens are short,
    older history is dropped before tool calls with their results, oldest first; if the number of
    messages is too high, the oldest are dropped.
    """
    groups = grouped(messages)
    tokens = [message_tokens(message, counter) for message in messages]
    whole = sum(tokens)
    if whole <= budget.tokens and len(messages) <= budget.messages:
        return Plan(edits=tuple(map(Keep, range(len(messages)))), tokens=whole, outside=0)
    window = _Window(messages, groups, budget, reserve=_longest_note(counter))
    for index, count in enumerate(tokens):
        window.take(index, count)
    inside = window.inside()
    sent = sum(tokens[index] for index in inside)
    if sent > budget.tokens:
        raise window.too_small()
    edits: list[Edit] = [Keep(i) if i in inside else Drop(i) for i in range(len(messages))]
    outside = [message for index, message in enumerate(messages) if index not in inside]
    if outside:
        note = _note(outside)
        with_note = sent + message_tokens(note, counter)
        # What must stay may leave no room for the note.
        if with_note <= budget.tokens:
            edits.insert(window.beginning, Insert(window.beginning, note))
            sent = with_note
    return Plan(edits=tuple(edits), tokens=sent, outside=len(outside))


@dataclass(slots=True, kw_only=True)
class _Held:
    """A group in the window, as far as it has been said."""

    first: Message
    members: list[int]
    tokens: int = 0
    waiting: int = 0


class _Window:
    """The window of a conversation as it grows, message by message."""

    def __init__(
        self, messages: Sequence[Message], groups: Iterable[Group], budget: Budget, *, reserve: int
    ) -> None:
        self.beginning = sum(1 for _ in takewhile(_is_prompt, messages))
        self._messages = messages
        self._budget = budget
        self._reserve = reserve
        self._first_of = {member: group.members[0] for group in groups for member in group.members}
        # By the index of a group's first message, in that order.
        self._held: dict[int, _Held] = {}
        self._newest_user = -1
        self._tokens = 0
        self._number = 0
        self._cut = False

    def inside(self) -> frozenset[int]:
        return frozenset(member for held in self._held.values() for member in held.members)

    def take(self, index: int, tokens: int) -> None:
        """Add one message; drop what no longer fits."""
        message, first = self._messages[index], self._first_of[index]
        held = self._held.setdefault(first, _Held(first=message, members=[]))
        held.members.append(index)
        held.tokens += tokens
        held.waiting += len(message.tool_calls) - (message.role == "tool")
        if message.role == "user" and not is_summary(message):
            self._newest_user = index
        self._tokens += tokens
        self._number += 1
        # Once something is outside, the note about it takes room too.
        if (
            self._tokens + self._cut * self._reserve > self._budget.tokens
            or self._number + self._cut > self._budget.messages
        ):
            self._make_room()

    def too_small(self) -> InvalidInput:
        """Return the error for a window that cannot hold even what must stay."""
        needed = sum(held.tokens for i, held in self._held.items() if self._must_stay(i, held))
        system = sum(self._held[i].tokens for i in range(self.beginning))
        newest = self._held[self._newest_user].tokens if self._newest_user >= 0 else 0
        return InvalidInput(
            f"The window has room for {self._budget.tokens} tokens, and {needed} must be in it: "
            f"system prompt {system}, newest user message {newest}, tool calls without a result "
            f"{needed - system - newest}",
            code=TOO_SMALL,
            hint="Use a model with a larger context, or shorten the system prompt or the message.",
        )

    def _make_room(self) -> None:
        """Drop groups until the rest fits with some room to spare."""
        loose = {i: held for i, held in self._held.items() if not self._must_stay(i, held)}
        tokens = sum(held.tokens for held in loose.values())
        if self._tokens - tokens > self._budget.tokens:
            return  # there was no window at this point, so nothing has left yet
        room = max(0, self._budget.tokens - self._reserve - (self._tokens - tokens))
        if tokens > room:
            for first in _by_priority(loose, room):
                if tokens <= room * (1 - _FREED_SHARE):
                    break
                tokens -= loose.pop(first).tokens
                self._leave(first)

        number = sum(len(held.members) for held in loose.values())
        places = max(0, self._budget.messages - 1 - (self._number - number))
        if number > places:
            loose.pop(max(self._held), None)  # the newest group is there, however many messages
            for first, held in loose.items():
                if number <= places * (1 - _FREED_SHARE):
                    break
                number -= len(held.members)
                self._leave(first)

    def _leave(self, first: int) -> None:
        held = self._held.pop(first)
        self._tokens -= held.tokens
        self._number -= len(held.members)
        self._cut = True

    def _must_stay(self, first: int, held: _Held) -> bool:
        return first < self.beginning or first == self._newest_user or held.waiting > 0


def _by_priority(loose: Mapping[int, _Held], room: int) -> list[int]:
    """Return groups in the order in which they are dropped.

    First what is too large by itself, then history, tool calls with their results, and system
    messages in the middle; the oldest first of each.
    """

    def rank(first: int) -> tuple[bool, int, int]:
        held = loose[first]
        kind = 2 if held.first.role == "system" else 1 if held.first.tool_calls else 0
        return held.tokens <= room, kind, first

    return sorted(loose, key=rank)


def _is_prompt(message: Message) -> bool:
    return message.role == "system" or is_summary(message)


def _note(outside: Sequence[Message]) -> Message:
    """Return one line on what is left out, in its language; stable while the same is left out."""
    roles = [message.role for message in outside]
    return _render(
        _NOTE_ZH if _is_chinese(outside) else _NOTE_EN,
        messages=len(outside),
        user=roles.count("user"),
        results=roles.count("tool"),
    )


def _is_chinese(messages: Sequence[Message]) -> bool:
    sample = ""
    for message in [m for m in messages if m.role == "user"] or messages:
        sample += message.text[:_LANGUAGE_SAMPLE_CHARS]
        if len(sample) >= _LANGUAGE_SAMPLE_CHARS:
            break
    return language(sample[:_LANGUAGE_SAMPLE_CHARS]) == "zh"


def _render(template: str, *, messages: int, user: int, results: int) -> Message:
    text = template.format(messages=messages, user=user, results=results)
    # A user message, because providers require the first message to be one.
    return Message(role="user", parts=(TextPart(text=text),), extra={OUTSIDE_MARK: messages})


def _longest_note(counter: TokenCounter) -> int:
    return max(
        message_tokens(
            _render(template, messages=_LARGE_COUNT, user=_LARGE_COUNT, results=_LARGE_COUNT),
            counter,
        )
        for template in (_NOTE_EN, _NOTE_ZH)
    )
