"""The prompt of a conversation: compressed, with the requested extras, within the budget."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from recollect.context.archives.manager import ToolResultManager
from recollect.context.background_compression import BackgroundCompression, Compressed
from recollect.context.compression import Level
from recollect.context.conversation import is_unread
from recollect.context.edits import Drop, Edit, apply, edited_places, edits_outside, newest_places
from recollect.context.summary_text import is_summary
from recollect.context.window import TOO_SMALL, Budget, plan_window
from recollect.domain.message import Message, TextPart
from recollect.errors import InvalidInput
from recollect.ports.language_model import TokenCounter, message_tokens

_SEPARATOR: Final = "\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptExtras:
    """What a request shows besides the conversation.

    `renewed` are messages with placeholders as they are now, in place of those stored. `shown` are
    messages that replace those at their index; `load` are archives to open whole or, if that is too
    much, by the passages about `question`. `guide`, `profile` and `beside` go to the end of the
    system prompt, `ahead` before the text of the newest user message. When there is no room, the
    guide is the first to be left out and the profile the last.
    """

    renewed: Mapping[int, Message] = field(default_factory=dict[int, Message], hash=False)
    shown: Mapping[int, Message] = field(default_factory=dict[int, Message], hash=False)
    load: tuple[str, ...] = ()
    question: str = ""
    guide: str = ""
    profile: str = ""
    beside: tuple[str, ...] = ()
    ahead: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltPrompt:
    """The messages to send and their size; `pending` says that a smaller result is being made."""

    messages: tuple[Message, ...] = ()
    tokens: int = 0
    level: Level = 0
    pending: bool = False
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attempt:
    """One way to build a window; one with a load counts only if it shows it."""

    edits: tuple[Edit, ...]
    replaced: Mapping[int, Message] = field(hash=False)
    beside: tuple[str, ...] = ()
    ahead: str = ""
    opened: tuple[Message, ...] = ()
    is_summarised: bool = True


@dataclass(eq=False)
class PromptBuilder:
    """The builder of one session's prompts."""

    _compression: BackgroundCompression
    _archive: ToolResultManager
    _budget: Budget
    _counter: TokenCounter
    _patience: float

    def begin(self, messages: tuple[Message, ...]) -> None:
        """Start summarising what will not fit, while other parts of the prompt are found."""
        self._compression.compress(messages, self._budget.tokens)

    def tokens_of(self, messages: Iterable[Message]) -> int:
        """Return what messages would come to if all of them were sent."""
        return sum(message_tokens(message, self._counter) for message in messages)

    async def send(self, messages: tuple[Message, ...], wishes: PromptExtras) -> BuiltPrompt:
        """Return as much of the wishes as fits; raise an error if not even the minimum does.

        Attempts get more and more modest; the first one that fits wins.
        """
        compressed = await self._compress(messages)
        messages = _replaced(messages, _untouched(wishes.renewed, compressed.edits))
        too_small: InvalidInput | None = None
        async for attempt in self._attempts(messages, compressed.edits, wishes):
            try:
                window, tokens = self._plan(messages, attempt)
            except InvalidInput as problem:
                if problem.code != TOO_SMALL:
                    raise
                too_small = problem
                continue
            if _contains(window, attempt.opened):
                self._compression.count_sent()
                return BuiltPrompt(
                    messages=window,
                    tokens=tokens,
                    level=compressed.level if attempt.is_summarised else 0,
                    pending=compressed.pending,
                    degraded=compressed.degraded,
                )
        assert too_small is not None  # the last attempt opens nothing
        raise too_small

    async def _compress(self, messages: tuple[Message, ...]) -> Compressed:
        """Return the conversation as short as it is by now.

        Summaries are waited for, up to a limit, only if messages would be left out without any.
        """
        compressed = self._compression.compress(messages, self._budget.tokens)
        if not compressed.pending or self._has_room(apply(messages, compressed.edits)):
            return compressed
        return await self._compression.compressed_within(
            messages, self._budget.tokens, self._patience
        )

    def _has_room(self, messages: tuple[Message, ...]) -> bool:
        tokens = self.tokens_of(messages)
        return tokens <= self._budget.tokens and len(messages) <= self._budget.messages

    async def _attempts(
        self, messages: tuple[Message, ...], edits: tuple[Edit, ...], wishes: PromptExtras
    ) -> AsyncIterator[_Attempt]:
        places = newest_places(messages, wishes.load)
        shown, ahead = wishes.shown, wishes.ahead
        always = tuple(filter(None, (wishes.profile,)))
        beside = tuple(filter(None, (wishes.guide, *always, *wishes.beside)))
        if places:
            spared = edits_outside(edits, messages, places.values())
            for query in (None, wishes.question):
                opened = await self._open_archives(messages, places, query)
                yield _Attempt(
                    edits=spared,
                    replaced={**_untouched(shown, spared), **opened},
                    beside=beside,
                    ahead=ahead,
                    opened=tuple(opened.values()),
                )
        visible = _untouched(shown, edits)
        yield _Attempt(edits=edits, replaced=visible, beside=beside, ahead=ahead)
        if visible:
            yield _Attempt(edits=edits, replaced={}, beside=beside, ahead=ahead)
        if wishes.guide and (always or wishes.beside or ahead):
            yield _Attempt(edits=edits, replaced={}, beside=(*always, *wishes.beside), ahead=ahead)
        if always:
            yield _Attempt(edits=edits, replaced={}, beside=always)
        if beside or ahead:
            yield _Attempt(edits=edits, replaced={})
        # Summaries may be too long beside a long message; smaller ones are made meanwhile.
        if edits:
            left_out = (Drop(index) for index, message in enumerate(messages) if is_unread(message))
            yield _Attempt(edits=tuple(left_out), replaced={}, is_summarised=False)

    async def _open_archives(
        self, messages: Sequence[Message], places: Mapping[str, int], query: str | None
    ) -> dict[int, Message]:
        """Return the messages that hold these archives, opened."""
        opened: dict[int, Message] = {}
        for index in sorted(set(places.values())):
            ids = [archive for archive, place in places.items() if place == index]
            (opened[index],) = await self._archive.prepare_context([messages[index]], ids, query)
        return opened

    def _plan(
        self, messages: tuple[Message, ...], attempt: _Attempt
    ) -> tuple[tuple[Message, ...], int]:
        said = _replaced(messages, attempt.replaced)
        window = with_system_text(apply(said, attempt.edits), attempt.beside)
        window = with_user_text(window, attempt.ahead)
        plan = plan_window(window, self._budget, self._counter)
        return apply(window, plan.edits), plan.tokens


def with_system_text(messages: tuple[Message, ...], texts: Iterable[str]) -> tuple[Message, ...]:
    """Return the messages with texts at the end of the system prompt."""
    added = _SEPARATOR.join(texts)
    if not added:
        return messages
    leading = 0
    while leading < len(messages) and messages[leading].role == "system":
        leading += 1
    if leading:
        last = messages[leading - 1]
        if len(last.parts) == 1 and isinstance(last.parts[0], TextPart) and not last.extra:
            joined = TextPart(text=f"{last.parts[0].text}{_SEPARATOR}{added}")
            prompt = replace(last, parts=(joined,))
            return (*messages[: leading - 1], prompt, *messages[leading:])
    # A prompt in a provider's own format stays as it is, including its cache marks.
    beside = Message(role="system", parts=(TextPart(text=added),))
    return (*messages[:leading], beside, *messages[leading:])


def with_user_text(messages: tuple[Message, ...], text: str) -> tuple[Message, ...]:
    """Return the messages with a text before that of the newest user message."""
    users = [
        i
        for i, message in enumerate(messages)
        if message.role == "user" and not is_summary(message)
    ]
    if not text or not users:
        return messages
    newest = messages[users[-1]]
    led = replace(newest, parts=(TextPart(text=text), *newest.parts))
    return (*messages[: users[-1]], led, *messages[users[-1] + 1 :])


def _untouched(shown: Mapping[int, Message], edits: Sequence[Edit]) -> dict[int, Message]:
    """Return what is shown at places that no edit changes."""
    if not shown:
        return {}
    edited = edited_places(edits)
    return {index: message for index, message in shown.items() if index not in edited}


def _replaced(messages: tuple[Message, ...], others: Mapping[int, Message]) -> tuple[Message, ...]:
    if not others:
        return messages
    return tuple(others.get(index, message) for index, message in enumerate(messages))


def _contains(window: Sequence[Message], wanted: Iterable[Message]) -> bool:
    return all(any(sent is message for sent in window) for message in wanted)
